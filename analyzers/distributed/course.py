"""The course of a run towards its last step (or epoch): how much is left, and how fast it goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.job_word import last_written
from mltd.runs.run import SourceFile

from ..core.view import RunView
from .memo import once_per_update
from .progress import last_step, printed_pace

_ROWS = 65_536
"""Records at the end of a log that are looked at."""
_STRETCHES = 8
_FEWEST = {"step": 8, "epoch": 3}
"""Records with a time stamp from which a pace is known."""
_ONE_PAUSE = 3.0
"""A single stretch that took so many times the usual is a pause that may not come again."""
_FELL = 0.01
"""Of the plan: a counter that falls further was set back by a restart."""
_START_UP = 3.0
"""Most of a job's time so far may have gone into its start."""
STAMPS, PRINTED = "time stamps", "printed step times"
SEEN, JOB = "what was seen of it", "the job's whole time, its start included"


@dataclass(frozen=True, slots=True)
class Course:
    """Where a run stands, and the seconds that it takes for one more step or epoch."""

    axis: str
    first: float
    """Where the newest attempt began, as far as is known."""
    last: float
    rest: float
    """Steps or epochs that are left."""
    seconds: float
    """For one; pauses for evaluations included where the log shows them."""
    spread: float
    """Relative deviation of the recent stretches."""
    fastest: float
    """Seconds for one in the fastest stretch."""
    elapsed: float
    """Seconds over which the pace was measured."""
    by: str
    """What the pace was read from."""

    @property
    def total(self) -> float:
        """Where it is to end."""
        return self.last + self.rest

    @property
    def share(self) -> float:
        """Of the whole plan, what the newest attempt has made."""
        return (self.last - self.first) / self.total if self.total > 0 else 0.0

    @property
    def needed(self) -> float:
        """Seconds for the rest."""
        return self.rest * self.seconds


@once_per_update
def course(view: RunView) -> Course | None:
    """The course by steps, else by epochs; None if the plan or the pace is not known."""
    for axis, planned in (
        ("step", view.planned_steps),
        ("epoch", view.run.totals.get("epoch") or view.settings.number("epochs")),
    ):
        if planned is None or not 0 < planned < 1e15:
            continue
        stamped = (_stamped(source, axis, planned) for source in view.run.files)
        found = next((one for one in stamped if one is not None), None)
        if found is None and axis == "step":
            found = _unstamped(view, planned)
        if found is not None:
            return found
    return None


