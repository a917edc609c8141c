"""Shares of units that pass nothing on, layer by layer, as a probe recorded them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.recording import Recording, newest_recordings
from ..core.view import RunView

LEAST_RECORDS = 3
SLACK = 0.9
SILENT = 0.999
"""Share of zeros from which on a layer is dead, where single units were not counted."""


@dataclass(frozen=True, slots=True)
class UnitShare:
    """One layer's share at the end of the run."""

    recording: Recording
    layer: str
    curve: Curve
    level: float
    first: int
    """Position from which on the share stays high."""

    @property
    def is_last(self) -> bool:
        """True for the last layer of the model: what it puts out is the answer."""
        outputs = self.recording.series.get("act_mean")
        return outputs is not None and outputs[-1].layer == self.layer


def recorded_shares(view: RunView, kind: str, least: float) -> list[UnitShare]:
    """Layers whose share (`act_dead`, `act_saturated`) stays at or above a bound, first to last."""
    return [share for one in newest_recordings(view) for share in _shares_of(one, kind, least)]


def dead_layers(view: RunView, least: float) -> list[UnitShare]:
    """Layers whose units are cut off for every example; where none is counted, by their zeros."""
    counted = recorded_shares(view, "act_dead", least)
    known = {s.layer for one in newest_recordings(view) for s in one.series.get("act_dead", ())}
    silent = recorded_shares(view, "act_zero", SILENT)
    return [*counted, *(share for share in silent if share.layer not in known)]


def _shares_of(recording: Recording, kind: str, least: float) -> list[UnitShare]:
    found = []
    for layer in recording.layers(kind):
        curve = layer.curve
        tail = curve.y[-max(LEAST_RECORDS, len(curve) // 3) :]
        tail = tail[np.isfinite(tail)]
        if len(tail) < LEAST_RECORDS or not float(np.median(tail)) >= least:
            continue
        first = _onset(curve.y, least)
        found.append(UnitShare(recording, layer.layer, curve, float(np.median(tail)), first))
    return found


def _onset(values: Floats, least: float) -> int:
    """Where a share reaches a bound for good; to fall a little below it is noise."""
    below = np.flatnonzero(~(values >= SLACK * least))
    start = min(int(below[-1]) + 1, len(values) - 1) if len(below) else 0
    return start + int(np.argmax(values[start:] >= least))
