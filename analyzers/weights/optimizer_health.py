"""What the saved state of the optimizer says: gradients that were not finite, or never came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mltd.runs.checkpoints import CheckpointSummary, OptimizerFacts, TensorFacts

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, Finding, Severity
from .deliberate import is_deliberate
from .places import MOST_EVIDENCE, place_evidence, some

LEAST_STEPS = 10.0
"""Updates after which every parameter in use has had a gradient."""


def optimizer_findings(summary: CheckpointSummary) -> Iterator[Finding]:
    """All that is wrong with the optimizers of a checkpoint."""
    for facts in summary.optimizers:
        yield from _not_finite(summary, facts)
        yield from _without_gradient(summary, facts)
        yield from _without_state(summary, facts)


def _where(facts: OptimizerFacts) -> str:
    return facts.section or "optimizer"


def _not_finite(summary: CheckpointSummary, facts: OptimizerFacts) -> Iterator[Finding]:
    bad = facts.bad_states
    if not bad:
        return
    yield Finding(
        id="nan_gradients",
        title=f"the optimizer's memory of {len(bad):,} of {len(facts.states):,} parameters holds "
        f"NaN or infinity ({some(bad)}): a gradient that was not finite reached it",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.95),
        basis=Basis.OBSERVATION,
        evidence=_evidence(summary, facts, bad, "NaN or infinity in its state"),
        details={"lasting": 1.0, "first": bad[0]},
    )


def _without_gradient(summary: CheckpointSummary, facts: OptimizerFacts) -> Iterator[Finding]:
    """A second moment of zero after many steps: every gradient was exactly zero."""
    zero = [
        state
        for state in facts.states
        if state.is_second_moment_zero and not state.has_bad_values and state.step is not None
        and state.step >= LEAST_STEPS
    ]  # fmt: skip
    # The gradient of some biases vanishes by right: attention does not see that of its keys.
    layers = [state.label for state in zero if not state.label.endswith("bias")]
    labels = layers or [state.label for state in zero]
    if not labels:
        return
    steps = max(state.step or 0.0 for state in zero)
    yield Finding(
        id="frozen_layers",
        title=f"{len(labels):,} of {len(facts.states):,} parameters got no gradient but zero in "
        f"{steps:,.0f} steps: {some(labels)}",
        severity=Severity.WARNING if layers else Severity.INFO,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=_evidence(summary, facts, labels, "its second moment is all zero"),
        details={"by": "layers", "first": labels[0]},
    )


def _without_state(summary: CheckpointSummary, facts: OptimizerFacts) -> Iterator[Finding]:
    missing = facts.without_state
    steps = facts.steps
    if not missing or not facts.states:
        return
    is_old = steps is not None and steps[1] >= LEAST_STEPS
    is_meant = not is_old or not facts.is_mapped or _is_meant(missing, summary.parameters)
    yield Finding(
        id="frozen_layers",
        title=f"the optimizer remembers nothing about {len(missing):,} of {facts.parameters:,} "
        f"parameters that it holds ({some(missing)}): they never got a gradient",
        severity=Severity.INFO if is_meant else Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.85),
        basis=Basis.OBSERVATION,
        evidence=_evidence(summary, facts, missing, "in a parameter group, without state"),
        details={"by": "layers", "first": missing[0]},
    )


def _is_meant(missing: Sequence[str], parameters: Sequence[TensorFacts]) -> bool:
    return is_deliberate(frozenset(missing), parameters)


def _evidence(
    summary: CheckpointSummary, facts: OptimizerFacts, labels: Sequence[str], quote: str
) -> tuple[Evidence, ...]:
    where = _where(facts)
    return tuple(
        place_evidence(summary.path, f"{where}[{label}]", quote) for label in labels[:MOST_EVIDENCE]
    )
