"""update_ratio: steps move the weights far too little, or far too much.

What it sees: a probe's update-to-weight ratio of the whole model below 1e-5 while the learning rate
    is near its peak and the loss has not fallen; or above 0.1 over five records in a row, or
    above 1 twice, while the loss does not fall either. Healthy is about 1e-3. Warm-up, the end of
    a schedule and a model that has learned do not count.
Why it matters: below, the training gets nowhere in the time it has; above, each step throws away
    what the last one learned.
Fires on:
    probe update_ratio: 3e-8>4e-8*24 ; probe lr: 1e-8 ; train/loss: 2.3~0.01*120
    probe update_ratio: 0.4~0.05*24 ; probe lr: 3 ; train/loss: 2.3 9~2*119
Stays quiet:
    probe update_ratio: 0.002~0.0001*24 ; probe lr: 0.1 ; train/loss: 2.3~0.01*120
    probe update_ratio: 1e-3>1e-7*24 ; probe lr: 0.1>0*24 ; train/loss: 2.3>2.1~0.01*120
    probe update_ratio: 0.3 0.2 0.12 0.02*21 ; probe lr: 0.01 ; train/loss: 2.3>0.4~0.01*120
Try next: change the learning rate by the factor that brings the ratio near 1e-3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.recording import Recording, newest_recordings
from ..core.registry import analyzer
from ..core.view import RunView
from .calm import calmly, median
from .learning import Learning, learning

LEAST_RECORDS = 5
NEAR_PEAK = 0.3
"""Share of the highest learning rate from which on a small ratio says something."""


@analyzer
@dataclass(frozen=True, slots=True)
class UpdateRatio:
    """Judge the model as a whole, and name the layer that is furthest off."""

    id: ClassVar[str] = "update_ratio"
    roles: ClassVar[tuple[str, ...]] = ("train/loss", "lr")
    events: ClassVar[tuple[str, ...]] = ()
    too_small: float = 1e-5
    hopeless: float = 1e-6
    """Too small for anything, also where no loss is logged."""
    too_large: float = 0.1

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """Each recorded model once."""
        now = learning(view)
        for recording in newest_recordings(view) or _totals_alone(view):
            curve = recording.total("update_ratio")
            if curve is None or len(curve) < LEAST_RECORDS:
                continue
            found = self._small(recording, curve, now) or self._large(recording, curve, now)
            if found is not None:
                yield found

    def _small(self, recording: Recording, curve: Curve, now: Learning | None) -> Finding | None:
        counts = _at_full_rate(recording, curve) & np.isfinite(curve.y)
        values = curve.y[counts]
        if len(values) < LEAST_RECORDS or np.mean(values < self.too_small) < 0.9:
            return None
        level = median(values)
        if not 0 < level < self.too_small or (now is not None and now.is_better):
            return None
        is_bad = now.is_flat if now is not None else level < self.hopeless
        first = int(np.flatnonzero(counts)[0])
        title = f"steps move the weights by {level:.2g} of their size"
        return self._report(
            curve, first, f"{title}: healthy is about 1e-3",
            Severity.WARNING if is_bad else Severity.INFO, now,
            {"kind": "small", "level": level},
        )  # fmt: skip

    def _large(self, recording: Recording, curve: Curve, now: Learning | None) -> Finding | None:
        first, count = _longest(curve.y > self.too_large)
        # Twice as far as the weights are long: no schedule means that.
        leaps = np.flatnonzero(curve.y > 1.0)
        if count < LEAST_RECORDS and len(leaps) < 2:
            return None
        if count < LEAST_RECORDS:
            first, count = int(leaps[0]), len(leaps)
        level = median(curve.y[first : first + count])
        layer, most = _furthest(recording, curve.step(first), curve.step(first + count - 1))
        where = f", {most:.2g} in layer {layer}" if layer else ""
        is_unharmed = now is not None and now.is_better and not now.is_broken
        return self._report(
            curve, first,
            f"steps move the weights by {level:.2g} of their size from {curve.axis_name} "
            f"{curve.step(first):.10g} on{where}: healthy is about 1e-3",
            Severity.INFO if is_unharmed else Severity.WARNING, now,
            {"kind": "large", "level": level, "layer": layer},
        )  # fmt: skip

    def _report(
        self,
        curve: Curve,
        first: int,
        title: str,
        severity: Severity,
        now: Learning | None,
        details: dict[str, float | str],
    ) -> Finding:
        evidence: list[Evidence] = [curve.evidence(first, len(curve) - 1)]
        if now is not None:
            evidence.append(now.curve.evidence(0, len(now.curve) - 1))
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=tuple(evidence),
            first_step=curve.step(first),
            details=details,
        )


def _totals_alone(view: RunView) -> list[Recording]:
    """Recordings of models whose layers were not watched."""
    files = [n for n, source in enumerate(view.run.files) if source.format == "probe"]
    return [Recording(view, file, {}) for file in files]


def _at_full_rate(recording: Recording, curve: Curve) -> npt.NDArray[np.bool_]:
    """Records at which the learning rate is near its peak: not in warm-up, not at the end."""
    rate = recording.total("lr")
    if rate is None or len(rate) == 0:
        return np.ones(len(curve), dtype=bool)
    at = np.clip(np.searchsorted(rate.x, curve.x, side="right") - 1, 0, len(rate) - 1)
    peak = float(np.nanmax(rate.y))
    return (rate.y[at] >= NEAR_PEAK * peak) & (peak > 0)


def _longest(high: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Where the longest stretch begins, and how long it is."""
    edges = np.diff(np.concatenate([[0], high.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if len(starts) == 0:
        return 0, 0
    best = int(np.argmax(ends - starts))
    return int(starts[best]), int(ends[best] - starts[best])


def _furthest(recording: Recording, start: float, stop: float) -> tuple[str, float]:
    """The layer that the steps of a stretch moved furthest, relative to its size."""
    found = ("", 0.0)
    for layer in recording.layers("update_ratio"):
        x = layer.curve.x
        value = median(layer.curve.y[(x >= start) & (x <= stop)])
        if value > found[1]:
            found = (layer.layer, value)
    return found
