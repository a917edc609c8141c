"""oscillating_loss: the training loss swings up and down instead of settling.

What it sees: swings over several points, not the jitter from one batch to the next (which turns
    back at every second point and is healthy) and not single points that differ at even distances
    (the short last batch of an epoch, an evaluation among the steps): a period that repeats.
    Means that a progress bar begins anew do not count, nor does what was smoothed, unless each
    period has several edges that no mean has.
Why it matters: the step size is near its limit, or the data come in an order that repeats.
Fires on:
    train/loss: 2.3>1~0.02*60 (0.5 1.5 2.5 1.5)*14
Stays quiet:
    train/loss: 2.3>1~0.3*300
    train/loss: 2.3>1~0.02*300
    train/loss: 2.3>1~0.02*60 (1 0.98 1.02 1 0.99 0.5)*12
Try next: shuffle the data if the period is an epoch; else divide the learning rate by two or
    three, or double the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView

LEAST = 48
EDGE, EDGES = 0.2, 3
"""Share of a period's size that one step between neighbours makes up, and how many of them."""
_LEAST_JAGGED, _BY_LOT = 8, 1.3
"""Points of a period of which the order can be judged, and the ratio of what has none (2)."""
_SAME = 0.9
"""Autocorrelation of the same batches in the same order."""
_LEAST_CALM, _CALM = 6, 0.1
"""Evaluations, and the share of a swing that one of them may differ from the next."""
_BAR = " (progress)"


@dataclass(frozen=True, slots=True)
class Swing:
    """A period in a detrended curve."""

    lag: int
    """In points."""
    strength: float
    """Autocorrelation at the lag."""
    amplitude: float
    """Size from trough to crest."""


@analyzer
@dataclass(frozen=True, slots=True)
class OscillatingLoss:
    """Looks for a period in the detrended loss."""

    id: ClassVar[str] = "oscillating_loss"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    strength: float = 0.5
    least_share: float = 0.12
    """Size of the swings as a share of the loss's level or fall, whichever is smaller."""
    least_of_fall: float = 0.02
    """Size as a share of the fall: what is left of a loss near 0 may swing by its own size."""
    of_epoch: float = 0.3
    """Share from which swings are worth a warning that repeat with every epoch: the same batches
    in the same order have the same losses, and that alone does no harm."""
    of_jagged_epoch: float = 0.8
    """The same where neighbours within an epoch differ as if drawn by lot: nothing is sorted."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary loss."""
        curve = view.curve("train/loss")
        facts = view.facts
        if curve is None or not facts.is_monotone or len(curve) < LEAST or facts.is_cyclic:
            return
        if curve.restarts or facts.is_quantised(curve):
            return
        values = curve.y[-4096:]
        if not np.isfinite(values).all():
            return
        swing = find_swing(values)
        # The fewer the points, the more noise looks like a period.
        chance = 4.0 / np.sqrt(len(values) - len(values) // 3)
        if swing is None or swing.strength < max(self.strength, chance):
            return
        if _is_period_of_bar(view, curve, swing):
            return
        # Where neighbours are alike because they come sorted, a curve turns back as rarely as a
        # mean; but a mean has no edges, or one where it begins anew.
        if facts.is_smoothed(curve) and not _has_edges(values, swing.lag):
            return
        size, of_fall = _shares(values, swing)
        if size > self.least_share and of_fall > self.least_of_fall:
            most = self.of_jagged_epoch if _is_jagged(values, swing.lag) else self.of_epoch
            is_order = size < most and _is_of_epoch(curve, len(values), swing)
            is_order |= swing.strength > _SAME and _validation_is_calm(view, curve, swing)
            yield self._report(view, curve, swing, Severity.INFO if is_order else Severity.WARNING)

    def _report(self, view: RunView, curve: Curve, swing: Swing, severity: Severity) -> Finding:
        period = swing.lag * curve.spacing
        first = max(0, len(curve) - 4096)
        start = first + (len(curve) - first) // 3
        return Finding(
            id=self.id,
            title=f"{curve.name} swings by {swing.amplitude:.3g} with a period of {period:.4g} "
            f"{curve.axis_name}s (autocorrelation {swing.strength:.2f})",
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.8),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(start, len(curve) - 1, f"period {period:.4g}"),
                *view.facts.remarks(curve),
            ),
            first_step=curve.step(min(first, start)),
            details={"period": period, "strength": swing.strength, "lag": swing.lag},
        )


def _is_period_of_bar(view: RunView, curve: Curve, swing: Swing) -> bool:
    """Bars show means of their epoch so far, which begin anew with every bar."""
    if not curve.name.endswith(_BAR):
        return False
    ends = [s for s in view.series if s.name == curve.name.removesuffix(_BAR)]
    if not ends or not len(ends[0]):
        return False
    bars = swing.lag * len(ends[0]) / len(curve)
    return bars > 0.5 and abs(bars - round(bars)) < 0.1


