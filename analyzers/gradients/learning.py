"""What the loss did, as far as gradients are judged by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.curve import Curve
from ..core.view import RunView
from .calm import median

MOST = 4096
"""Points at either end that are looked at."""
FLAT = 0.9
"""A loss that keeps more than this share of its first value has not been learned from."""


@dataclass(frozen=True, slots=True)
class Learning:
    """How far a loss has come."""

    curve: Curve
    first: float
    best: float
    last: float
    is_broken: bool
    """Its last values are not finite."""
    chance: float | None = None
    """The loss of a guess, where the number of classes is known."""

    @property
    def is_flat(self) -> bool:
        """Still about where it began, or no better than a guess."""
        if self.is_broken or not self.first > 0:
            return False
        return self.is_at_chance or (self.last > FLAT * self.first and self.best > 0.8 * self.first)

    @property
    def is_at_chance(self) -> bool:
        """As good as a guess, however high it began."""
        if self.chance is None:
            return False
        return 0.93 * self.chance < self.last < 1.5 * self.chance and self.best > 0.8 * self.chance

    @property
    def has_learned(self) -> bool:
        """Well below where it began."""
        return self.first > 0 and self.last < 0.7 * self.first and not self.is_at_chance

    @property
    def is_better(self) -> bool:
        """Well below its very first value, too: a loss that jumped at once has come down again."""
        return self.has_learned and not self.last > 0.7 * abs(float(self.curve.y[0]))

    @property
    def fall(self) -> float:
        """From the beginning to the best."""
        return max(0.0, self.first - self.best)


def learning(view: RunView) -> Learning | None:
    """The state of the training loss; None without one that is meant to fall."""
    curve = view.curve("train/loss")
    if curve is None or len(curve) < 4 or not view.facts.is_monotone:
        return None
    # However long the run is: a few thousand points have a level.
    head = curve.y[: min(MOST, max(64, len(curve) // 50))]
    tail = curve.y[-min(MOST, max(8, len(curve) // 20)) :]
    finite = head[np.isfinite(head)]
    if len(finite) == 0:
        return None
    _, _, mean, _, _, counts = curve.bins
    means = mean[(counts > 0) & np.isfinite(mean)]
    width = max(1, min(9, len(means) // 20))
    chunks = means[: len(means) // width * width].reshape(-1, width)
    best = float(np.median(chunks, axis=1).min()) if len(chunks) else float("nan")
    return Learning(
        curve,
        first=median(finite[: max(1, min(5, len(finite) // 4 + 1))]),
        best=best,
        last=median(tail),
        is_broken=not np.isfinite(tail[-3:]).any(),
        chance=_chance(view),
    )


def _chance(view: RunView) -> float | None:
    classes = view.settings.number("classes") or view.settings.number("vocab_size")
    return float(np.log(classes)) if classes is not None and 1 < classes < 1e9 else None


@dataclass(frozen=True, slots=True)
class Effect:
    """What became of the loss after something happened to the gradients."""

    before: float
    during: float
    after: float
    is_broken: bool
    rose: bool
    """Clearly above where it was, while it lasted."""
    stays_up: bool
    """Still clearly above afterwards."""

    @property
    def is_damaged(self) -> bool:
        """The loss did not shrug it off."""
        return self.is_broken or self.stays_up


def effect_on_loss(view: RunView, first_step: float, last_step: float) -> Effect | None:
    """Compare the loss before, within and after a stretch of steps."""
    curve = view.curve("train/loss")
    if curve is None or len(curve) < 4:
        return None
    start = int(np.searchsorted(curve.x, first_step, side="left"))
    stop = int(np.searchsorted(curve.x, last_step, side="right"))
    past = curve.y[max(0, start - 32) : start]
    past = past[np.isfinite(past)]
    if len(past) == 0:
        past = curve.y[: start + 1][np.isfinite(curve.y[: start + 1])]
    if len(past) == 0:
        return None
    within = curve.y[start : max(stop, start + 1)]
    later = curve.y[stop : stop + 32]
    before = median(past[-8:])
    begin = median(curve.y[:5])
    moves = np.abs(np.diff(past)) if len(past) > 2 else np.zeros(1)
    spread = max(1.05 * median(moves), 0.01 * abs(before))
    limit = before + max(0.1 * max(0.0, begin - before), 4.0 * spread)
    finite = within[np.isfinite(within)]
    during = float(finite.max()) if len(finite) else before
    after = median(later) if np.isfinite(later).any() else median(within)
    reach = curve.y[start : stop + 32]
    return Effect(
        before=before,
        during=during,
        after=after,
        is_broken=int((~np.isfinite(reach)).sum()) >= min(3, len(reach)) and len(reach) > 0,
        rose=during > limit,
        stays_up=bool(after > limit) if len(later) else during > limit,
    )
