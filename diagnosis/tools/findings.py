"""findings: what the rule-based analyzers say about a run, with their evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from ..artifacts import ArtifactError
from .tool import Arguments, Bench, Page, Row, Tool
from .wording import place, plural

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Evidence, Finding

_MOST_EVIDENCE = 6


class Findings(Arguments):
    """Which run."""

    run: str | None = Field(None, description="Name of the run; not needed if there is only one.")
    id: str | None = Field(
        None,
        description="Id of one finding or root cause (`loss_divergence`, `lr_too_high`) to see all "
        "of its evidence.",
    )


def work(bench: Bench, wish: Findings) -> Page:
    """Symptoms first, then the causes that the analyzers think of, best first."""
    called, _ = bench.run(wish.run)
    diagnosis = bench.diagnoses.get(called)
    if diagnosis is None:
        raise ArtifactError(
            f"the analyzers have not looked at {called} yet", hint="ask again later"
        )
    findings = [f for f in diagnosis.findings if wish.id in (None, f.id)]
    causes = [c for c in diagnosis.root_causes if wish.id in (None, c.id)]
    if wish.id is not None and not findings and not causes:
        known = [f.id for f in diagnosis.findings] + [c.id for c in diagnosis.root_causes]
        hint = f"there is {', '.join(known)}" if known else "they found nothing"
        raise ArtifactError(f"the analyzers have no {wish.id!r} for {called}", hint=hint)
    most = _MOST_EVIDENCE if wish.id is None else 1000
    told_by = _Evidences(bench, called, most)
    rows = [row for finding in findings for row in _finding_rows(finding, told_by)]
    rows += [row for cause in causes for row in _cause_rows(cause, told_by)]
    told = f"{plural(len(findings), 'finding')}, {plural(len(causes), 'root cause')}"
    return Page(
        brief=f"what the analyzers found in {called}: {told}",
        head=f"Status of {called}: {diagnosis.status}; {told}. Each is a rule's opinion: check it.",
        rows=rows,
        about={"run": called, "what": "findings"},
        rest="ask for one of them by its id",
        tail="; ".join(diagnosis.problems[:3]),
    )


class _Evidences(NamedTuple):
    """How evidence is told: files by the names that the tools know them by."""

    bench: Bench
    run: str
    most: int

    def rows(self, how: str, evidence: Iterable[Evidence]) -> list[Row]:
        known = list(evidence)
        rows = [
            Row(f"{self._ref(one)}: {one.quote}", f"  {how}{one.kind.value} ")
            for one in known[: self.most]
        ]
        if len(known) > self.most:
            rows.append(Row(f"  {len(known) - self.most} more, by the id"))
        return rows

    def _ref(self, one: Evidence) -> str:
        if one.kind.value != "log":
            return one.ref
        try:
            place = self.bench.book.place(one.ref, self.run)
        except ArtifactError:
            return one.ref
        return (
            place.artifact.name if place.first is None else f"{place.artifact.name}:{place.first}"
        )


def _finding_rows(finding: Finding, told_by: _Evidences) -> list[Row]:
    since = f", from step {place(finding.first_step)}" if finding.first_step is not None else ""
    until = f" to step {place(finding.last_step)}" if finding.last_step is not None else ""
    sure = f"confidence {finding.confidence:.2f} ({finding.basis.value})"
    head = f"finding {finding.id} [{finding.severity.value}] {finding.title}; {sure}{since}{until}"
    return [Row(head), *told_by.rows("", finding.evidence)]


def _cause_rows(cause: RootCause, told_by: _Evidences) -> list[Row]:
    sure = f"confidence {cause.confidence:.2f} ({cause.basis.value})"
    head = f"root cause {cause.id} [{cause.severity.value}] {cause.issue}; {sure}; explains "
    rows = [Row(head + ", ".join(cause.explains))]
    rows += told_by.rows("for: ", cause.evidence)
    return [*rows, *told_by.rows("against: ", cause.against)]


FINDINGS = Tool(
    "findings",
    "What the rule-based analyzers found in a run: symptoms with severity, steps, confidence and "
    "evidence (series@step, file:line, config:key), and the root causes they consider, with what "
    "speaks for and against each.",
    Findings,
    work,
    reads_runs=False,
)
