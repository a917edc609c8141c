"""How much of the kernel's inotify this user has used up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "inotify"
FEW_INSTANCES = 16
"""Each directory with followed logs takes one."""
FEW_WATCHES = 64

_line = partial(Line, AREA)


class Use(NamedTuple):
    """Instances and watches of inotify."""

    instances: int
    watches: int


def limits(proc: Path) -> Use | None:
    """What one user may have; None where the kernel does not say."""
    found = []
    for name in ("instances", "watches"):
        # In a user namespace, as containers have, its own limit holds beside the system's.
        places = (f"fs/inotify/max_user_{name}", f"user/max_inotify_{name}")
        values = [value for place in places if (value := _number(proc / "sys" / place)) is not None]
        if not values:
            return None
        found.append(min(values))
    return Use(*found)


def in_use(proc: Path, user: int) -> Use:
    """What the other processes of a user have, as far as they may be looked at."""
    instances = watches = 0
    for process in proc.iterdir():
        if not process.name.isdigit() or process.name == str(os.getpid()):
            continue
        try:
            if process.stat().st_uid != user:
                continue
            handles = list((process / "fd").iterdir())
        except OSError:
            continue
        for handle in handles:
            try:
                if os.readlink(handle) != "anon_inode:inotify":
                    continue
                details = (process / "fdinfo" / handle.name).read_text()
            except OSError:
                continue
            instances += 1
            watches += details.count("inotify wd:")
    return Use(instances, watches)


def budget(around: Surroundings) -> Iterator[Line]:
    """Is enough left for the app?"""
    limit = limits(around.proc)
    if limit is None:
        yield _line(State.WARNING, "this kernel has no inotify", "nothing: files are polled")
        return
    used = in_use(around.proc, os.geteuid())
    said = (
        f"you use {used.instances} of {limit.instances} instances and"
        f" {used.watches} of {limit.watches} watches"
    )
    if limit.instances - used.instances < FEW_INSTANCES:
        advice = _advice("instances", max(1024, 2 * limit.instances))
        yield _line(State.WARNING, f"{said}: few instances are left", advice)
    elif limit.watches - used.watches < FEW_WATCHES:
        advice = _advice("watches", max(524_288, 2 * limit.watches))
        yield _line(State.WARNING, f"{said}: few watches are left", advice)
    else:
        yield _line(State.OK, said)


def _advice(name: str, number: int) -> str:
    return (
        "close other programs that watch files (editors), or as root:"
        f" `sysctl fs.inotify.max_user_{name}={number}`; until then files are polled"
    )


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


CHECKS = (Check(AREA, "inotify", budget),)