def _stamped(source: SourceFile, axis: str, planned: float) -> Course | None:
    """By the log's own time stamps."""
    found = _newest_attempt(source, axis, planned)
    if found is None:
        return None
    x, moments = found
    if len(x) < _FEWEST[axis] or moments[-1] <= moments[0]:
        return None
    skipped = min(10, len(x) // 10)  # the first steps compile and fill caches
    later = x >= max(x[skipped], x[-1] - 0.5 * (x[-1] - x[0]))
    if later.sum() < _FEWEST[axis]:
        later = np.arange(len(x)) >= min(skipped, len(x) - _FEWEST[axis])
    near, at = x[later], moments[later]
    count = max(2, min(_STRETCHES, (len(near) - 1) // 2))
    edges = np.linspace(near[0], near[-1], count + 1)
    rates = np.diff(np.interp(edges, near, at)) / np.diff(edges)
    if not (rates > 0).any():
        return None
    seconds, spread = _summary(rates)
    return Course(
        axis=axis,
        first=float(x[0]),
        last=float(x[-1]),
        rest=_rest(float(x[-1]), float(source.coordinates.axes[axis].view()[0]), axis, planned),
        seconds=seconds,
        spread=max(spread, 0.0 if axis == "step" else 0.15),
        fastest=float(rates.min()),
        elapsed=float(at[-1] - at[0]),
        by=STAMPS,
    )


def _newest_attempt(source: SourceFile, axis: str, planned: float) -> tuple[Floats, Floats] | None:
    """Places and moments since the counter was last set back; each place once."""
    rows = source.coordinates
    times, places = rows.axes.get("time"), rows.axes.get(axis)
    if times is None or places is None or not len(rows) or len(times) != len(places):
        return None
    x, moments = places.view()[-_ROWS:], times.view()[-_ROWS:]
    newest = rows.generation.view()[-_ROWS:] == rows.generation.view()[-1]
    known = newest & np.isfinite(x) & np.isfinite(moments) & (np.abs(moments) < 1e13)
    x, moments = x[known], moments[known]
    if len(x) < 2 or not np.isfinite(np.ptp(x)):
        return None
    highest = np.maximum.accumulate(x)
    back = np.flatnonzero((x[1:] < x[:-1]) & (x[1:] < highest[:-1] - _FELL * planned)) + 1
    if len(back):
        x, moments = x[back[-1] :], moments[back[-1] :]
    if (np.diff(moments) < -1.0).any():
        return None  # stamps without a date, or of several clocks
    x = np.maximum.accumulate(x)  # ranks and workers may be a step apart
    is_first = np.concatenate([[True], x[1:] > x[:-1]])
    return x[is_first], np.maximum.accumulate(moments)[is_first]


def _summary(rates: Floats) -> tuple[float, float]:
    """Seconds for one and their relative deviation; a single long pause does not count."""
    usual = float(np.median(rates))
    if len(rates) >= 4 and float(rates.max()) > _ONE_PAUSE * usual > 0:
        rates = np.delete(rates, int(np.argmax(rates)))
    mean = float(np.mean(rates))
    return mean, float(np.std(rates)) / mean if mean > 0 else 1.0


def _rest(last: float, first: float, axis: str, planned: float) -> float:
    """What is left; epochs that are counted from 0 end one before the plan."""
    from_zero = axis == "epoch" and first == 0.0 and last == int(last)
    return max(0.0, planned - last - (1.0 if from_zero else 0.0))


def _unstamped(view: RunView, planned: float) -> Course | None:
    """By what the log prints about its steps, else by how long the job has run."""
    last, speed = last_step(view), printed_pace(view)
    if last is None or not 0 <= last <= planned:
        return None
    rest = planned - last
    first = _first_step(view)
    if speed is not None:
        seconds, spread = speed.seconds_per_step, speed.spread
        return Course("step", first, last, rest, seconds, spread, seconds * (1 - spread),
                      seconds * (last - first), PRINTED)  # fmt: skip
    if (watched := _watched(view)) is not None:
        seconds, spread, fastest, elapsed = watched
        return Course("step", first, last, rest, seconds, spread, fastest, elapsed, SEEN)
    whole = _job_seconds(view)
    if whole is None or last <= first:
        return None
    seconds = whole / (last - first)
    return Course("step", first, last, rest, seconds, 1.0, seconds / _START_UP, whole, JOB)


def _watched(view: RunView) -> tuple[float, float, float, float] | None:
    """Seconds a step, their spread, the fastest, and over how long: from earlier looks at it."""
    seen = np.asarray(view.sightings.seen)
    if len(seen) < _FEWEST["step"]:
        return None
    moments, steps = seen[len(seen) // 2 - 2 :].T
    rates = np.diff(moments) / np.diff(steps)
    parts = np.array_split(rates, min(_STRETCHES, len(rates)))
    _, spread = _summary(np.array([float(np.mean(part)) for part in parts]))
    elapsed = float(moments[-1] - moments[0])
    return elapsed / float(steps[-1] - steps[0]), spread, float(rates.min()), elapsed


def _first_step(view: RunView) -> float:
    """The first step of the newest attempt, as far as the file that counts steps shows it."""
    for source in view.run.files:
        column = source.coordinates.axes.get("step")
        if column is None or not len(column):
            continue
        steps = column.view()[-_ROWS:]
        steps = steps[np.isfinite(steps)]
        if len(steps):
            falls = np.flatnonzero(steps[1:] < steps[:-1])
            first = float(steps[falls[-1] + 1]) if len(falls) else float(steps[0])
            return 0.0 if first <= 1.0 else first
    return 0.0


def _job_seconds(view: RunView) -> float | None:
    """How long the job had run when the log grew last; None if it has run before."""
    job = view.job
    if job is None or job.restarts or job.start is None:
        return None
    written = job.end if job.is_over else last_written(view.run)
    until = written if written is not None else job.asked
    return until - job.start if until is not None and until > job.start else None
