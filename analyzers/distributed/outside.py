"""The finding that a run was ended from outside, whoever did it."""

from __future__ import annotations

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.view import RunView
from .progress import at_risk, last_step
from .verdicts import SIGNAL, STATE, Ended, Statement, statements, supporting, verdict


def chosen(view: RunView, ended: Ended) -> Statement | None:
    """The statement to report: the verdict, else one that the run has survived."""
    found = verdict(view)
    if found is not None:
        return found if found.ended is ended else None
    survived = [s for s in statements(view) if s.ended is ended and s.is_over]
    return max(survived, key=lambda s: s.authority, default=None)


def report(
    view: RunView,
    identity: str,
    statement: Statement,
    what: str,
    severity: Severity,
    *,
    also: str = "",
) -> Finding:
    """The finding; one that the run has survived is information. `also` ends its title."""
    step = statement.placed.event.step
    step = last_step(view) if step is None else step
    risk = at_risk(view)
    said = [statement, *(s for s in statements(view) if s.is_over is statement.is_over)]
    number = next((s.job for s in said if s.job), "")
    node_name = next((s.node for s in said if s.node), "")
    job = f"job {number}" if number else "the job"
    where = f" at step {step:.10g}" if step is not None else ""
    planned = view.planned_steps
    if step is not None and planned and planned > step:
        where += f" of {planned:.10g}"
    node = f" on {node_name}" if node_name else ""
    after = f"; {risk.shown}" if step is not None and not statement.is_over else ""
    went_on = " and went on, or was through already" if statement.is_over else ""
    is_sure = statement.authority > SIGNAL
    basis = Basis.OBSERVATION if is_sure else Basis.INFERENCE
    raw = 0.95 if is_sure else 0.6
    evidence = [evidence_of(view, statement)]
    evidence += [placed.evidence() for placed in supporting(view, statement)[1:]]
    if risk.saved is not None and not statement.is_over:
        evidence.append(risk.saved.evidence())
    return Finding(
        id=identity,
        title=f"{job} {what}{node}{where}{went_on}{after}{also}",
        severity=Severity.INFO if statement.is_over else severity,
        confidence=finding_confidence(basis, raw if is_sure else min(raw, basis.ceiling)),
        basis=basis,
        evidence=tuple(dict.fromkeys(evidence)),
        first_step=step,
        last_step=step if statement.is_over else None,
        details={
            "job": number,
            "node": node_name,
            "authority": statement.authority,
            "lost_steps": risk.steps,
            "is_over": float(statement.is_over),
        },
    )


def evidence_of(view: RunView, statement: Statement) -> Evidence:
    """A scheduler's state is evidence of its own kind; the rest is text of a log."""
    if statement.placed.event.exception:
        return failure_evidence(statement.placed)
    text = statement.placed.text.partition("\n")[0].strip()
    # A message may be glued to a progress bar: show it from where it begins.
    begin = max(text.rfind("slurmstepd"), 0)
    shown = statement.placed.evidence(text[begin:] if text else "")
    if statement.authority == STATE:
        return Evidence(EvidenceKind.JOB, shown.ref, shown.quote)
    return shown
