"""One metric of both runs: levels, the change with its interval, effect size, and parting."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mltd.runs.harvest import Floats

from ..model.criterion import DEFAULT_GUARD
from ..model.result import MetricChange
from .bootstrap import resample
from .directions import kind_of
from .levels import Level, level_of, scale_of
from .pairs import Pair
from .parting import parting
from .windows import ENOUGH, Aligned, Side, align, begin_at

_STRICT = ("loss", "perplexity")
"""Metrics of which a single last NaN is the end of a training."""
_LOST_TAIL = 3
_EITHER_SIGN = 0.025
"""Share of drawn levels with the other sign from which on a level cannot be told from 0."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Change for the better with its interval, in shares of the level before.

    Where that is 0 or cannot be told from it, in shares of the larger of the two levels.
    """

    value: float
    low: float | None = None
    high: float | None = None
    is_absolute: bool = False
    gap: float = 0.0
    """Between the worst value after and the best before; 0 unless all of them are better."""

    @property
    def is_clearly_worse(self) -> bool:
        """So much that no early stretch excuses it: a lower learning rate is slower at first."""
        return self.high is not None and self.high < 0 and -self.value > DEFAULT_GUARD

    @property
    def half_width(self) -> float | None:
        """How far the interval reaches to one side."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric with everything that is known about its change."""

    pair: Pair
    aligned: Aligned
    change: MetricChange
    gain: Gain | None = None
    """None if no direction is better, or if the levels are no numbers."""
    shared: tuple[int, int] = (0, 0)
    """Finite points of each run on the stretch that both have been on."""

    @property
    def best(self) -> tuple[float | None, float | None]:
        """The best value of each run; None if no direction is better."""
        is_smaller = self.change.smaller_is_better
        first, second = self.aligned.before, self.aligned.after
        return _best(first, is_smaller), _best(second, is_smaller)


def measure(
    pair: Pair, *, in_depth: bool = True, onset: float | None = None, at_end: bool = False
) -> Measured:
    """Compare one metric; only `in_depth` with an interval and the place where the runs part.

    `onset` is where the incident begins, if that is known; `at_end` compares what each run ended
    with, however far it went.
    """
    with np.errstate(all="ignore"):
        aligned = align(pair, at_end=at_end)
        for place in (onset, _lost_before(pair, aligned)):
            if place is not None:
                aligned = begin_at(aligned, place)
        return _measure(pair, aligned, in_depth)


def lost_place(side: Side, kind: str) -> float | None:
    """Where a metric stopped being a number, as it is seen at the end of the window."""
    _, window = side.window
    if not len(window):
        return None
    bad = ~np.isfinite(side.y[: side.high])
    is_end = side.high == len(side.y)
    tail = _tail(bad)
    allowed = 1 if kind in _STRICT else _LOST_TAIL
    is_lost = 2 * np.count_nonzero(bad[side.low :]) >= len(window) or (is_end and tail >= allowed)
    if not is_lost:
        return None
    first = len(bad) - tail if tail else side.low + int(np.argmax(bad[side.low :]))
    return float(side.x[first])


def _lost_before(pair: Pair, aligned: Aligned) -> float | None:
    """Where the metric stopped being a number in the run before, however far the other one is."""
    side = aligned.before
    if side is None or not len(side.y):
        return None
    return lost_place(replace(side, high=len(side.y)), kind_of(pair.role))


def end_lost_at(one: Measured) -> float | None:
    """Where the metric stopped being a number in the run after the change, up to its very end."""
    side = one.aligned.after
    if side is None or not len(side.y):
        return None
    return lost_place(replace(side, high=len(side.y)), kind_of(one.change.role))


def _measure(pair: Pair, aligned: Aligned, in_depth: bool) -> Measured:
    sides = (aligned.before, aligned.after)
    kind, is_smaller = kind_of(pair.role), pair.smaller_is_better
    scale = scale_of(*(side.window[1] for side in sides if side is not None))
    found = _levels(sides, scale, aligned.axis)
    lost = [side is not None and lost_place(side, kind) is not None for side in sides]
    told = [_told(side, level, scale, is_lost)
            for side, level, is_lost in zip(sides, found, lost, strict=True)]  # fmt: skip
    points = tuple(0 if level is None else len(level.place) for level in found)
    shared = tuple(0 if s is None else int(np.isfinite(s.shared[1]).sum()) for s in sides)
    change = MetricChange(
        name=pair.name,
        role=pair.role,
        axis=aligned.axis,
        window=aligned.window,
        before=told[0],
        after=told[1],
        points=(points[0], points[1]),
        smaller_is_better=is_smaller,
    )
    both = (shared[0], shared[1])
    first, second = found
    if any(lost) or first is None or second is None:
        place = _parts(aligned, is_shown=any(lost)) if in_depth else None
        change = change.model_copy(update={"parts_at": place})
        return Measured(pair, aligned, change, shared=both)
    return _compared(Measured(pair, aligned, change, shared=both), first, second, in_depth)


