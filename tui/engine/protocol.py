"""What the screen asks the engine, and what the engine tells the screen.

Plain values only, so that they cross a pipe and so that the screen needs neither numpy nor a
file. Tuples rather than dataclasses, because three dozen of those would cost each start 20 ms.
Times are seconds, moments are seconds since 1970, numbers may be NaN or infinite.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis

# -- facts about runs ----------------------------------------------------------------------


class LogFile(NamedTuple):
    """One file of a run, and how it is followed."""

    path: str
    format: str = ""
    size: int = 0
    read: int = 0
    """Bytes that the engine has turned into columns."""
    lines: int = 0
    generation: int = 1
    mode: str = ""
    """`inotify`, `poll 1 s`, or empty if it is not followed (yet)."""
    note: str = ""
    modified: float | None = None


class Health(StrEnum):
    """One word for the worst finding of a run."""

    UNKNOWN = "unknown"
    FINE = "fine"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class RunStatus(NamedTuple):
    """How a run is doing, for its header."""

    run: int
    name: str
    state: str = "unknown"
    """running, finished, failed, stalled or unknown."""
    reason: str = ""
    step: float | None = None
    total_steps: float | None = None
    epoch: float | None = None
    total_epochs: float | None = None
    eta_seconds: float | None = None
    interval_seconds: float | None = None
    """Usual time between two records; a log older than a few of these is stale."""
    last_line_at: float | None = None
    """When the newest byte was written."""
    lines_per_second: float = 0.0
    lag_seconds: float = 0.0
    """How far what is judged is behind what is written."""
    share_read: float = 1.0
    """Below 1 while a big log is still being read."""
    thinned: int = 1
    """One row in so many is kept, besides extremes, so that memory stays bounded."""
    health: Health = Health.UNKNOWN
    alarms: int = 0
    """How many findings are as bad as the worst one."""
    files: tuple[LogFile, ...] = ()


class SeriesInfo(NamedTuple):
    """One metric of a run."""

    key: str
    """Unique within the run, and stable while it grows."""
    name: str
    role: str | None
    group: str
    """loss, gradients, rate, throughput, memory, accuracy or other: what is drawn together."""
    axes: tuple[str, ...]
    """The axes it can be drawn over, the best first."""
    points: int
    last: float
    low: float
    high: float
    """Extremes of the finite values; NaN if there are none."""
    nonfinite: int = 0
    unit: str = ""
    rank: int | None = None
    is_primary: bool = False
    """The one that stands for its role."""


class RunRow(NamedTuple):
    """One line of the run picker."""

    run: int
    name: str
    path: str
    state: str = ""
    step: float | None = None
    total_steps: float | None = None
    last_loss: float | None = None
    trend: tuple[float, ...] = ()
    """The loss in a few dozen numbers, NaN where it was not finite."""
    health: Health = Health.UNKNOWN
    headline: str = ""
    """Title of the worst finding, or what is wrong with the files."""
    modified: float | None = None
    is_open: bool = False
    epoch: float | None = None
    total_epochs: float | None = None
    logs: tuple[str, ...] = ()
    """Absolute paths of a few of its logs: what tells it from others in the same folder."""


# -- curves --------------------------------------------------------------------------------


_NO_NUMBERS: array[float] = array("d")


@dataclass(frozen=True, slots=True)
class CurvePass:
    """Buckets of one pass over the axis, left to right; a restarted run makes several."""

    x: array[float] = field(default_factory=lambda: array("d"))
    low: array[float] = field(default_factory=lambda: array("d"))
    high: array[float] = field(default_factory=lambda: array("d"))
    mean: array[float] = field(default_factory=lambda: array("d"))
    """Extremes and mean of the finite values; NaN if the bucket has none."""
    count: array[int] = field(default_factory=lambda: array("q"))
    bad: array[int] = field(default_factory=lambda: array("q"))
    """How many values are NaN or infinite."""


class Curve(NamedTuple):
    """One metric over the wished range, in at most as many buckets as were asked for."""

    run: int
    key: str
    name: str
    role: str | None
    passes: tuple[CurvePass, ...]
    points: int
    """Points in the range, before they were put into buckets."""


class MarkKind(StrEnum):
    """What a mark on a curve stands for."""

    FINDING = "finding"
    RESTART = "restart"
    CHECKPOINT = "checkpoint"
    RATE = "rate"
    ERROR = "error"


class Mark(NamedTuple):
    """Something that happened at a place of the axis."""

    x: float
    kind: MarkKind
    label: str
    severity: str = "info"
    path: str = ""
    line: int = 0
    """Where the log says so; 0 if it does not."""


class CurveRequest(NamedTuple):
    """Metrics of one or several runs over a stretch of an axis."""

    ticket: int
    series: tuple[tuple[int, str], ...]
    """Run and key of each metric."""
    axis: str = "step"
    """step, epoch, time, tokens, samples or index."""
    low: float | None = None
    high: float | None = None
    buckets: int = 200


class Curves(NamedTuple):
    """The answer to a `CurveRequest`; sent again whenever the curves grew."""

    ticket: int
    axis: str
    extent: tuple[float, float] | None
    """The whole axis that the metrics cover; None if they have no point."""
    curves: tuple[Curve, ...] = ()
    marks: tuple[Mark, ...] = ()


class HeatRequest(NamedTuple):
    """Norms per layer over a stretch of steps."""

    ticket: int
    run: int
    columns: int
    low: float | None = None
    high: float | None = None


class Heat(NamedTuple):
    """Layers x steps; `cells[layer][column]` is the mean norm there, NaN if there is none."""

    ticket: int
    layers: tuple[str, ...] = ()
    columns: array[float] = _NO_NUMBERS
    """Step at the middle of each column."""
    cells: tuple[array[float], ...] = ()
    bad: tuple[tuple[int, int], ...] = ()
    """Layer and column of cells that hold a NaN or an infinity."""
    axis: str = "step"


class PlaceRequest(NamedTuple):
    """Which step does a line of a log belong to (`x` empty), or which line a step (`line` 0)?"""

    ticket: int
    run: int
    path: str = ""
    line: int = 0
    x: float | None = None
    axis: str = "step"
    key: str = ""
    """The metric whose line is wanted; any if empty."""


class Place(NamedTuple):
    """The answer to a `PlaceRequest`; what is not known is 0 or None."""

    ticket: int
    run: int
    path: str = ""
    line: int = 0
    x: float | None = None


class CompareRequest(NamedTuple):
    """Two runs side by side."""

    ticket: int
    before: int
    after: int
    experiment: str = ""
    """JSON of the experiment whose criteria decide; empty for the default ones."""
    onset: float | None = None
    """Step by which the incident had shown itself in the run before."""
    is_at_end: bool = False
    """Compare what each run ended with, not what both had reached."""


class CompareRow(NamedTuple):
    """One metric in both runs, over the last stretch that both have reached."""

    name: str
    role: str | None
    axis: str
    at: float | None
    """Place on the axis up to which the values are compared; None if only by their ends."""
    before: float | None
    after: float | None
    before_best: float | None = None
    after_best: float | None = None
    smaller_is_better: bool | None = None
    """None if neither direction is better."""
    start: float | None = None
    """Place from which on values are taken."""
    change: float | None = None
    """Relative: (after - before) / |before|; None if that means nothing."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the relative change; None if there are too few points."""
    effect: float | None = None
    """Difference in units of the noise."""
    parts_at: float | None = None
    """Where the runs begin to differ for good; None if they do not."""
    points: tuple[int, int] = (0, 0)
    """Points of each run over that stretch."""
    needed: int = 0
    """How many more it takes for an interval."""


