"""What the screen asks the engine, and what the engine tells the screen.

Plain values only, so that they cross a pipe and so that the screen needs neither numpy nor a
file. Tuples rather than dataclasses, because three dozen of those would cost each start 20 ms.
Times are seconds, moments are seconds since 1970, numbers may be NaN or infinite.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from .consult_protocol import ConsultNews, ConsultWish
from .curve_protocol import (
    CompareRequest,
    Comparison,
    CurveRequest,
    Curves,
    Heat,
    HeatRequest,
    Place,
    PlaceRequest,
)
from .model_protocol import ModelNews, ModelWish

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis

    from .job_row import JobRow

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
    has_gap: bool = False
    """True if lines may be missing."""
    root: str = ""
    """The folder that it must lie in to be shown; empty if the user named the file itself."""


class Link(NamedTuple):
    """How the host is doing that a run is on."""

    host: str
    state: str = "connected"
    """connecting, connected, reconnecting or failed."""
    heard_at: float | None = None
    """When it last answered: nothing shown is newer."""
    message: str = ""
    """What ssh says."""
    hint: str = ""
    retry_at: float | None = None


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
    link: Link | None = None
    """None for a run on this machine."""
    job: JobRow | None = None
    """The job that trains it, if a scheduler knows one."""


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
    is_layer: bool = False
    """It measures a single layer, of which a model may have hundreds."""


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
    job: JobRow | None = None
    is_extra: bool = False
    """Nobody named it: it is here because it is one of the user's jobs."""
    is_gone: bool = False
    """There is no such thing any more, such as tasks that waited together and run now."""


# -- wishes of the screen ------------------------------------------------------------------


class Open(NamedTuple):
    """Find the runs with these names (or below this directory) and follow what is named."""

    names: tuple[str, ...]
    poll_seconds: float | None = None
    is_survey: bool = False
    """Only list what is there; nothing is followed until it is selected."""
    has_jobs: bool = True
    """Also ask the schedulers for the user's jobs."""
    known: tuple[tuple[str, ...], ...] = ()
    """Logs of the runs that an engine before this one knew, by number: they keep their numbers."""


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


class JobsAsked(NamedTuple):
    """The schedulers were asked for the user's jobs; the jobs are in the rows of their runs."""

    asked_at: float | None = None
    """When they gave their last answer; None if they never did."""
    notes: tuple[str, ...] = ()
    """Sentences about what could not be asked."""
    is_asking: bool = False
    """The first answer is still to come."""


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
    | ConsultWish
    | ModelWish
)
News = (
    RunsFound
    | Rows
    | JobsAsked
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
    | ConsultNews
    | ModelNews
    | Pulse
    | Trouble
)
