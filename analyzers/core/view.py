"""The view of a run that analyzers get: one curve per role, facts, events, settings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mltd.runs.event import Event, EventKind
from mltd.runs.job_word import speaking_job
from mltd.runs.roles import normalise
from mltd.runs.run import Run, SourceFile
from mltd.runs.schedulers.job import Job
from mltd.runs.series import Series
from mltd.runs.state import RunState
from mltd.runs.summary import run_state

from .curve import Curve
from .facts import Facts, gather
from .finding import Evidence, EvidenceKind
from .settings_lookup import Settings
from .sightings import Sightings

_PLAIN_WORDS = frozenset(
    {
        "train",
        "training",
        "tr",
        "val",
        "valid",
        "validation",
        "eval",
        "evaluation",
        "dev",
        "test",
        "loss",
        "total",
        "lm",
        "avg",
        "average",
        "mean",
        "running",
        "step",
        "epoch",
        "batch",
        "grad",
        "norm",
        "gradient",
        "global",
        "lr",
        "learning",
        "rate",
        "accuracy",
        "acc",
        "top1",
        "ce",
        "nll",
        "cross",
        "entropy",
        "overall",
        "all",
        "gnorm",
        "main",
        "mlm",
        "model",
        "smoothed",
        "smooth",
    }
)
"""Words in a name that do not make it a part of something larger."""


_STAND_INS = {
    "train/loss": "regression_error",
    "val/loss": "val/regression_error",
    "test/loss": "test/regression_error",
}
"""What is minimised where no loss is logged: the error of a regression."""
_BAR = " (progress)"
_PERCENT = " (%)"
_MOST_PERCENT = 100.0
MOST_JUDGED = 4_096
"""Series that are judged; each takes a fraction of a millisecond, at every verdict."""
LEAST_TESTS = 3
"""Tests in one training from which on they are its validation."""


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event and the file that reports it."""

    source: SourceFile
    event: Event

    @property
    def text(self) -> str:
        """Everything that it says."""
        return self.event.text or self.event.title

    def evidence(self, quote: str = "", line: int | None = None) -> Evidence:
        """The event as evidence: file and line, and what stands there."""
        name = self.source.path.rpartition("/")[2] or self.source.path
        shown = (quote or self.event.title).strip()
        return Evidence(EvidenceKind.LOG, f"{name}:{line or self.event.line}", shown[:300])


