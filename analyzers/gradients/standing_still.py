"""What stands still in a log's own curves although it should learn.

Each look returns a sign, the surest of which the analyzer reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mltd.runs.harvest import Floats

from ..core.curve import Curve
from ..core.finding import Evidence, Severity
from ..core.recording import LayerCurve
from ..core.view import RunView
from ..loss.outcomes import is_fine_tuning, peak_rate
from .calm import median
from .layers import gradient_layers, gradient_norm, weight_layers, without_embeddings
from .learning import effect_on_loss, learning
from .recorded_units import dead_layers
from .shares import measured

_LEAST_EVALUATIONS = 3
_LEAST_DIGITS = 5
"""Significant digits without which equal values say little."""
_LEAST_SIZES = 20
_LATELY, _GRAINS = 8, 5.0
"""What moved by so many units of its last digit in so many evaluations may as well stand still."""
_LEAST_RATE = 1e-6
"""Learning rate below which four digits do not show what moves."""


@dataclass(frozen=True, slots=True)
class Still:
    """A curve that does not move from some point on, and what that says."""

    curve: Curve
    first: int
    title: str
    severity: Severity
    raw: float
    details: Mapping[str, float | str]
    beside: Curve | None = field(default=None)
    """A curve that moves meanwhile."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Where it stands still, and where something else does not."""
        moves = self.beside
        beside = (moves.evidence(0, len(moves) - 1),) if moves is not None else ()
        return (self.curve.evidence(self.first, len(self.curve) - 1), *beside)


