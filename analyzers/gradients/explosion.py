"""Where in a model gradients explode, as a probe recorded it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.recording import Recording, recordings
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .calm import median
from .learning import learning

LEAST_LAYERS = 4
LEAST_GROWTH = 100.0
"""From the first layer's output to the last; formulas for initial weights keep it near 1."""
LEAST_PER_LAYER = 2.5


@dataclass(frozen=True, slots=True)
class Site:
    """The layer with the largest gradient at the height of a climb."""

    layer: str
    share: float
    """Of the whole gradient, squared."""
    evidence: Evidence

    @property
    def text(self) -> str:
        """The end of a title."""
        part = f" ({self.share:.0%} of it)" if self.share >= 0.5 else ""
        return f", largest in layer {self.layer}{part}"


def site_of(view: RunView, first: float, last: float) -> Site | None:
    """Which layer a climb between two steps is largest in; None without a recording of it."""
    for recording in recordings(view):
        layers = [one for one in recording.layers("grad_norm") if len(one.curve)]
        if len(layers) < 2:
            continue
        steps = layers[0].curve.x
        # Records are rarer than lines of a log: the one behind the climb counts as well.
        until = last + layers[0].curve.spacing
        within = steps[(steps >= first) & (steps <= until)]
        best: tuple[float, str, Curve, int, float] | None = None
        for step in within.tolist():
            sizes = [(one, _at(one.curve, step)) for one in layers]
            if not all(np.isfinite(value) for _, (_, value) in sizes):
                continue
            total = sum(value * value for _, (_, value) in sizes)
            one, (place, value) = max(sizes, key=lambda pair: pair[1][1])
            if total > 0 and (best is None or value > best[0]):
                best = (value, one.layer, one.curve, place, value * value / total)
        if best is not None:
            _, layer, curve, place, share = best
            return Site(layer, share, curve.evidence(place))
    return None


def _at(curve: Curve, step: float) -> tuple[int, float]:
    place = int(np.searchsorted(curve.x, step))
    is_known = place < len(curve) and curve.x[place] == step
    return place, float(curve.y[place]) if is_known else 0.0


@dataclass(frozen=True, slots=True)
class WildStart:
    """Outputs that grow from layer to layer before anything was learned."""

    recording: Recording
    first: Curve
    last: Curve
    per_layer: float
    norm: Curve
    begins: float
    becomes: float

    @property
    def layers(self) -> tuple[str, str]:
        """Where the growth begins and ends."""
        return self.first.series.layer, self.last.series.layer


def wild_start(view: RunView) -> WildStart | None:
    """Outputs that are many times larger with each layer, beside gradients that calm down later.

    Where the loss does not come down, the gradients need not either.
    """
    now = learning(view)
    is_stuck = now is not None and not now.is_better
    for recording in recordings(view):
        norm = recording.total("grad_norm")
        trained = {series.layer for series in recording.series.get("grad_norm", ())}
        outputs = [o for o in recording.layers("act_std") if o.layer in trained and len(o.curve)]
        # The last layer's scale is that of the targets.
        outputs = outputs[:-1]
        if norm is None or len(norm) < 5 or len(outputs) < LEAST_LAYERS:
            continue
        sizes = np.array([float(o.curve.y[0]) for o in outputs])
        if not np.all(np.isfinite(sizes) & (sizes > 0)):
            continue
        growth = float(sizes[-1] / sizes[0])
        per_layer = growth ** (1 / (len(sizes) - 1))
        if growth < LEAST_GROWTH or per_layer < LEAST_PER_LAYER or rank_correlation(sizes) < 0.8:
            continue
        begins, becomes = float(norm.y[0]), median(norm.y[-max(3, len(norm) // 3) :])
        if begins > 10 * becomes or not np.isfinite(becomes) or is_stuck:
            first, last = outputs[0].curve, outputs[-1].curve
            return WildStart(recording, first, last, per_layer, norm, begins, becomes)
    return None
