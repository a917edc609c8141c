"""loss_divergence: the training loss rises and does not come back.

What it sees: the loss of the last windows far above the best that it had reached, more than
    chance and more than a tenth, and still there at the end of the log; a jump and a slow climb
    alike; a loss that was thrown up by the first steps and never came back to its first value.
    Learning-rate cycles and objectives that are not meant to fall are left alone, but for value
    estimates that grow by orders of magnitude while the reward does not; a rise with a stage that
    the log announces is information if the loss comes down again, and so is one with a weight or a
    difficulty that is turned up on purpose if the loss rests where that does, and the few records
    that early stopping waited for.
Why it matters: every further step makes the model worse than the best checkpoint.
Fires on:
    train/loss: 4>1~0.03*300 1>3~0.05*150
    train/loss: 4>1~0.03*300 9 20 80 300 900 2000*60
    train/loss: 4>1~0.03*150 1>2~0.05*30 2>8~0.2*30 8>40~2*30 40>200~8*30 200>1000~40*30
    train/loss: 115 490 470 300 280>180~40*80 170~20*30
    train/loss: 0.01 0.02 0.01>4*8 4>3e5*80 ; q_mean: 0.1 0.3 0.5>80*8 80>9e3*80 ; reward: -0.5*90
    train/loss: 3.76 1.9 0.9 0.5 0.3 0.2 0.16 0.19 0.24 0.31
    train/loss: 38 22 14.7 13.7 14>40*21 ; beta: 0.05>1*10 1*15
Stays quiet:
    train/loss: 4>1~0.03*300 1~0.03*300
    train/loss: 4>1~0.4*400 1~0.4*200
    train/loss: 0.5 1.3 1.1~0.3*120
    train/loss: 38 22 14.7 13.7 14>16.5*7 16.4>15.6*14 ; val_loss: 32 23 20 18 17.5>15.5*21
    train/loss: 0.01 0.02>30*80 ; q_mean: 0.1 0.3>90*80 ; reward: -0.5>9*90
    train/loss: 4>1~0.03*300 9 5 3 2 1.2 1~0.03*200
    train/loss: 1.3 0.36 0.05 0.03 0.02 0.01*10 1.6 0.45 0.27 0.2 0.17 0.15 0.13 0.12 0.11 0.11
Try next: go back to the checkpoint before the onset; lower the learning rate; look at what
    changed at the onset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.excursions import Excursion, backdate
from ..core.facts import Change
from ..core.finding import Basis, Finding, Severity, times
from ..core.hinge import is_raised, rise_begins
from ..core.registry import analyzer
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .levels import FEW, Shape, point_by_point, shape_of
from .resumes import REACH, boundaries
from .reweighted import turned_up
from .runaway_values import runaway_values
from .thrown import thrown_at_start

SOON = 4
"""Points before a resume, or a leap of the rate, in which a rise by chance may seem to begin."""
_FEW_LEAPS = 3
_STEADILY = -0.8
"""Rank correlation with time of a loss that gets lower and lower."""
_EARLY = re.compile(r"(?i)early[ -]?stop|training early|stopped early|signaling trainer to stop")


@analyzer
@dataclass(frozen=True, slots=True)
class LossDivergence:
    """Compares where the loss is with the best that it was."""

    id: ClassVar[str] = "loss_divergence"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ()
    least_rise: float = 0.10
    """Rise over the best level, as a share of it."""
    sure: float = 5.0
    """Rise in errors of a window's level."""
    very_sure: float = 8.0
    """The same for a rise of less than a tenth of what was won."""
    climb: float = 3.0
    """Times the beginning that the end of a loss is whose values go up all along."""
    harder: float = 1.5
    """Times the first loss that a later stage of a curriculum may cost."""
    scatter: float = 1.5
    """Errors of a point by which it may be above the one before by chance."""
    at_once: float = 0.6
    """Share of a rise that one point brings where it is a jump."""
    left: float = 0.15
    """Share of a jump, and of what was won, that may be left where a loss has come back."""
    tiny: float = 0.02
    """Below this share of the first level a run has converged: only absolute rises count."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge the primary loss; of agents, whether their estimates run away."""
        curve = view.curve("train/loss")
        if not view.facts.is_monotone:
            yield from runaway_values(view, self.id)
        if curve is None or curve.is_interleaved or not view.facts.is_monotone:
            return
        shape = shape_of(curve)
        if shape is None:
            return
        each = point_by_point(curve) if shape.points >= FEW else None
        if self._has_risen(view, curve, shape):
            yield self._report(view, curve, shape)
        elif each is not None and self._has_risen(view, curve, each):
            yield self._report(view, curve, each)
        else:
            yield from thrown_at_start(view, curve, shape, self.id)

    def _has_risen(self, view: RunView, curve: Curve, shape: Shape) -> bool:
        levels = shape.levels
        is_short = len(levels) < 8 or shape.points < FEW or len(levels) == shape.points
        # One window may hold a spike that comes back; the middle of three does not.
        now = float(min(levels[-2:]) if is_short else np.median(levels[-3:]))
        reference = min(shape.best, shape.first)
        rise = now - reference
        if rise <= 0:
            return False
        size = max(abs(reference), self.tiny * abs(shape.first))
        if rise < self.least_rise * size or rise < self.tiny * abs(shape.first):
            return False
        if view.facts.is_cyclic and now < shape.first:
            return False
        if self._has_come_back(shape, reference, rise):
            return False
        if _validation_gains(view, curve, shape):
            return False
        if is_short:
            return self._rises_over_epochs(levels, shape)
        if self._climbs(curve, shape):
            return True
        # Losses wander by a little of what they have won; a little must be very clear.
        is_little = rise < 0.1 * shape.fall or now < 1.3 * abs(reference)
        needed = self.very_sure if is_little else self.sure
        # Means over many points hide how much the loss really wanders, and begin anew with an
        # epoch; a clear rise may count if they are shorter than a window.
        slack = 1.0
        if view.facts.is_smoothed(curve):
            slack = 4.0 if is_little or shape.hangs_together else 1.5
        is_sure = shape.errors_of_rise(reference, now) >= slack * needed
        if not is_sure and not _is_apart(levels, reference, now):
            return False
        # A level that was there before for as long is how this loss wanders. What grows without
        # end was far lower a moment before; a rise beyond all that was won counts as that much.
        if _wanders(levels, reference + 0.5 * rise, now - 0.1 * rise):
            return False
        later = levels[shape.best_window :]
        enough = min(rise, max(abs(reference), shape.fall))
        return float(np.median(later[-max(2, len(later) // 3) :])) >= reference + 0.5 * enough

    def _has_come_back(self, shape: Shape, reference: float, rise: float) -> bool:
        """A jump that is nearly over: neither much of it is left, nor much of what was won lost."""
        peak = float(np.max(shape.levels[shape.best_window :]))
        return rise < self.left * min(peak - reference, shape.fall)

    def _climbs(self, curve: Curve, shape: Shape) -> bool:
        """Thrown about so much that no window is sure, yet ever higher all along."""
        _, _, mean, _, _, counts = curve.bins
        values = mean[(counts > 0) & np.isfinite(mean)]
        third = len(values) // 3
        begin, end = float(np.median(values[:third])), float(np.median(values[-third:]))
        is_far = begin > 0 and end > self.climb * max(begin, shape.first)
        return is_far and rank_correlation(values) > 0.6

    def _rises_over_epochs(
        self, levels: np.ndarray[tuple[int], np.dtype[np.float64]], shape: Shape
    ) -> bool:
        """Few points: they must rise one after the other, or stay up by far."""
        after = levels[shape.best_window :]
        if len(after) < 3:
            return False
        before = np.diff(levels[: shape.best_window + 1])
        usual = float(np.max(before, initial=0.0))
        if len(before) < 5:
            # The best came early: how the loss goes up and down shows behind it alone.
            usual = max(usual, self.scatter * shape.error)
        best = float(after[0])
        moves = np.diff(after)
        if np.all(moves[-2:] > 0) and float(after[-1]) >= float(np.max(after)):
            # Two rises in a row come by chance, three hardly ever; either beside those before them.
            in_a_row = len(moves) - int(np.max(np.flatnonzero(moves <= 0), initial=-1)) - 1
            earlier = float(np.max(moves[: len(moves) - in_a_row], initial=usual))
            risen = float(after[-1]) - best
            return risen > 3 * earlier and (in_a_row > 2 or risen > 0.1 * shape.fall)
        above = float(np.min(after[-3:])) - best
        # Near its floor a loss goes up and down by more than it has risen.
        is_much = float(np.median(after[-3:])) - best > 0.1 * shape.fall
        is_clear = is_much or above > float(np.sort(moves)[-2])
        stays_up = len(after) >= 5 and above > 0.5 * abs(best) and is_clear
        if stays_up and above > 3 * usual:
            return True
        # A smaller jump counts if it is at once and nothing since comes near what was before.
        lowest = float(np.min(after[1:])) - best
        is_far = lowest > max(0.2 * shape.fall, 0.15 * abs(best))
        return len(after) >= 8 and is_far and lowest > 4 * usual

    def _report(self, view: RunView, curve: Curve, shape: Shape) -> Finding:
        onset = _at_change(view, curve, self._onset(curve, shape))
        step = curve.step(onset)
        change = self._planned(view, curve, shape, step)
        reference = min(shape.best, shape.first)
        now = shape.last
        factor = now / reference if reference > 0 else np.nan
        is_worthless = now > max(shape.first, 0) or (np.isfinite(factor) and factor >= 2)
        grown = f" ({times(factor)})" if np.isfinite(factor) and factor < 1e6 else ""
        title = (
            f"{curve.name} rose from {reference:.4g} to {now:.4g}{grown} since "
            f"{curve.axis_name} {step:.10g}"
        )
        severity = Severity.CRITICAL if is_worthless else Severity.WARNING
        if change is not None:
            severity = Severity.INFO
            title += f", where {change.what}, and has not risen since"
        elif shape.points < FEW and not is_worthless and _stopped_early(view):
            # The few records that early stopping waits for are how it ends, not how it diverges.
            severity = Severity.INFO
            title += ", which early stopping ended"
        raw = 0.93 if shape.points >= FEW else 0.85
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, raw),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(onset, len(curve) - 1),
                *((change.evidence,) if change is not None else ()),
                *view.facts.remarks(curve),
            ),
            first_step=step,
            details={
                "position": onset,
                "from": reference,
                "to": now,
                "worthless": float(is_worthless),
                "from_start": float(shape.best_window == 0),
            },
        )

    def _planned(self, view: RunView, curve: Curve, shape: Shape, step: float) -> Change | None:
        """The announced change with which it rose, if what came since the last one is learned.

        Harder data cost more, but hardly more than the first ones did at first, and ever less; the
        same holds for a part of the objective that counts for more and more.
        """
        if shape.last > self.harder * max(shape.first, float(curve.y[0])):
            return None
        reference = min(shape.best, shape.first)
        rise = shape.last / reference if reference > 0 else np.inf
        best = float(shape.starts[shape.best_window])
        if (turned := turned_up(view, curve, best, rise)) is not None:
            return turned
        room = 3 * curve.spacing
        change = view.facts.change_near(step, room, room)
        if change is None:
            return None
        last = max(c.step for c in view.facts.changes)
        since = curve.y[int(np.searchsorted(curve.x, last)) :]
        since = since[np.isfinite(since)]
        if len(since) < 8:
            return change
        few = max(2, len(since) // 5)
        begin, end = float(np.median(since[:few])), float(np.median(since[-few:]))
        is_learned = end < 0.95 * begin and rank_correlation(since[-4096:]) < _STEADILY
        return change if end < 0.9 * begin or is_learned else None

    def _onset(self, curve: Curve, shape: Shape) -> int:
        """After the last point at the best level, or where an excursion that never ended began."""
        best_step = float(shape.starts[shape.best_window])
        after = int(np.searchsorted(curve.x, best_step))
        reference = min(shape.best, shape.first)
        near = np.abs(np.diff(curve.y[max(0, after - 64) : after + 8]))
        near = near[np.isfinite(near)]
        usual = 3 * float(np.median(near)) if len(near) else 0.0
        # Where the best is among the first points, the moves behind it are the rise itself.
        usual = min(usual, max(abs(reference), abs(float(curve.y[0]))))
        rise = shape.last - reference
        most = 0.05 if shape.points < FEW else 0.1
        limit = min(max(usual, min(0.05 * rise, 0.25 * abs(reference))), most * rise)
        low = np.flatnonzero(curve.y[after:] <= reference + limit)
        onset = min(after + int(low[-1]) + 1 if len(low) else after, len(curve) - 1)
        for excursion in curve.excursions:
            stays = excursion.end is None or excursion.points > 100
            if after <= excursion.start and stays:
                onset = min(onset, self._foot(curve, excursion, after))
                break
        leap = self._leap(curve, reference, rise, onset)
        return leap if leap is not None else self._turn(curve, shape, after, onset)

    def _leap(self, curve: Curve, reference: float, rise: float, noticed: int) -> int | None:
        """Where most of the rise comes from one point to the next, soon after it was noticed.

        What lies a little above the best before that is how the loss wanders.
        """
        near = curve.y[noticed : noticed + 64]
        if len(near) < 2 or not np.isfinite(near).all() or rise <= 0:
            return None
        moves = np.diff(near)
        at = int(np.argmax(moves)) + 1
        is_one = float(moves[at - 1]) >= self.at_once * rise
        stays = float(np.min(near[at : at + 4])) > reference + 0.5 * rise
        # What grows by factors is low, too, beside its last step.
        is_low = float(np.max(near[:at])) < reference + min(0.3 * rise, 0.3 * abs(reference))
        return noticed + at if is_one and stays and is_low else None

    def _turn(self, curve: Curve, shape: Shape, best: int, noticed: int) -> int:
        """What leaves the noise at one point began to rise before it, unless it jumped there."""
        reference = min(shape.best, shape.first)
        half = 0.5 * (shape.last - reference)
        around = curve.y[max(0, noticed - 8) : noticed], curve.y[noticed : noticed + 8]
        before, behind = (float(np.median(part)) if len(part) else np.nan for part in around)
        later = shape.levels[shape.best_window :]
        high = shape.best_window + int(np.argmax(later >= reference + half))
        ends = shape.starts[min(high + 1, len(shape.starts) - 1)]
        risen = int(np.searchsorted(curve.x, ends))
        if behind - before >= half or risen - best < FEW:
            return noticed
        first = max(0, best - (risen - best) // 2)
        values = curve.y[first:risen]
        scaled = np.log(values) if np.all(values > 0) else values
        turn = rise_begins(scaled)
        if turn is None or not is_raised(scaled[:turn], scaled[turn : noticed - first]):
            return noticed
        return max(first + turn, best)

    def _foot(self, curve: Curve, excursion: Excursion, after: int) -> int:
        """Where an excursion began: a jump at its first point, a climb before it was noticed."""
        soon = curve.y[excursion.start : excursion.start + 8]
        soon = soon[np.isfinite(soon)]
        reached = float(soon.max()) - excursion.baseline if len(soon) else 0.0
        if curve.y[excursion.start] - excursion.baseline >= 0.6 * reached:
            return excursion.start
        return backdate(curve.y, excursion.start, excursion.baseline, excursion.scale, after)


def _validation_gains(view: RunView, curve: Curve, shape: Shape) -> bool:
    """Validation is at its best, and better than when the training loss was at its own."""
    val = view.curve("val/loss")
    if val is None or val.axis_name != curve.axis_name or len(val) < 6:
        return False
    values = val.y[-4096:]
    at = int(np.searchsorted(val.x[-4096:], float(shape.starts[shape.best_window]), side="right"))
    if not 1 <= at <= len(values) - 3 or not np.isfinite(values).all():
        return False
    then, now = float(np.median(values[max(0, at - 2) : at + 1])), float(np.median(values[-3:]))
    is_best = min(now, float(values[-1])) <= 1.02 * float(np.min(values))
    return 0 < now < 0.95 * then and is_best


def _is_apart(levels: Floats, reference: float, now: float) -> bool:
    """Noise that came with the rise does not hide it: nothing since is near what was before."""
    late = levels[-max(5, len(levels) // 3) :]
    rise = now - reference
    was_low = int(np.sum(levels[: -len(late)] < reference + 0.25 * rise))
    is_high = float(np.min(late)) > reference + 0.5 * rise
    return now > 2.0 * abs(reference) and was_low >= 3 and is_high


def _wanders(levels: Floats, middle: float, high: float) -> bool:
    """It was as high again and again between the places where it was low."""
    low = np.flatnonzero(levels < middle)
    if len(low) < 2:
        return False
    between = levels[low[0] : low[-1]]
    return int(np.sum(between >= high)) >= max(3, 0.1 * len(between))


def _stopped_early(view: RunView) -> bool:
    """The run ended itself because nothing got better."""
    ends = view.events_of(EventKind.FINISHED)
    return bool(ends) and _EARLY.search(ends[-1].text) is not None


def _at_change(view: RunView, curve: Curve, onset: int) -> int:
    """The place of a resume, or of a leap of the rate, right behind an onset.

    If nothing before it was out of the usual: then the rise began there.
    """
    usual = curve.y[max(0, onset - REACH) : onset]
    places = [boundary.at for boundary in boundaries(view, curve)]
    for place in (*places, *_rate_leaps(view, curve, onset)):
        if 0 < place - onset <= SOON and len(usual) >= SOON:
            between = curve.y[onset:place]
            return place if float(np.max(between)) <= float(np.max(usual)) else onset
    return onset


def _rate_leaps(view: RunView, curve: Curve, first: int) -> list[int]:
    """Where in the points from `first` on the learning rate was doubled at once, or more."""
    rate = view.curve("lr")
    if rate is None or rate.axis_name != curve.axis_name or len(rate) < FEW:
        return []
    _, _, _, lowest, highest, _ = rate.bins
    bases = np.minimum(lowest, np.concatenate([lowest[:1], lowest[:-1]]))
    # A warm-up, or a rate that is thrown about, is not one.
    if np.count_nonzero((highest > 2.0 * bases) & (bases > 0)) > 2 * _FEW_LEAPS:
        return []
    last = min(first + SOON, len(curve) - 1)
    begin = max(0, int(np.searchsorted(rate.x, curve.x[first])) - 1)
    end = int(np.searchsorted(rate.x, curve.x[last], side="right"))
    rates = rate.y[begin:end]
    leaps = np.flatnonzero((rates[1:] > 2.0 * rates[:-1]) & (rates[:-1] > 0)) + 1 + begin
    return [int(place) for place in np.searchsorted(curve.x, rate.x[leaps])]