def still_updates(view: RunView) -> Still | None:
    """An update-to-weight ratio of 0."""
    shares = measured(view, "update_ratio")
    for share in shares:
        tail = share.curve.y[-max(10, len(share.curve) // 2) :][-4096:]
        tail = tail[np.isfinite(tail)]
        # A probe measures what little a tiny rate does; a log prints it as good as 0.
        is_exact = view.run.files[share.curve.series.file].format == "probe"
        least = np.nextafter(0.0, 1.0) if is_exact else 1e-8
        if len(tail) < 10 or np.mean(np.abs(tail) < least) < 0.9:
            continue
        is_whole = share is shares[0]
        moving = np.flatnonzero(np.abs(share.curve.y) >= least)
        first = min(int(moving[-1]) + 1, len(share.curve) - 1) if len(moving) else 0
        return Still(
            share.curve,
            first,
            f"{share.curve.name} is {median(tail):.2g}: the weights do not change",
            Severity.CRITICAL if is_whole else Severity.WARNING,
            0.9,
            {"by": "updates"},
        )
    return None


def still_evaluations(view: RunView) -> Still | None:
    """A validation loss that is the same to its last digit, while training jitters."""
    curve, train = view.curve("val/loss"), view.curve("train/loss")
    if curve is None or train is None or len(curve) < _LEAST_EVALUATIONS:
        return None
    last = float(curve.y[-1])
    if not np.isfinite(last) or last == 0.0:
        return None
    if np.any(np.abs(curve.y[-_LEAST_EVALUATIONS:] - last) > 1e-6 * abs(last)):
        return None
    same = np.abs(curve.y - last) <= 1e-6 * abs(last)
    other = np.flatnonzero(~same)
    first = int(other[-1]) + 1 if len(other) else 0
    count = len(curve) - first
    digits = _digits(last)
    is_fine = digits >= _LEAST_DIGITS
    if count < (_LEAST_EVALUATIONS if is_fine else 6) or digits < 4:
        return None
    if first > 1 and _creeps(curve.y[:first], last):
        return None
    rate = peak_rate(view)
    if not is_fine and rate is not None and rate < _LEAST_RATE:
        return None
    jitter = train.y[np.searchsorted(train.x, curve.x[first]) :]
    jitter = jitter[np.isfinite(jitter)][-4096:]
    if len(jitter) < 3 or np.ptp(jitter) <= 1e-4 * abs(last):
        return None
    # At the end of a decay nothing moves any more, as planned.
    if view.facts.is_decayed and count < 0.5 * len(curve):
        return None
    if count < 2 * _longest_shown(curve.y[:first]):
        return None
    return Still(
        curve,
        first,
        f"{curve.name} is {last:.7g} in {count} evaluations in a row while {train.name} varies "
        f"by {np.ptp(jitter):.2g}: the parameters do not change",
        Severity.CRITICAL if is_fine and first == 0 else Severity.WARNING,
        0.93 if is_fine else 0.6,
        {"by": "evaluations", "count": float(count)},
    )


def still_layers(view: RunView) -> Still | None:
    """Layers whose gradient is exactly 0 while others get one."""
    layers = without_embeddings(gradient_layers(view))
    if layers and layers[0].curve.series.layer:
        return None  # recorded, and judged with what the recording knows besides
    still: list[LayerCurve] = []
    moving: list[LayerCurve] = []
    for layer in layers:
        tail = layer.curve.y[-min(4096, max(5, len(layer.curve) // 4)) :]
        tail = tail[np.isfinite(tail)]
        if len(tail) >= 5:
            (still if np.mean(tail == 0.0) > 0.9 else moving).append(layer)
    if not still or not moving:
        return None
    now = learning(view)
    is_flat = now is not None and now.is_flat and len(now.curve) >= 30
    curve = still[0].curve
    first = _stopped(curve)
    is_harmful = is_flat or (first > 0 and _rose(view, curve.step(first)))
    return Still(
        curve,
        first,
        f"{len(still)} of {len(still) + len(moving)} layers get a gradient of exactly 0"
        f"{since(curve, first)}, {curve.name} among them",
        Severity.WARNING if _is_unwanted(view, still, is_flat=is_harmful) else Severity.INFO,
        0.75,
        {
            "by": "layers",
            "count": float(len(still)),
            "after": float(first),
            # All behind some layer are reached, none before it.
            "is_blocked": float([*still, *moving] == layers),
            "is_flat": float(is_flat),
        },
        beside=moving[-1].curve,
    )


def still_weights(view: RunView) -> Still | None:
    """Layers whose weights keep their size to the last digit, though something learns."""
    layers = weight_layers(view)
    if not layers or layers[0].curve.series.layer:
        return None  # recorded, and judged with what the recording knows besides
    long = [layer for layer in layers if len(layer.curve) >= _LEAST_SIZES]
    still = [layer for layer in long if _has_one_value(layer.curve)]
    now = learning(view)
    if not still or (len(still) == len(long) and (now is None or not now.is_better)):
        return None
    curve = still[0].curve
    names = ", ".join(layer.layer for layer in still[:3])
    beside = next((layer.curve for layer in long if layer not in still), None)
    return Still(
        curve,
        0,
        f"the weights of {len(still)} of {len(long)} layers ({names}) keep their size to the last "
        f"digit at all {len(curve)} points: {curve.name} is {float(curve.y[0]):.6g} throughout",
        Severity.INFO if is_fine_tuning(view) else Severity.WARNING,
        0.85,
        {"by": "weights", "count": float(len(still)), "layer": names},
        beside=beside if beside is not None else view.curve("train/loss"),
    )


def _has_one_value(curve: Curve) -> bool:
    values = curve.y[-4096:]
    value = float(values[0])
    return bool(np.all(values == value)) and _digits(value) >= 4


def still_norm(view: RunView) -> Still | None:
    """A norm of 0 throughout may be a matter of digits: information only."""
    curve, now = gradient_norm(view), learning(view)
    if curve is None or now is None or view.facts.grad_norm_flaw or not now.is_flat:
        return None
    if len(curve) < 10 or np.any(curve.y[-4096:] != 0.0):
        return None
    return Still(
        curve,
        0,
        f"{curve.name} is 0 at all {len(curve)} points and {now.curve.name} does not fall",
        Severity.INFO,
        0.5,
        {"by": "norm"},
    )


def _is_unwanted(view: RunView, still: list[LayerCurve], *, is_flat: bool) -> bool:
    """Fine-tuning freezes on purpose, and says so; a training from scratch does not."""
    if is_dead(view):
        return False
    always = all(np.all(layer.curve.y[:4096] == 0.0) for layer in still)
    known = learning(view)
    is_poor = known is not None and known.last > 0.4 * known.first
    is_from_scratch = bool(view.settings) or is_poor
    return is_flat or (always and is_from_scratch and not is_fine_tuning(view))


def _stopped(curve: Curve) -> int:
    """From which point on a gradient is 0; the last few values outside do not count."""
    alive = np.flatnonzero(curve.y != 0.0)
    if len(alive) == 0 or len(alive) <= 0.1 * len(curve):
        return 0
    return min(int(alive[-1]) + 1, len(curve) - 1)


def _rose(view: RunView, step: float) -> bool:
    effect = effect_on_loss(view, step, step)
    return effect is not None and effect.stays_up


def since(curve: Curve, first: int) -> str:
    """From where on, in words; nothing if from the beginning."""
    return f" since {curve.axis_name} {curve.step(first):.10g}" if first else ""


def is_dead(view: RunView) -> bool:
    """Units that are never active leave the layers before them without gradient."""
    kinds = ("dead_units", "zero_gradients")
    return bool(dead_layers(view, 0.7)) or any(
        share.level() >= 0.7 for kind in kinds for share in measured(view, kind)
    )


def _digits(value: float) -> int:
    """Significant digits with which a value was written."""
    written = f"{abs(value):.12g}".partition("e")[0].replace(".", "").strip("0")
    return len(written)


def _creeps(before: Floats, last: float) -> bool:
    """It moved by hardly more before: what is too little to tell from rounding is not frozen."""
    moves = np.abs(np.diff(np.append(before, last)))
    lately = float(np.median(moves[-_LATELY:]))
    return float(np.median(moves)) < 1e-5 * abs(last) or lately <= _GRAINS * _last_digit(before)


def _last_digit(values: Floats) -> float:
    """The unit of the last decimal that values were printed with; 0 for those in full."""
    for decimals in range(2, 8):
        scaled = values * 10.0**decimals
        if np.all(np.abs(scaled - np.rint(scaled)) < 1e-4):
            return float(10.0**-decimals)
    return 0.0


def _longest_shown(values: Floats) -> int:
    """How often a value was logged again before it changed: lines may show the last one."""
    changes = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan) != 0.0)
    lengths = np.diff(changes)
    return int(lengths.max()) if len(lengths) and np.median(lengths) > 1 else 0
