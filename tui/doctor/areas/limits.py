"""Limits of this log-in: processors, memory, open files and processes."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ...wording import count, duration
from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings
from .room import shown

AREA = "limits"
FEW_FILES = 256
"""The app, its engine and a hundred followed logs."""
FEW_PROCESSES = 40
"""The app starts some ten threads in three processes."""
LITTLE_MEMORY = 2**30
SHORT_SECONDS = 3600
SMALL_FILE = 64 * 2**20

_line = partial(Line, AREA)


def processors(_around: Surroundings) -> Iterator[Line]:
    """How many may we use?"""
    ours = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    yield _line(State.OK, f"{count(ours, 'processor')}, load {load:.1f}")


def files(_around: Surroundings) -> Iterator[Line]:
    """Open files, and how long they may get."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < FEW_FILES:
        can = "`ulimit -n 1024`" if hard < 0 or hard >= 1024 else f"`ulimit -n {hard}`"
        yield _line(State.WARNING, f"only {soft} files may be open at a time", can)
    else:
        yield _line(State.OK, f"{_said(soft)} files may be open at a time")
    longest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if 0 <= longest < SMALL_FILE:
        yield _line(
            State.WARNING,
            f"no file may become longer than {shown(longest)}",
            "`ulimit -f unlimited`, else sessions and reports are cut short",
        )


def processes(around: Surroundings) -> Iterator[Line]:
    """Processes and threads, of which this user may have only so many."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    # For root the kernel makes an exception.
    if soft < 0 or os.geteuid() == 0:
        return
    used = threads_of(around.proc, os.geteuid())
    said = f"you run {used} of {soft} processes and threads"
    if soft - used < FEW_PROCESSES:
        yield _line(State.WARNING, f"{said}: few are left", "end some, or `ulimit -u` higher")
    else:
        yield _line(State.OK, said)


def threads_of(proc: Path, user: int) -> int:
    """Threads of all processes of a user on this machine."""
    total = 0
    for process in proc.iterdir():
        if process.name.isdigit():
            try:
                if process.stat().st_uid == user:
                    total += sum(1 for _ in (process / "task").iterdir())
            except OSError:
                continue
    return total


def time_and_memory(around: Surroundings) -> Iterator[Line]:
    """What a log-in node takes away from those who stay long or want much."""
    seconds, _ = resource.getrlimit(resource.RLIMIT_CPU)
    if 0 <= seconds < SHORT_SECONDS:
        yield _line(
            State.WARNING,
            f"the app is killed after {duration(seconds)} of processor time",
            "run it in an interactive job, or `ulimit -t unlimited` if that is allowed",
        )
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    group = memory_of_group(around)
    least = min((value for value in (space, group) if value is not None and value >= 0), default=-1)
    if 0 <= least < LITTLE_MEMORY:
        yield _line(
            State.WARNING,
            f"only {shown(least)} of memory may be used",
            "follow fewer runs at a time, or run it in an interactive job",
        )


def memory_of_group(around: Surroundings) -> int | None:
    """The smallest limit of our control group and those above it; None if there is none."""
    try:
        lines = (around.proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::/")), None)
    if own is None:
        return None
    found = []
    place = around.cgroups / own.lstrip("/")
    while place != around.cgroups and around.cgroups in place.parents:
        # Not limited here (`max`), or not to be seen.
        with contextlib.suppress(OSError, ValueError):
            found.append(int((place / "memory.max").read_text()))
        place = place.parent
    return min(found, default=None)


def _said(limit: int) -> str:
    return "any number of" if limit < 0 else f"{limit:,}"


CHECKS = (
    Check(AREA, "the processors", processors, may_hang=False),
    Check(AREA, "open files", files, may_hang=False),
    Check(AREA, "processes", processes, may_hang=False),
    Check(AREA, "time and memory", time_and_memory, may_hang=False),
)
