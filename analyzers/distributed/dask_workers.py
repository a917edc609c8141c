"""What the parts of a Dask cluster report about its workers: who was lost, how many, and why.

A worker that dies is started again and its tasks are repeated, so one death is no failure. A
worker that ends politely, at the end of its lifetime or with its cluster, is not counted at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mltd.runs.event import Event, EventKind
from mltd.runs.events.dask import EXITED, GIVEN_UP, KILLED, LOST, OVER_BUDGET, SILENT

from ..core.failure import failure_evidence
from ..core.finding import Evidence
from ..core.view import PlacedEvent, RunView
from .memo import once_per_update
from .verdicts import Ended, statements

MEMORY, TIME, NETWORK = "memory", "time", "network"
"""Why workers were lost, where something says so."""
MANY = 3
"""Deaths from which a cluster does not only have bad luck."""

_KILLED_WORKER = re.compile(
    r"Attempted to run task (?P<task>'[^']{1,200}'|\S+) on \d+ different workers.{0,200}?"
    r"(?:attempt to run the task was (?P<worker>\S+?)\.? |$)",
    re.DOTALL,
)
_OLD_KILLED_WORKER = re.compile(
    r"^\(?'?(?P<task>[^',(]{1,200})'?, <(?:WorkerState|Worker) '?(?P<worker>[^',\s]+)"
)
_NAMED = re.compile(r"name: (?P<name>[^,>]{1,80})")


@dataclass(slots=True)
class Workers:
    """What happened to the workers of a Dask cluster."""

    deaths: int = 0
    over_budget: int = 0
    silent: int = 0
    removed: int = 0
    """Times that results were lost with a worker."""
    tasks: list[str] = field(default_factory=list)
    """Tasks that were given up."""
    last_worker: str = ""
    signals: list[str] = field(default_factory=list)
    events: list[PlacedEvent] = field(default_factory=list)
    """All that says so, in the order of the files."""
    has_ended_by_time: bool = False

    @property
    def lost(self) -> int:
        """How many workers were lost; each is told of by its nanny, by the scheduler or by both."""
        return max(self.deaths, self.over_budget, self.silent)

    @property
    def root(self) -> str:
        """Why, as far as the log tells."""
        if self.over_budget:
            return MEMORY
        if self.has_ended_by_time:
            return TIME
        return NETWORK if self.silent else ""

    @property
    def is_grave(self) -> bool:
        """Work was given up, or workers keep dying."""
        return bool(self.tasks) or self.lost >= MANY


@once_per_update
def workers(view: RunView) -> Workers | None:
    """What is known about lost Dask workers; None if none was lost."""
    found = Workers()
    for placed in view.events_of(EventKind.ERROR, EventKind.WARNING, EventKind.EXCEPTION):
        if _count(found, placed.event):
            found.events.append(placed)
    if not found.events:
        return None
    found.has_ended_by_time = any(s.ended is Ended.TIMEOUT for s in statements(view)) or (
        view.run.job is not None and view.run.job.state.value == "TIMEOUT"
    )
    return found


def _count(found: Workers, event: Event) -> bool:
    """Take in an event; false if it is not about a lost worker."""
    # Without the traceback above it, the exception's line is an error like any other.
    _, is_bare, told = event.text.partition("KilledWorker: ")
    if event.exception or is_bare:
        if event.exception and not event.exception.endswith("KilledWorker"):
            return False
        told = event.message if event.exception else told
        said = _KILLED_WORKER.search(told) or _OLD_KILLED_WORKER.search(told)
        task = said["task"].strip("'\"") if said else ""
        if task and task not in found.tasks:
            found.tasks.append(task)
        found.last_worker = (said["worker"] or "") if said else found.last_worker
        return True
    title, count = event.title, event.count
    if title.startswith((KILLED, EXITED)):
        if event.kind is EventKind.WARNING:
            return False
        found.deaths += count
        found.signals.append(title.removeprefix(KILLED).strip() if KILLED in title else "")
    elif title.startswith(OVER_BUDGET):
        found.over_budget += count
    elif title.startswith(SILENT):
        found.silent += count
    elif title.startswith(GIVEN_UP):
        task = title.removeprefix(GIVEN_UP).strip()
        if task not in found.tasks:
            found.tasks.append(task)
    elif title.startswith(LOST):
        found.removed += count
    else:
        return False
    return True


def worker_named(event: Event) -> str:
    """Address or name of the worker that an event is about; empty if it does not say."""
    if not event.title.startswith((OVER_BUDGET, SILENT, LOST)):
        return ""
    _, separator, address = event.title.partition(": ")
    named = _NAMED.search(event.message)
    if separator and named:
        return f"{named['name']} ({address})"
    return address if separator else ""


def is_shutdown(found: Workers) -> bool:
    """True if only results were lost, as happens when a cluster is closed before its client."""
    return not found.lost and not found.tasks


def sentence(lost: Workers, first: float | None) -> str:
    """What happened, in one line; `first` is the step at which it began."""
    count = lost.lost
    whose = "its" if count == 1 else "their"
    how = {
        MEMORY: f"over {whose} memory budget",
        TIME: f"at the time limit of {whose} job{'' if count == 1 else 's'}",
        NETWORK: "without a sign of life",
    }.get(lost.root, f"by {lost.signals[0]}" if lost.signals and lost.signals[0] else "")
    named = next((n for p in lost.events if (n := worker_named(p.event))), lost.last_worker)
    where = f", the first was {named}" if named and count > 1 else f": {named}" if named else ""
    when = "since" if count > 1 else "at"
    since = f" {when} step {first:.10g}" if first is not None else ""
    many = f"{count} Dask workers were lost" if count != 1 else "a Dask worker was lost"
    if not count:
        many, how = "Dask workers died", ""
        where = f", the last was {named}" if named else ""
    said = " ".join(part for part in (f"{many}{since}", how) if part) + where
    if lost.tasks:
        more = f" and {len(lost.tasks) - 1} more" if len(lost.tasks) > 1 else ""
        said += f"; task {lost.tasks[0]}{more} was given up"
    elif lost.removed:
        often = "once" if lost.removed == 1 else f"{lost.removed} times"
        said += f"; computed results went with them {often}"
    return said


def evidence(lost: Workers) -> tuple[Evidence, ...]:
    """One line of each kind, with how often it is said."""
    shown = []
    for placed in lost.events[:4]:
        told = failure_evidence(placed)
        often = f" ({placed.event.count} times)" if placed.event.count > 1 else ""
        shown.append(Evidence(told.kind, told.ref, f"{told.quote[:270]}{often}"))
    return tuple(dict.fromkeys(shown))
