"""Falls of a loss scale: from its series, and from the lines that announce each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Evidence
from ..core.view import PlacedEvent, RunView

IN = 20
"""Records within which halvings count as one fall."""
HALVINGS = 3
FAR = 6
"""Halvings within a thousand steps that count however slowly they come."""
LEAST_START = 256.0
_PLAIN = ("scale", "scaler")
FLOOR = 1.0
"""A scale this low no longer lifts small gradients: the scaler has lost."""
SETTLING = 40
"""Overflows at the beginning, while the scaler finds its level: from 2**32 it takes about 20."""
_SCALE = re.compile(
    r"(?:reducing(?: loss scale)? to|setting loss scale to:?|loss scale (?:is )?(?:now|to)|"
    r"scale (?:reduced|decreased) to) ?(?P<scale>[\d.]+(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
MINIMUM = re.compile(
    r"loss scale already at minimum|minimum loss scale reached|"
    r"loss scale\b.{0,40}\b(?:fell|is|dropped|reached|went)\b.{0,20}\b(?:minimum|min_loss_scale)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fall:
    """One collapse: where it began, from what to what."""

    first_step: float | None
    before: float
    after: float
    halvings: int
    goes_on: bool
    """It had not recovered by the end."""
    evidence: tuple[Evidence, ...]

    @property
    def is_at_floor(self) -> bool:
        """True if the scale is of no use any more."""
        return self.after <= FLOOR


def scale_series(view: RunView) -> Curve | None:
    """The loss scale by its name, or a plain `scale` that no other quantity could be.

    Scales of images, of logits and of a distribution are no powers of two from end to end.
    """
    named = view.curve("loss_scale")
    if named is not None:
        return named
    for curve in view.all_curves():
        words = normalise(curve.name).split()
        if curve.series.role is None and words and words[-1] in _PLAIN and _doubles(curve.y):
            return curve
    return None


def _doubles(values: Floats) -> bool:
    """Powers of two, of which the first is as high as a scaler begins."""
    if len(values) < 4 or not values[0] >= LEAST_START:
        return False
    usable = values[np.isfinite(values) & (values > 0)]
    powers = np.log2(usable)
    return len(usable) >= 0.9 * len(values) and bool(np.all(abs(powers - np.rint(powers)) < 1e-4))


def fall_of_series(curve: Curve) -> Fall | None:
    """The first fall of a loss-scale series that is not the scaler finding its level."""
    _, _, _, low, high, counts = curve.bins
    known = (counts > 0) & (low > 0)
    if len(curve) < 4 or known.sum() < 4:
        return None
    low, high, places = low[known], high[known], np.flatnonzero(known)
    steps = max(1.0, curve.spacing) * curve.bin_width
    # The highest of the records just before against the lowest here: a fall within a window.
    quick = _highest_before(high, int(max(1, IN // steps)))
    slow = _highest_before(high, int(min(200, max(2, 1000 // steps))))
    ever = np.maximum.accumulate(high)
    is_fallen = low <= quick * 2.0**-HALVINGS
    is_fallen |= low <= slow * 2.0**-FAR
    is_fallen |= (low <= FLOOR) & (low <= ever * 2.0**-HALVINGS)
    for place in np.flatnonzero(is_fallen)[:256].tolist():
        level = quick[place] if low[place] <= quick[place] / 8 else slow[place]
        level = ever[place] if low[place] > level / 8 else level
        onset = _onset(curve, int(places[place]), float(level))
        if not _is_settling(curve, onset, float(low[place])):
            return _fall(curve, onset)
    return None


def _fall(curve: Curve, onset: int) -> Fall:
    before = float(curve.y[max(0, onset - 1)])
    tail = curve.y[onset:]
    usable = np.where(np.isfinite(tail) & (tail >= 0), tail, np.inf)
    lowest = int(np.argmin(usable))
    finite = usable[np.isfinite(usable)]
    after = float(usable[lowest]) if len(finite) else before
    last = float(finite[-1]) if len(finite) else before
    return Fall(
        first_step=curve.step(onset),
        before=before,
        after=after,
        halvings=_halvings(before, after),
        goes_on=last < before / 4,
        evidence=(curve.evidence(max(0, onset - 1), onset + lowest),),
    )


def _halvings(before: float, after: float) -> int:
    if not (np.isfinite(before) and before > after > 0):
        return 0
    return round(float(np.log2(before) - np.log2(after)))


def _highest_before(high: Floats, window: int) -> Floats:
    padded = np.concatenate([np.full(window, high[0]), high])
    views = np.lib.stride_tricks.sliding_window_view(padded, window + 1)
    most: Floats = views.max(axis=1)
    return most


def _onset(curve: Curve, place: int, level: float) -> int:
    """The first record of the fall: after the last one that still had the old level."""
    stop = min(len(curve), (place + 1) * curve.bin_width)
    full = np.flatnonzero(curve.y[:stop] >= 0.99 * level)
    return min(int(full[-1]) + 1, len(curve) - 1) if len(full) else 0


def _is_settling(curve: Curve, onset: int, low: float) -> bool:
    """The first falls of a run that then holds a useful level."""
    if low <= FLOOR or onset >= max(8, min(SETTLING, len(curve) // 8)):
        return False
    head, later = curve.y[:SETTLING], curve.y[max(SETTLING, len(curve) // 2) :]
    settled = float(np.nanmin(np.append(head, np.inf)))
    return len(later) == 0 or float(np.nanmin(np.append(later, np.inf))) >= settled / 4


def fall_in_messages(view: RunView) -> Fall | None:
    """A fall that OVERFLOW lines announce, where no series shows it."""
    said = [(placed, _scale(placed)) for placed in view.events_of(EventKind.OVERFLOW)]
    events = [(placed, scale) for placed, scale in said if scale is not None]
    if not events:
        return None
    scales = np.array([scale for _, scale in events])
    lowest = int(np.argmin(scales))
    begin = _streak_start(scales, lowest)
    # One halving that ends near 1, and again after the scale had doubled, is the scaler at work.
    is_lost = lowest - begin + 1 >= HALVINGS or scales[lowest] <= FLOOR * 2.0**-HALVINGS
    if not (scales[lowest] <= FLOOR and is_lost):
        if (found := _dense(view, events)) is None:
            return None
        begin, lowest = found
    placed = events[begin][0]
    before = float(scales[begin]) * 2.0
    after = float(scales[lowest])
    count = sum(one.event.count for one, _ in events)
    return Fall(
        first_step=placed.event.step,
        before=before,
        after=after,
        halvings=lowest - begin + 1,
        goes_on=lowest >= len(scales) - 2,
        evidence=(
            placed.evidence(),
            events[lowest][0].evidence(f"{events[lowest][0].event.title} ({count} such lines)"),
        ),
    )


def _scale(placed: PlacedEvent) -> float | None:
    found = _SCALE.search(placed.text) or _SCALE.search(placed.event.title)
    try:
        return float(found["scale"].rstrip(".")) if found is not None else None
    except ValueError:
        return None


def _streak_start(scales: Floats, at: int) -> int:
    while at > 0 and scales[at - 1] > scales[at]:
        at -= 1
    return at


def _dense(view: RunView, events: list[tuple[PlacedEvent, float]]) -> tuple[int, int] | None:
    """Halvings close together in steps, after the run had long found its level."""
    loss = view.curve("train/loss")
    for first in range(len(events)):
        step = events[first][0].event.step
        if step is None or loss is None or len(loss) == 0:
            continue
        before = int(np.searchsorted(loss.x, step))
        if before < SETTLING:
            continue
        last, room = first, IN * max(1.0, min(loss.spacing, 5.0))
        while last + 1 < len(events) and events[last + 1][1] < events[last][1]:
            later = events[last + 1][0].event.step
            if later is None or later - step > room:
                break
            last += 1
        if last - first + 1 >= HALVINGS:
            return first, last
    return None


def minimum_message(view: RunView) -> PlacedEvent | None:
    """The line that says that the scale cannot fall any further."""
    kinds = (EventKind.EXCEPTION, EventKind.ERROR, EventKind.OVERFLOW, EventKind.WARNING)
    for placed in view.events_of(*kinds):
        if MINIMUM.search(placed.event.title) or MINIMUM.search(placed.event.message):
            return placed
    return None
