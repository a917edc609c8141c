"""How far the checkpoint says that the training was, against its optimizer and the log."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.checkpoints import CheckpointSummary
from mltd.runs.run import Run

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from .places import place_evidence

BEHIND = 1.1
"""The trainer's count over the optimizer's from which on it is worth a word; scalers skip few."""
_MOST = 16.0
_NEAR = 0.03
"""The last batches of an epoch make their own update."""


def step_findings(summary: CheckpointSummary) -> Iterator[Finding]:
    """resume_discontinuity: the optimizer has made fewer steps than the training."""
    step = summary.position.step
    counts = [steps[1] for one in summary.optimizers if (steps := one.steps) is not None]
    if step is None or not counts or max(counts) <= 0:
        return
    made = max(counts)
    ratio = step / made
    if ratio < BEHIND or ratio > _MOST or _is_accumulation(ratio):
        return
    source = summary.position.source or "step"
    yield Finding(
        id="resume_discontinuity",
        title=f"the checkpoint is at step {step:,}, its optimizer has made {made:,.0f}: its state "
        "may not have been restored at a restart",
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.INFERENCE, 0.6),
        basis=Basis.INFERENCE,
        evidence=(
            place_evidence(summary.path, source, f"{step:,}"),
            place_evidence(summary.path, "optimizer step", f"{made:,.0f}"),
        ),
        first_step=float(step) - made,
        details={"missing": float(step) - made},
    )


def remarks_on_steps(summary: CheckpointSummary, run: Run | None) -> Iterator[str]:
    """Counts that differ without being wrong, in a sentence each."""
    for facts in summary.optimizers:
        steps = facts.steps
        if steps is not None and steps[0] != steps[1]:
            yield (
                f"The optimizer's parameters have made from {steps[0]:,.0f} to {steps[1]:,.0f} "
                "steps: some were not updated every time, or joined later."
            )
    counts = [steps[1] for one in summary.optimizers if (steps := one.steps) is not None]
    step = summary.position.step
    ratio = step / max(counts) if step is not None and counts and max(counts) > 0 else 0.0
    if ratio > _MOST:
        yield (
            f"The trainer counts {step:,}, the optimizer {max(counts):,.0f} steps: the one may "
            "count samples or tokens, or the other may have begun anew at a restart."
        )
    elif _is_accumulation(ratio):
        yield (
            f"The trainer counts {step:,} steps, the optimizer {max(counts):,.0f}: about "
            f"{ratio:.3g} to one, as with gradient accumulation."
        )
    last = _last_step(run)
    saved = step if step is not None else (max(counts) if counts else None)
    if last is not None and saved is not None and last > saved:
        yield f"The log goes on to step {last:,.0f}; the checkpoint is of step {saved:,.0f}."


def _is_accumulation(ratio: float) -> bool:
    """Whole multiples are batches per update; above some size every number is near to one."""
    return ratio >= 1.9 and abs(ratio - round(ratio)) < _NEAR * ratio


def _last_step(run: Run | None) -> float | None:
    """The last step in the log; None if its axis counts something else."""
    if run is None:
        return None
    from ..core.view import RunView

    curve = RunView(run).curve("train/loss")
    if curve is None or not len(curve) or curve.axis_name != "step":
        return None
    return float(curve.step(len(curve) - 1))
