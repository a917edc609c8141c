"""Layers that could learn and are in no optimizer, told from those that are frozen on purpose."""

from __future__ import annotations

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

    @property
    def is_all_but_the_end(self) -> bool:
        """True if just the last layers are trained, as with a head on fixed features."""
        trained = [name for name in self.recording.stated if name not in self.layers]
        order = list(self.recording.stated)
        return bool(trained) and order[-len(trained) :] == trained and len(self.layers) > 1

    @property
    def names(self) -> str:
        """The first of them, by name."""
        shown = ", ".join(self.layers[:MOST_NAMED])
        more = len(self.layers) - MOST_NAMED
        return f"{shown} and {more} more" if more > 0 else shown

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the header says, and the norm that stays the same."""
        first = self.layers[0]
        curve = self.recording.of_layer("weight_norm", first)
        said = self.recording.said_of(first)
        still = () if curve is None or not self.records else (curve.evidence(0, len(curve) - 1),)
        return (said, *still)


def left_out_layers(view: RunView) -> LeftOut | None:
    """Layers that nobody trains; those that another optimizer moves are not among them."""
    for recording in recordings(view):
        moved = recording.total("update_ratio")
        if moved is None or not np.any(moved.y > 0):
            continue
        layers, records = [], []
        for layer in recording.left_out:
            curve = recording.of_layer("weight_norm", layer)
            finite = curve.y[np.isfinite(curve.y)] if curve is not None else np.empty(0)
            if len(finite) and np.ptp(finite) > _SAME * abs(float(finite[0])):
                continue
            layers.append(layer)
            records.append(len(finite))
        if layers:
            seen = min(records)
            known = len(recording.stated)
            return LeftOut(recording, tuple(layers), known, seen if seen > 1 else 0)
    return None
