"""Layers that could learn and are in no optimizer, told from those that are frozen on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.finding import Evidence
from ..core.recording import Recording, recordings
from ..core.view import RunView

_SAME = 2e-6
"""Relative: norms are recorded with six digits."""
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What an optimizer was not given."""

    recording: Recording
    layers: tuple[str, ...]
    of: int
    """Layers of the model."""
    records: int
    """Records over which their weights were seen not to change; 0 if there are too few."""
    is_reached: bool = True
    """False if no gradient reaches them either: then both agree, as where a part is meant so."""

    @property
    def is_all_but_the_end(self) -> bool:
        """True if just the last layers are trained, as with a head on fixed features."""
        trained = [name for name in self.recording.stated if name not in self.layers]
        order = list(self.recording.stated)
        return bool(trained) and order[-len(trained) :] == trained and len(self.layers) > 1

    @property
    def names(self) -> str:
        """The first of them, by name."""
        return listed(self.layers)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the header says, and the norm that stays the same."""
        first = self.layers[0]
        curve = self.recording.of_layer("weight_norm", first)
        said = self.recording.said_of(first)
        still = () if curve is None or not self.records else (curve.evidence(0, len(curve) - 1),)
        return (said, *still)


def listed(layers: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = len(layers) - MOST_NAMED
    return ", ".join(layers[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def stands_still(recording: Recording, layer: str, since: float = -np.inf) -> int | None:
    """Records from a step on with the same weights of a layer; None if something moves them."""
    curve = recording.of_layer("weight_norm", layer)
    known = curve.y[curve.x >= since] if curve is not None else np.empty(0)
    finite = known[np.isfinite(known)]
    if len(finite) and np.ptp(finite) > _SAME * abs(float(finite[0])):
        return None
    return len(finite)


def left_out_layers(view: RunView) -> LeftOut | None:
    """Layers that nobody trains; those that another optimizer moves are not among them."""
    for recording in recordings(view):
        moved = recording.total("update_ratio")
        if moved is None or not np.any(moved.y > 0):
            continue
        groups = ((recording.left_out, True), (recording.unreached, False))
        for group, is_reached in groups:
            still = {layer: stands_still(recording, layer) for layer in group}
            known = {layer: count for layer, count in still.items() if count is not None}
            if known:
                seen = min(known.values())
                return LeftOut(
                    recording, tuple(known), len(recording.stated), seen if seen > 1 else 0,
                    is_reached=is_reached,
                )  # fmt: skip
    return None