class RunView:
    """Everything analyzers may look at. Made once per run; `update` follows its growth."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._curves: dict[int, Curve] = {}
        self._series: list[Series] = []
        self._shares: dict[str, Series] = {}
        """Percentages by name, the first one where several files have it."""
        self.layer_series: list[Series] = []
        """Metrics of single layers, as a probe records them; `recording` puts them in order."""
        self._measures: list[Curve] | None = None
        self.is_partial = False
        """There are so many series that not all of them are judged."""
        self._primary: dict[str, Series | None] = {}
        self._state: tuple[RunState, str] | None = None
        self.moment: float | None = None
        """Seconds since the epoch for which the run's state is judged; None: now."""
        self.sightings = Sightings()
        self.update()

    def update(self) -> None:
        """Take in what the run has gained since the last time."""
        everything = self.run.series
        # A layer may be called anything: rules that go by names must not meet it.
        self._series = _most_telling([series for series in everything if not series.layer])
        shares = (s for s in self._series if s.name.endswith(_PERCENT) and len(s))
        self._shares = {series.name: series for series in reversed([*shares])}
        self._measures = None
        self.layer_series = [series for series in everything if series.layer]
        self.is_partial = len(self._series) + len(self.layer_series) < len(everything)
        alive = {id(series) for series in (*self._series, *self.layer_series)}
        self._curves = {key: curve for key, curve in self._curves.items() if key in alive}
        for curve in self._curves.values():
            curve.update()
        self._primary.clear()
        self._state = None
        self.__dict__.pop("facts", None)
        self.__dict__.pop("events", None)
        self.__dict__.pop("job", None)
        if self.run.job is not None:
            self.sightings.note(self.run)
        self.__dict__.pop("settings", None)

    # -- curves ---------------------------------------------------------------------------

    def curve_of(self, series: Series) -> Curve:
        """The curve of a series; the same one each time."""
        curve = self._curves.get(id(series))
        if curve is None or curve.series is not series:
            repeats = series.name.endswith(_BAR) and _is_measured_seldom(series)
            curve = self._curves[id(series)] = Curve(series, only_changes=repeats)
            curve.update()
        return curve

    def curve(self, role: str) -> Curve | None:
        """The curve that stands for a role: the total rather than a part, and the fullest."""
        if role not in self._primary:
            self._primary[role] = min(self._in_role(role), key=preference, default=None)
        series = self._primary[role]
        return None if series is None else self.curve_of(series)

    def curves(self, role: str) -> list[Curve]:
        """All curves of a role, the primary one first."""
        return [self.curve_of(series) for series in sorted(self._in_role(role), key=preference)]

    def _in_role(self, role: str) -> list[Series]:
        """The series of a role; where nothing is called validation, a test during training is.

        Validation that is counted like the training goes before one in other units (a summary by
        epochs beside a log by steps): rules compare their places.
        """
        found = [s for s in self._series if s.role == role and len(s)]
        if role.endswith("/accuracy"):
            found = [self._as_share(series) for series in found]
        if not found and role in _STAND_INS and not self._has_loss:
            found = [s for s in self._series if s.role == _STAND_INS[role] and len(s)]
        if not role.startswith("val/"):
            return found
        train = self.curve("train/loss")
        axis = train.axis_name if train is not None else None
        alike = [s for s in found if axis is None or s.axis_name == axis]
        if alike:
            return alike
        instead = role.replace("val/", "test/", 1)
        # A single test at the end is no validation.
        tests = [s for s in self._series if s.role == instead and len(s) >= LEAST_TESTS]
        if role.endswith("/accuracy"):
            tests = [self._as_share(series) for series in tests]
        return [s for s in tests if axis is None or s.axis_name == axis] or found or tests

    def _as_share(self, series: Series) -> Series:
        """`Accuracy: 239/400 (60%)` counts first: the share in parentheses is the accuracy."""
        if float(np.nanmax(series.values, initial=0.0)) <= _MOST_PERCENT:
            return series
        return self._shares.get(f"{series.name}{_PERCENT}", series)

    @property
    def _has_loss(self) -> bool:
        """Whether a training loss is logged under its own name."""
        return any(s.role == "train/loss" and len(s) for s in self._series)

    def named(self, *words: str) -> Iterator[Curve]:
        """Curves, of any role, whose name contains all these words."""
        for series in self._series:
            if len(series) and set(words) <= set(normalise(series.name).split()):
                yield self.curve_of(series)

    @property
    def series(self) -> list[Series]:
        """All metrics of the run but those of a recording's single layers."""
        return self._series

    def all_curves(self) -> Iterator[Curve]:
        """A curve for each metric that is not an axis."""
        if self._measures is None:
            self._measures = [
                self.curve_of(series)
                for series in self._series
                if len(series) and not (series.role or "").startswith("axis/")
            ]
        return iter(self._measures)

    # -- the rest -------------------------------------------------------------------------

    @cached_property
    def facts(self) -> Facts:
        """The guards: what must be known about the log before anything is judged."""
        return gather(self)

    @cached_property
    def events(self) -> list[PlacedEvent]:
        """All events, file by file in the order of their lines, then the end of the job."""
        from .job_event import job_events

        found = [PlacedEvent(source, event) for source, event in self.run.events]
        return [*found, *job_events(self.run, self.job)] if self.job is not None else found

    @cached_property
    def job(self) -> Job | None:
        """What the scheduler says about the job that wrote this log."""
        return speaking_job(self.run)

    def events_of(self, *kinds: EventKind) -> list[PlacedEvent]:
        """Events of some kinds."""
        return [placed for placed in self.events if placed.event.kind in kinds]

    @cached_property
    def settings(self) -> Settings:
        """The run's settings, by meaning."""
        return Settings(self.run.config)

    @property
    def state(self) -> RunState:
        """Whether the run goes on."""
        return self._judged()[0]

    @property
    def state_reason(self) -> str:
        """Why it is thought to be in that state."""
        return self._judged()[1]

    @property
    def now(self) -> float:
        """Seconds since the epoch for which the run is judged."""
        return self.moment or time.time()

    def _judged(self) -> tuple[RunState, str]:
        if self._state is None:
            self._state = run_state(self.run, self.now)
        return self._state

    @property
    def planned_steps(self) -> float | None:
        """How many steps the run means to make, if it says so."""
        return self.run.totals.get("step") or self.settings.number("max_steps")


def _most_telling(series: list[Series]) -> list[Series]:
    """As many series as are judged, in their order: known ones first, then the longest."""
    if len(series) <= MOST_JUDGED:
        return series
    order = sorted(range(len(series)), key=lambda i: (series[i].role is None, -len(series[i]), i))
    return [series[i] for i in sorted(order[:MOST_JUDGED])]


def preference(series: Series) -> tuple[bool, int, int]:
    """Sort key among series of one role: small is better."""
    words = normalise(series.name.removesuffix(_BAR)).split()
    extra = sum(1 for word in words if word not in _PLAIN_WORDS and not word.isdigit())
    points = len(series)
    if series.name.endswith(_BAR):
        # Redraws between the ends of a bar are worth having where ends are few.
        points = points // 3 if _is_measured_seldom(series) or points < 8 else points // 2
    return (series.rank not in (None, 0), extra, -points)


def _is_measured_seldom(series: Series) -> bool:
    return (series.role or "").startswith(("val/", "test/"))