def _shares(values: Floats, swing: Swing) -> tuple[float, float]:
    """Size of the swings by level or fall, whichever is smaller, and by the fall from the start."""
    later = values[len(values) // 3 :]
    level = abs(float(np.median(later)))
    fall = float(np.median(values[: max(3, len(values) // 50)]) - np.min(later))
    of_fall = swing.amplitude / fall if fall > 0 else np.inf
    return swing.amplitude / max(min(level, fall if fall > 0 else level), 1e-300), of_fall


def _is_of_epoch(curve: Curve, count: int, swing: Swing) -> bool:
    """True if the period is as many points as an epoch has."""
    epochs = curve.series.axis("epoch")[-count:]
    epochs = epochs[np.isfinite(epochs)]
    begins = np.flatnonzero(np.diff(np.floor(epochs)) > 0)
    if len(begins) < 2:
        return False
    return bool(abs(swing.lag / float(np.median(np.diff(begins))) - 1.0) < 0.15)


def find_swing(values: Floats) -> Swing | None:
    """The strongest period of at least four points, seen at least four times."""
    start = len(values) // 3
    later = values[start:]
    count = len(later)
    if count < 24:
        return None
    # Single values that stick out, however regularly, are no swing.
    spread = 1.4826 * float(np.median(np.abs(later - np.median(later))))
    later = np.clip(later, np.median(later) - 6 * spread, np.median(later) + 6 * spread)
    rest = later - _trend(later)
    rest = rest - rest.mean()
    power = float(rest @ rest)
    if power <= 1e-18 * float(later @ later):
        return None
    most = count // 4
    spectrum = np.fft.rfft(rest, 2 * count)
    correlation = np.fft.irfft(spectrum * np.conj(spectrum))[: most + 1] / power
    # A period shows as a dip and then a crest; slow wandering only falls off.
    dip = np.flatnonzero(correlation < 0.0)
    if len(dip) == 0 or int(dip[0]) >= most - 1:
        return None
    lag = int(dip[0]) + int(np.argmax(correlation[dip[0] :]))
    if lag < 4:
        return None
    unbiased = float(correlation[lag]) * count / (count - lag)
    if _is_single_point(rest, lag):
        return None
    amplitude = float(np.quantile(rest, 0.95) - np.quantile(rest, 0.05))
    return Swing(lag, min(unbiased, 1.0), amplitude)


def _is_single_point(rest: Floats, lag: int) -> bool:
    """One point in each period differs, and the others do not: nothing swings."""
    usual = rest[: len(rest) // lag * lag].reshape(-1, lag).mean(axis=0)
    apart = (usual - np.median(usual)) ** 2
    return float(apart.max()) > 0.7 * float(apart.sum())


def _validation_is_calm(view: RunView, curve: Curve, swing: Swing) -> bool:
    """Validation is at its best and does not swing: only the batches differ, not the model."""
    val = view.curve("val/loss")
    if val is None or len(val) < _LEAST_CALM or val.axis_name != curve.axis_name:
        return False
    costs = val.bins[2]
    later = costs[len(costs) // 2 :]
    if not np.isfinite(costs).all() or float(later[-1]) > 1.02 * abs(float(np.min(costs))):
        return False
    return float(np.max(np.abs(np.diff(later)))) < _CALM * swing.amplitude


def _is_jagged(values: Floats, lag: int) -> bool:
    """Neighbours in a usual period are no more alike than any two of it (von Neumann's ratio)."""
    usual = _usual_period(values, lag)
    apart = float(np.sum((usual - usual.mean()) ** 2))
    moves = float(np.sum(np.diff(np.append(usual, usual[0])) ** 2))
    return lag >= _LEAST_JAGGED and moves > _BY_LOT * apart


def _usual_period(values: Floats, lag: int) -> Floats:
    later = values[len(values) // 3 :]
    folded = later[: len(later) // lag * lag].reshape(-1, lag)
    return np.asarray(np.median(folded - np.median(folded, axis=1, keepdims=True), axis=0))


def _has_edges(values: Floats, lag: int) -> bool:
    """A usual period goes up and down by steps: several of them, each a good part of its size."""
    usual = _usual_period(values, lag)
    moves = np.abs(np.diff(np.append(usual, usual[0])))
    return int(np.count_nonzero(moves > EDGE * float(np.ptp(usual)))) >= EDGES


def _trend(values: Floats) -> Floats:
    x = np.linspace(-1.0, 1.0, len(values))
    return np.asarray(
        np.polynomial.polynomial.polyval(x, np.polynomial.polynomial.polyfit(x, values, 3))
    )
