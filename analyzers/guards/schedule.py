"""The learning-rate schedule: warm-up, decay, cycles."""

from __future__ import annotations

import numpy as np

from ..core.facts import Facts
from ..core.view import RunView

RISES_FROM = 0.35
"""A warm-up starts at or below this share of the peak (the first logged step may be late)."""
DECAYED = 0.1


def learning_rate(view: RunView, facts: Facts) -> None:
    """Guards 4 to 6: what the schedule does explains what the loss does."""
    curve = view.curve("lr")
    if curve is None or len(curve) < 3:
        return
    first, _, mean, _, high, counts = curve.bins
    known = counts > 0
    rates, steps = mean[known], first[known]
    peak = float(np.max(high[known], initial=0.0))
    if peak <= 0:
        return
    maxima = _local_maxima(rates, peak)
    if maxima >= 2:
        facts.is_cyclic = True
        facts.notes["cyclic"] = curve.remark(f"the learning rate has {maxima} maxima: it cycles")
    at_peak = int(np.argmax(rates >= 0.98 * rates.max()))
    rise = rates[: at_peak + 1]
    # A single jump is no warm-up, unless so few values were logged that it may be one.
    is_gradual = at_peak <= 3 or len(np.unique(rise)) >= 4
    if at_peak > 0 and rates[0] <= RISES_FROM * peak and is_gradual and np.all(np.diff(rise) >= 0):
        facts.warmup_until = float(steps[at_peak])
        facts.notes["warmup"] = curve.evidence(0, None, f"warms up to {peak:.4g}")
    if rates[-1] < DECAYED * peak and not facts.is_cyclic and at_peak < len(rates) - 1:
        facts.is_decayed = True
        facts.notes["decayed"] = curve.evidence(
            len(curve) - 1, None, f"{rates[-1]:.3g}, below a tenth of its peak {peak:.3g}"
        )


def _local_maxima(rates: np.ndarray[tuple[int], np.dtype[np.float64]], peak: float) -> int:
    """Rises of more than a tenth of the peak that follow a fall of more than a tenth."""
    maxima, low, high, is_rising = 0, float(rates[0]), float(rates[0]), True
    for rate in rates.tolist():
        if is_rising:
            high = max(high, rate)
            if rate < high - 0.1 * peak:
                maxima, is_rising, low = maxima + 1, False, rate
        else:
            low = min(low, rate)
            if rate > low + 0.1 * peak:
                is_rising, high = True, rate
    return maxima + (1 if is_rising and maxima else 0)
