"""How far a run came, how fast, and how much of it no checkpoint holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.roles import normalise

from ..core.finding import Evidence
from ..core.job_event import job_evidence
from ..core.view import PlacedEvent, RunView
from .memo import once_per_update

_RECENT = 512
_CLOCK = re.compile(r"(?:(\d{1,3})-)?(\d{1,4}):(\d{2})(?::(\d{2}))?")
_PER_STEP = re.compile(
    r"(?i)per (?:iter|step|batch)|(?:step|iter|batch)[ _]time|s/it|ms/step|\bdt\b"
)
_MILLI = re.compile(r"(?i)\(ms\)|_ms\b|\bms\b")
_LIMITS = {
    "timeout min": 60.0,
    "time limit": 0.0,
    "timelimit": 0.0,
    "walltime": 0.0,
    "wall time": 0.0,
    "max time": 0.0,
    "slurm time": 0.0,
    "sbatch time": 0.0,
    "max runtime": 0.0,
    "exit duration in mins": 60.0,
    "max runtime in seconds": 1.0,
    "time limit seconds": 1.0,
}
"""Names of time limits, and seconds per unit for plain numbers (0: the text tells)."""


@dataclass(frozen=True, slots=True)
class AtRisk:
    """Work that is lost if the run ends now."""

    last_saved: float | None
    """Step of the last checkpoint, None if none was reported."""
    steps: float
    """Steps since then."""
    saved: PlacedEvent | None = None

    @property
    def shown(self) -> str:
        """For the title of a finding."""
        if self.last_saved is None:
            return "no checkpoint was reported"
        if self.steps <= 0:
            return f"the last checkpoint is of step {self.last_saved:.10g}: nothing is lost"
        return f"{self.steps:.10g} steps since the checkpoint of step {self.last_saved:.10g}"


def last_step(view: RunView) -> float | None:
    """The last step that any file reports."""
    steps = []
    for source in view.run.files:
        column = source.coordinates.axes.get("step")
        if column is not None and len(column):
            tail = column.view()[-_RECENT:]
            known = tail[np.isfinite(tail)]
            if len(known):
                steps.append(float(known[-1]))
    return max(steps, default=None)


@once_per_update
def at_risk(view: RunView) -> AtRisk:
    """What the last checkpoint does not hold."""
    saved = [
        placed
        for placed in view.events_of(EventKind.CHECKPOINT)
        if placed.event.title.startswith("Checkpoint saved") and placed.event.step is not None
    ]
    last = last_step(view)
    if not saved:
        return AtRisk(None, last or 0.0)
    newest = max(saved, key=lambda placed: placed.event.step or 0.0)
    step = newest.event.step or 0.0
    return AtRisk(step, max(0.0, (last if last is not None else step) - step), newest)


@dataclass(frozen=True, slots=True)
class Pace:
    """How the run's clock moves with its steps."""

    seconds_per_step: float
    elapsed: float
    """Seconds between the first and the last timestamp."""
    spread: float = 0.0
    """Relative deviation, where single steps are known."""


@once_per_update
def pace(view: RunView) -> Pace | None:
    """Seconds per step by the log's own timestamps; None if it has none."""
    for source in view.run.files:
        times = source.coordinates.axes.get("time")
        steps = source.coordinates.axes.get("step")
        if times is None or steps is None or len(times) < 4 or len(steps) != len(times):
            continue
        moments, counts = times.view(), steps.view()
        recent = np.isfinite(moments[-_RECENT:]) & np.isfinite(counts[-_RECENT:])
        moment, count = moments[-_RECENT:][recent], counts[-_RECENT:][recent]
        if len(moment) < 4:
            continue
        gone, made = float(moment[-1] - moment[0]), float(count[-1] - count[0])
        first = moments[: min(len(moments), _RECENT)]
        first = first[np.isfinite(first)]
        if gone > 0 and made > 0 and len(first):
            return Pace(gone / made, max(0.0, float(moment[-1] - first[0])))
    return printed_pace(view)


def printed_pace(view: RunView) -> Pace | None:
    """Seconds per step where the log prints them."""
    curve = view.curve("step_time")
    step = last_step(view)
    if curve is None or step is None or len(curve) < 4 or not _PER_STEP.search(curve.name):
        return None
    tail = curve.y[-_RECENT:]
    tail = tail[np.isfinite(tail) & (tail > 0)]
    if not len(tail):
        return None
    is_milli = curve.series.unit == "ms" or bool(_MILLI.search(curve.name))
    seconds = float(np.median(tail)) * (0.001 if is_milli else 1.0)
    if not 0 < seconds < 86_400:
        return None
    stretches = [float(np.median(part)) for part in np.array_split(tail, min(8, len(tail)))]
    spread = float(np.std(stretches)) / max(float(np.mean(stretches)), 1e-12)
    return Pace(seconds, seconds * max(0.0, step), min(spread, 1.0))


def remaining_steps(view: RunView) -> float | None:
    """Steps that the run still means to make."""
    planned, last = view.planned_steps, last_step(view)
    if planned is None or last is None or not np.isfinite(planned):
        return None
    return max(0.0, planned - last)


class Limit(NamedTuple):
    """A time limit, what it is called, and who says so."""

    name: str
    seconds: float
    evidence: Evidence


def time_limit(view: RunView) -> Limit | None:
    """The job's time limit as its scheduler knows it, else as its settings state it."""
    job = view.job
    if job is not None and job.time_limit is not None and np.isfinite(job.time_limit):
        return Limit("--time", job.time_limit, job_evidence(job)) if job.time_limit > 0 else None
    for setting in view.settings:
        path = normalise(setting.path)
        unit = next((u for name, u in _LIMITS.items() if path.endswith(name)), None)
        seconds = _seconds(setting.value, unit) if unit is not None else None
        if seconds is not None and seconds > 0:
            return Limit(setting.path, seconds, setting.evidence)
    return None


def _seconds(value: object, unit: float) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        # Slurm counts a plain number in minutes; a name without a unit may mean anything.
        return float(value) * unit if unit and np.isfinite(value) else None
    found = _CLOCK.fullmatch(str(value).strip())
    if found is None:
        return None
    days, first, second, third = (int(part) if part else 0 for part in found.groups())
    if found[4] is None and found[1] is None:
        return float(first * 60 + second)
    if found[4] is None:
        return float(days * 86_400 + first * 3600 + second * 60)
    return float(days * 86_400 + first * 3600 + second * 60 + third)


def clock(seconds: float) -> str:
    """A duration as Slurm writes it."""
    whole = int(max(0.0, seconds))
    days, rest = divmod(whole, 86_400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def spoken(seconds: float) -> str:
    """A duration in words."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