class Comparison(NamedTuple):
    """The answer to a `CompareRequest`."""

    ticket: int
    before: int
    after: int
    rows: tuple[CompareRow, ...] = ()
    verdict: str = ""
    """JSON of the `BeforeAfter`."""


# -- wishes of the screen ------------------------------------------------------------------


class Open(NamedTuple):
    """Find the runs with these names (or below this directory) and follow what is named."""

    names: tuple[str, ...]
    poll_seconds: float | None = None
    is_survey: bool = False
    """Only list what is there; nothing is followed until it is selected."""


class Select(NamedTuple):
    """This run is being looked at: it is read first and told about in full."""

    run: int


class Survey(NamedTuple):
    """Send a row for every known run, and again when one changes, until `False` comes."""

    is_wanted: bool


class FactsRequest(NamedTuple):
    """Read what a triage asks for from a run."""

    run: int


class ReportRequest(NamedTuple):
    """Write a report of a session, with the curves of the runs as they are now."""

    ticket: int
    session: str
    """JSON of the session."""
    runs: tuple[tuple[str, int], ...]
    """Ids that the session gives to runs, and their numbers here."""
    path: str
    form: str = "full"
    """full, brief or json."""
    is_redacted: bool = False
    may_overwrite: bool = False


# -- news of the engine --------------------------------------------------------------------


class RunsFound(NamedTuple):
    """The runs that there are, in order; their numbers are their places in this list."""

    rows: tuple[RunRow, ...]
    problems: tuple[str, ...] = ()


class Rows(NamedTuple):
    """Newer rows of some runs."""

    rows: tuple[RunRow, ...]


class Grew(NamedTuple):
    """These files changed; told at once, before anything is read from them."""

    paths: tuple[str, ...]


class StatusChanged(NamedTuple):
    """A run's header is out of date."""

    status: RunStatus


class SeriesChanged(NamedTuple):
    """The metrics of a run, those worth looking at first before the others."""

    run: int
    series: tuple[SeriesInfo, ...]
    has_layers: bool = False
    """There are norms per layer for a heat map."""


class Diagnosed(NamedTuple):
    """A new verdict about a run."""

    run: int
    diagnosis: Diagnosis


class Facts(NamedTuple):
    """What a triage asks for, as far as the run itself says it."""

    run: int
    location: str
    """Under which name the run can be opened again."""
    gathered: str
    """JSON of the facts that were read in log and config, and of what there is to see."""
    prints: str = "[]"
    """JSON of how to know the run's files again."""


class Reported(NamedTuple):
    """A report was written, or why not."""

    ticket: int
    path: str = ""
    pictures: tuple[str, ...] = ()
    problem: str = ""


class Pulse(NamedTuple):
    """The engine is alive and has nothing to say."""


class Trouble(NamedTuple):
    """Something went wrong that a user should know; the engine goes on."""

    message: str
    hint: str = ""
    details: str = ""
    """For the log file, such as a traceback."""


Wish = (
    Open
    | Select
    | Survey
    | CurveRequest
    | HeatRequest
    | PlaceRequest
    | CompareRequest
    | FactsRequest
    | ReportRequest
)
News = (
    RunsFound
    | Rows
    | Grew
    | StatusChanged
    | SeriesChanged
    | Diagnosed
    | Curves
    | Heat
    | Place
    | Comparison
    | Facts
    | Reported
    | Pulse
    | Trouble
)
