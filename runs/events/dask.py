"""What Dask says about its workers: who was lost, and how, in words that do not vary.

The same thing said of many workers is one event with a count, so a title holds no process id;
signals are named, because a polite end (SIGTERM) and a kill must not be counted together.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from ..event import Event, EventKind
from .prefix import rank_of
from .rule import Collected, EventRule, shorten

KILLED = "Dask worker killed by"
EXITED = "Dask worker ended with an error"
OVER_BUDGET = "Dask worker over its memory budget"
SILENT = "Dask worker gave no sign of life"
LOST = "Dask worker removed with results that were needed"
GIVEN_UP = "Dask gave up task"
_DEATH = re.compile(r"(?:killed by (?:signal (\d+)|unknown signal)|exited with status \d+)")
_ADDRESS = re.compile(r"\b((?:tcp|tls|ucx|ucxx|inproc|ws|wss)://[^\s'\",)>;]+)")
_TASK = re.compile(r"\bTask (.{1,200}?) marked as failed")


def collect_dask_worker(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected:
    """The event for one line about a worker."""
    said = match[0]
    title, kind = _read(said)
    rank = rank_of(lines[index])
    event = Event(
        kind,
        shorten(title),
        index + 1,
        text=lines[index].strip()[:20_000],
        last_line=index + 1,
        ranks=() if rank is None else (rank,),
        message=said[:2000],
    )
    return Collected((event,), index + 1)


def _read(said: str) -> tuple[str, EventKind]:
    found = _ADDRESS.search(said)
    where = f": {found[1].rstrip(':.')}" if found else ""
    if death := _DEATH.search(said):
        if death[1] is None:
            is_unknown = "unknown" in death[0]
            return f"{KILLED} an unknown signal" if is_unknown else EXITED, EventKind.ERROR
        name = _signal_name(int(death[1]))
        # Nannies end their workers like this when the cluster is closed or scaled down.
        is_polite = name in ("SIGTERM", "SIGINT", "SIGHUP")
        return f"{KILLED} {name}", EventKind.WARNING if is_polite else EventKind.ERROR
    if "memory budget" in said:
        return f"{OVER_BUDGET}{where}", EventKind.WARNING
    if "failed to heartbeat" in said:
        return f"{SILENT}{where}", EventKind.WARNING
    if task := _TASK.search(said):
        return f"{GIVEN_UP} {task[1]}", EventKind.ERROR
    return f"{LOST}{where}", EventKind.WARNING


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
