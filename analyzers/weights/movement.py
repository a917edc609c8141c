"""What moved between two checkpoints, layer by layer, and what never did."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mltd.runs.checkpoints import CheckpointSummary, Comparison, TensorChange

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from .deliberate import is_deliberate
from .kinds import owner_of
from .places import MOST_EVIDENCE, counted, place_evidence, some
from .silent import LEAST_STEPS

_APART = (1.3, 1.6)
"""Update over norm: the square root of 2 for two directions that have nothing in common."""


@dataclass(frozen=True, slots=True)
class LayerMove:
    """How far the parameters of one module moved together."""

    name: str
    parameters: int
    norm: float
    update: float
    still: int
    """Parameters in tensors of which not one value differs."""

    @property
    def relative(self) -> float | None:
        """Update over norm; None if the layer was all zero."""
        return self.update / self.norm if self.norm > 0 else None

    @property
    def is_still(self) -> bool:
        """True if nothing in it moved."""
        return self.still == self.parameters


def layer_moves(comparison: Comparison, summary: CheckpointSummary) -> tuple[LayerMove, ...]:
    """The modules of the first checkpoint, in its order; `summary` is of the second."""
    tied = {tensor.name for tensor in summary.tensors if tensor.tied_to}
    layers: dict[str, list[TensorChange]] = {}
    for change in comparison.changes:
        if change.role == "parameter" and change.other_name not in tied:
            layers.setdefault(owner_of(change.name) or change.name, []).append(change)
    return tuple(
        LayerMove(
            name,
            sum(change.elements for change in own),
            math.sqrt(sum(change.norm**2 for change in own)),
            math.sqrt(sum(change.update**2 for change in own)),
            sum(change.elements for change in own if change.is_equal),
        )
        for name, own in layers.items()
    )


def are_unrelated(moves: Sequence[LayerMove]) -> bool:
    """True if nearly all weights differ by the length of both: as random numbers do."""
    whole = sum(move.parameters for move in moves)
    apart = sum(move.parameters for move in moves if _APART[0] < (move.relative or 0.0) < _APART[1])
    return whole > 0 and apart > 0.9 * whole


def still_layers(comparison: Comparison, summary: CheckpointSummary) -> Iterator[Finding]:
    """frozen_layers: parameters of which not one value differs; `summary` is of the second."""
    parameters = [change for change in comparison.changes if change.role == "parameter"]
    still = comparison.unmoved
    if not still:
        return
    if len(still) == len(parameters):
        yield from _nothing_moved(comparison, still)
        return
    # Biases of zero and norms of one stay what they are where nothing reaches them.
    facts = {tensor.name: tensor for tensor in summary.parameters}
    trained = [c for c in still if (f := facts.get(c.other_name)) is not None and f.is_trainable]
    names = [change.other_name for change in trained or still]
    is_known = all(
        facts[c.other_name].is_trainable is not None for c in still if c.other_name in facts
    )
    if trained:
        why = "although an optimizer holds them"
    else:
        why = "the optimizer does not hold them" if is_known else "frozen, or not in the optimizer"
    # Not to be in the optimizer is no excuse: a layer is forgotten there as easily.
    is_meant = is_deliberate(frozenset(names), summary.parameters)
    # A layer of which only the bias stood still has moved.
    unmoved = {change.other_name for change in still}
    moved = {owner_of(c.other_name) for c in parameters if c.other_name not in unmoved}
    owners = ((owner_of(name), name) for name in names)
    layers = list(dict.fromkeys(name if o in moved else o or name for o, name in owners))
    share = sum(c.elements for c in still) / max(1, sum(c.elements for c in parameters))
    yield Finding(
        id="frozen_layers",
        title=f"{counted(len(layers), 'layer')} did not move at all ({share:.0%} of the "
        f"parameters; {why}): {some(layers)}",
        severity=Severity.INFO if is_meant else Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.9),
        basis=Basis.OBSERVATION,
        evidence=tuple(
            place_evidence(comparison.other_path, name, "every value is as it was before")
            for name in names[:MOST_EVIDENCE]
        ),
        first_step=comparison.position.step,
        details={"by": "layers", "share": share, "first": names[0]},
    )


def _nothing_moved(comparison: Comparison, still: tuple[TensorChange, ...]) -> Iterator[Finding]:
    before, after = comparison.position.step, comparison.other_position.step
    steps = after - before if before is not None and after is not None else None
    has_advanced = steps is not None and steps >= LEAST_STEPS
    said = f" in {steps:,} steps" if has_advanced else ": all that both have is equal"
    yield Finding(
        id="frozen_layers",
        title=f"not one of {len(still):,} parameter tensors changed{said}",
        severity=Severity.CRITICAL if has_advanced else Severity.INFO,
        confidence=finding_confidence(Basis.OBSERVATION, 0.95),
        basis=Basis.OBSERVATION,
        evidence=tuple(
            place_evidence(comparison.other_path, c.other_name, "every value is as it was before")
            for c in still[:MOST_EVIDENCE]
        ),
        first_step=before,
        details={"by": "updates" if has_advanced else "equal", "share": 1.0},
    )
