"""dead_units in a checkpoint: layers, or outputs of layers, whose weights are all zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from .kinds import Kind, owner_of
from .places import MOST_EVIDENCE, some, tensor_evidence
from .usual import is_matrix, may_be_zero, steps_taken

HALF = 0.5
"""Share of a layer's outputs from which on their death is an alarm."""
LEAST_ROWS = 8
LEAST_STEPS = 10.0
"""Updates after which a layer that began at zero has left it."""


def is_all_zero(tensor: TensorFacts) -> bool:
    """True if every value was read and is zero."""
    stats = tensor.stats
    return stats is not None and tensor.elements > 0 and stats.zeros == tensor.elements


def silent_layers(summary: CheckpointSummary, kinds: Mapping[str, Kind]) -> Iterator[Finding]:
    """Matrices that are zero from end to end; zero biases and fresh norms are normal."""
    zero = [t for t in summary.parameters if is_matrix(t) and is_all_zero(t)]
    if not zero:
        return
    steps = steps_taken(summary)
    is_trained = steps is not None and steps >= LEAST_STEPS
    odd = [t for t in zero if not may_be_zero(t, kinds[t.name])]
    if is_trained:
        odd = odd or [t for t in zero if kinds[t.name] is not Kind.NORM and t.is_trainable]
    said = odd or zero
    why = "they pass nothing on" if len(said) > 1 else "it passes nothing on"
    if not odd:
        why = "many recipes start such layers at zero; after training they should not be"
    matrices = sum(is_matrix(tensor) for tensor in summary.parameters)
    yield Finding(
        id="dead_units",
        title=f"{len(said):,} of {matrices:,} weight matrices are all zero "
        f"({some([t.name for t in said])}): {why}",
        severity=Severity.WARNING if odd and (is_trained or steps is None) else Severity.INFO,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9 if odd else 0.7),
        basis=Basis.OBSERVATION,
        evidence=tuple(
            tensor_evidence(summary, t, f"{t.elements:,} zeros, nothing else")
            for t in said[:MOST_EVIDENCE]
        ),
        details={"share": len(said) / matrices, "kind": "zero_weights", "name": said[0].name},
    )


def dead_outputs(summary: CheckpointSummary, kinds: Mapping[str, Kind]) -> Iterator[Finding]:
    """Layers in which some outputs have only zero weights."""
    sideways = _transposed(summary)
    found = [
        (tensor, share)
        for tensor in summary.parameters
        if tensor.name not in sideways and (share := _dead_share(tensor, kinds)) > 0
    ]
    if not found:
        return
    found.sort(key=lambda pair: -pair[1])
    worst, share = found[0]
    others = f"; {len(found) - 1:,} other layers have some" if len(found) > 1 else ""
    yield Finding(
        id="dead_units",
        title=f"{share:.0%} of the outputs of {worst.name} have only zero weights{others}",
        severity=Severity.WARNING if share >= HALF else Severity.INFO,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=tuple(tensor_evidence(summary, t, _rows(t)) for t, _ in found[:MOST_EVIDENCE]),
        details={"share": share, "kind": "zero_weights", "name": worst.name},
    )


def _transposed(summary: CheckpointSummary) -> frozenset[str]:
    """Weights whose rows are inputs, as in GPT-2's own layers and transposed convolutions.

    Their bias is as long as another axis. A square one cannot tell, so it goes with the others.
    """
    biases = {
        owner_of(tensor.name): tensor.elements
        for tensor in summary.parameters
        if tensor.name.endswith(".bias") and len(tensor.shape) == 1
    }
    known = {
        tensor.name: (biases[owner], tensor.shape)
        for tensor in summary.parameters
        if is_matrix(tensor) and (owner := owner_of(tensor.name)) in biases
    }
    found = {name for name, (bias, shape) in known.items() if bias == shape[1] != shape[0]}
    axes = {len(known[name][1]) for name in found}
    square = {name for name, (_, shape) in known.items() if shape[0] == shape[1]}
    return frozenset(found | {name for name in square if len(known[name][1]) in axes})


def _dead_share(tensor: TensorFacts, kinds: Mapping[str, Kind]) -> float:
    """Of outputs; rows of tables are words, and one that pads is zero by right."""
    stats = tensor.stats
    if stats is None or not stats.dead_rows or not is_matrix(tensor) or is_all_zero(tensor):
        return 0.0
    is_skipped = kinds[tensor.name] in (Kind.EMBEDDING, Kind.NORM, Kind.OTHER)
    if is_skipped or tensor.shape[0] < LEAST_ROWS:
        return 0.0
    return stats.dead_rows / tensor.shape[0]


def _rows(tensor: TensorFacts) -> str:
    stats = tensor.stats
    assert stats is not None
    which = ", ".join(str(number) for number in stats.first_dead)
    more = ", ..." if (stats.dead_rows or 0) > len(stats.first_dead) else ""
    return f"{stats.dead_rows:,} of {tensor.shape[0]:,} output rows are zero: {which}{more}"
