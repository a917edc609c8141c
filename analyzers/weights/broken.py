"""nan_weights in a checkpoint: tensors that hold NaN or infinity, the likely origin first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.runs.checkpoints import CheckpointSummary, Comparison, TensorChange, TensorFacts

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, Finding, Severity
from .places import MOST_EVIDENCE, counted, place_evidence, some, tensor_evidence

_STATISTICS = re.compile(r"running_(?:mean|var)$")


def broken_tensors(summary: CheckpointSummary) -> list[TensorFacts]:
    """Tensors with values that no model can work with, in the model's order."""
    return [tensor for tensor in summary.model if _is_broken(tensor)]


def _is_broken(tensor: TensorFacts) -> bool:
    stats = tensor.stats
    if stats is None or not stats.is_bad:
        return False
    if tensor.role == "parameter":
        return True
    # Masks and observers of quantisation hold infinities by right.
    return stats.nans > 0 or _STATISTICS.search(tensor.name) is not None


def broken(summary: CheckpointSummary) -> Iterator[Finding]:
    """One finding for all of them."""
    found = broken_tensors(summary)
    if not found:
        return
    looked = sum(tensor.stats is not None for tensor in summary.model)
    first = found[0]
    where = f"first {first.name}" if len(found) > 1 else first.name
    whole = " (all that were read)" if len(found) == looked else f" of {looked:,}"
    evidence = [tensor_evidence(summary, t, _quote(t)) for t in found[:MOST_EVIDENCE]]
    yield Finding(
        id="nan_weights",
        title=f"{len(found):,}{whole} tensors hold NaN or infinity: {where} in the model's order"
        if len(found) > 1
        else f"{where} holds {_quote(first)}; all other tensors are finite",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.95),
        basis=Basis.OBSERVATION,
        evidence=tuple(evidence),
        details={"tensors": float(len(found)), "first": first.name},
    )


def newly_bad(comparison: Comparison) -> list[TensorChange]:
    """Tensors with values that were finite in the first and are not in the second."""
    return [
        change
        for change in comparison.changes
        if change.new_bad and (change.role == "parameter" or _STATISTICS.search(change.name))
    ]


def newly_broken(comparison: Comparison) -> Iterator[Finding]:
    """The same between two checkpoints: it happened after the first was saved."""
    found = newly_bad(comparison)
    if not found:
        return
    evidence: list[Evidence] = [
        place_evidence(
            comparison.other_path, c.other_name, f"{c.new_bad:,} values were finite before"
        )
        for c in found[:MOST_EVIDENCE]
    ]
    steps = (comparison.position.step, comparison.other_position.step)
    between = f" between steps {steps[0]:,} and {steps[1]:,}" if None not in steps else ""
    names = some([change.other_name for change in found])
    yield Finding(
        id="nan_weights",
        title=f"{counted(len(found), 'tensor')} became NaN or infinite{between}: {names}",
        severity=Severity.CRITICAL,
        confidence=finding_confidence(Basis.OBSERVATION, 0.95),
        basis=Basis.OBSERVATION,
        evidence=tuple(evidence),
        first_step=steps[0],
        details={"tensors": float(len(found)), "first": found[0].other_name},
    )


def _quote(tensor: TensorFacts) -> str:
    stats = tensor.stats
    assert stats is not None
    parts = [
        f"{count:,} {word}"
        for count, word in ((stats.nans, "NaN"), (stats.infs, "infinite"))
        if count
    ]
    return f"{' and '.join(parts)} of {tensor.elements:,} values"