def _compared(half: Measured, first: Level, second: Level, in_depth: bool) -> Measured:
    """Add what takes two numbers."""
    before, after = first.value, second.value
    is_enough = min(half.change.points) >= ENOUGH
    relative: list[float | None] = [_share(after - before, before)]
    absolute: list[float | None] = [_share(after - before, max(abs(before), abs(after)), 0.0)]
    is_absolute = relative[0] is None
    is_shown = False
    if is_enough and in_depth:
        drawn = resample(first, second)
        difference = drawn.after - drawn.before
        low, high = _quantiles(difference)
        is_shown = low > 0 or high < 0
        larger = max(abs(before), abs(after))
        absolute += [_share(low, larger, 0.0), _share(high, larger, 0.0)]
        if _is_near_zero(drawn.before, before):
            # Its interval means nothing then; the change does if no value has the other sign.
            is_absolute = True
            relative = relative if _is_of_one_sign(half.aligned.before) else [None]
        elif not is_absolute:
            relative += [*_finite(_quantiles(difference / np.abs(drawn.before)))]
    spread = float(np.sqrt((first.spread**2 + second.spread**2) / 2))
    has_spread = spread > 0 and min(half.change.points) >= 3
    missing = 0 if is_enough else max(1, 2 * ENOUGH - min(half.shared))
    padded = [*relative, None, None]
    change = half.change.model_copy(
        update={
            "change": padded[0],
            "low": padded[1],
            "high": padded[2],
            "effect": _share(after - before, spread) if has_spread else None,
            "needed": missing,
            "parts_at": _parts(half.aligned, is_shown=is_shown) if in_depth else None,
        }
    )
    gain = _gain(absolute if is_absolute else relative, is_absolute, change.smaller_is_better)
    if gain is not None and is_enough:
        whole = max(abs(before), abs(after)) if is_absolute else abs(before)
        gain = replace(gain, gap=_gap(half, whole))
    return Measured(half.pair, half.aligned, change, gain, half.shared)


def _gain(found: list[float | None], is_absolute: bool, is_smaller: bool | None) -> Gain | None:
    value, low, high = [*found, None, None][:3]
    if is_smaller is None or value is None:
        return None
    if low is None or high is None:
        return Gain(-value if is_smaller else value, None, None, is_absolute)
    ends = (-high, -low) if is_smaller else (low, high)
    return Gain(-value if is_smaller else value, *ends, is_absolute)


def _gap(half: Measured, whole: float) -> float:
    """How far all values after are from all values before, if they are better, as a share."""
    before, after, is_smaller = (
        half.aligned.before,
        half.aligned.after,
        half.change.smaller_is_better,
    )
    assert before is not None
    assert after is not None
    scale = scale_of(before.window[1], after.window[1])
    first, second = ((y[np.isfinite(y)] / scale) for _, y in (before.window, after.window))
    apart = first.min() - second.max() if is_smaller else second.min() - first.max()
    return max(0.0, _share(float(apart), whole, 0.0) or 0.0)


def _parts(aligned: Aligned, *, is_shown: bool) -> float | None:
    before, after = aligned.before, aligned.after
    if before is None or after is None or aligned.axis == "final":
        return None
    return parting(before, after, is_shown=is_shown)


def _levels(
    sides: tuple[Side | None, Side | None], scale: float, axis: str
) -> tuple[Level | None, Level | None]:
    windows = [None if side is None else side.window for side in sides]
    middles = [float(x[np.isfinite(y)].mean()) for x, y in filter(None, windows)
               if np.isfinite(y).any()]  # fmt: skip
    at = sum(middles) / len(middles) if len(middles) == 2 and axis != "final" else None
    first, second = (None if w is None else level_of(w[0], w[1] / scale, at) for w in windows)
    return first, second


def _told(side: Side | None, level: Level | None, scale: float, is_lost: bool) -> float | None:
    if side is None or not len(side.window[1]):
        return None
    if is_lost or level is None:
        last = float(side.y[side.high - 1])
        return float("nan") if np.isfinite(last) else last
    return level.value * scale


def _share(part: float, whole: float, of_nothing: float | None = None) -> float | None:
    if whole == 0:
        return of_nothing
    share = part / abs(whole)
    return float(share) if np.isfinite(share) else None


def _quantiles(drawn: Floats) -> tuple[float, float]:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def _finite(ends: tuple[float, float]) -> tuple[float | None, float | None]:
    return ends if np.isfinite(ends).all() else (None, None)


def _is_near_zero(drawn: Floats, level: float) -> bool:
    return level == 0 or float(np.mean(drawn * np.sign(level) <= 0)) > _EITHER_SIGN


def _is_of_one_sign(side: Side | None) -> bool:
    values = np.empty(0) if side is None else side.window[1]
    values = values[np.isfinite(values)]
    return bool((values > 0).all() or (values < 0).all())


def _tail(bad: np.ndarray) -> int:
    """How many values at the end are bad."""
    good = np.flatnonzero(~bad)
    return len(bad) - (int(good[-1]) + 1 if len(good) else 0)


def _best(side: Side | None, is_smaller: bool | None) -> float | None:
    if side is None or is_smaller is None:
        return None
    finite = side.y[np.isfinite(side.y)]
    if not len(finite):
        return None
    return float(finite.min() if is_smaller else finite.max())
