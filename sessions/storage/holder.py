"""Who holds a session, and whether that process still lives."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

BEAT = 15.0
"""Seconds between two signs of life."""
SILENT = 120.0
"""Seconds without one after which a process on another host counts as dead."""


class Holder(NamedTuple):
    """A process on a host, as the lock names it."""

    token: str
    """Unlike any other, even of the same process."""
    host: str = ""
    boot: str = ""
    """Changes whenever the host starts anew."""
    space: str = ""
    """The name space in which the process id counts: containers have their own."""
    pid: int = 0
    started: str = ""
    """When the process began, in ticks since the boot: process ids are used again."""
    user: str = ""
    time: str = ""
    """Since when it holds the session."""

    def __str__(self) -> str:
        """For a message: which process, where, and since when."""
        if not self.pid:
            return "an unknown process"
        since = ""
        with suppress(ValueError, OverflowError, OSError):
            moment = datetime.fromisoformat(self.time).astimezone()
            since = f" (since {moment:%Y-%m-%d %H:%M})"
        return f"pid {self.pid} on {self.host or 'an unknown host'}{since}"

    def as_json(self) -> bytes:
        """The content of a lock."""
        return json.dumps(self._asdict()).encode() + b"\n"


def holder_in(data: bytes, otherwise: str) -> Holder:
    """Who a lock names; nobody in particular if it says nothing sensible."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = None
    token = values.get("token") if isinstance(values, dict) else None
    # It becomes part of the names of files.
    if not isinstance(token, str) or re.fullmatch(r"[0-9A-Za-z-]{1,64}", token) is None:
        return Holder(token=otherwise)
    pid = values.get("pid")
    texts = {
        name: values[name][:200]
        for name in Holder._fields
        if name != "pid" and isinstance(values.get(name), str)
    }
    return Holder(**texts)._replace(pid=pid if type(pid) is int and 0 < pid < 2**31 else 0)


def myself() -> Holder:
    """This process."""
    return Holder(
        token=secrets.token_hex(8),
        host=socket.gethostname(),
        boot=_first_line("/proc/sys/kernel/random/boot_id"),
        space=_link("/proc/self/ns/pid"),
        pid=os.getpid(),
        started=_state(os.getpid())[1],
        user=str(os.geteuid()),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def is_this_process(holder: Holder) -> bool:
    """True if it is ourselves, in another place of the program."""
    me = myself()
    return (holder.host, holder.boot, holder.space, holder.pid, holder.started) == (
        me.host, me.boot, me.space, me.pid, me.started
    )  # fmt: skip


def is_dead(holder: Holder, silence: float, me: Holder) -> bool:
    """True if a process certainly ended, or gave no sign of life for long enough.

    `silence` is in seconds of the clock of the file server: those of two hosts may differ.
    """
    if holder.host != me.host or not holder.pid or not holder.boot:
        return silence > SILENT
    if holder.boot != me.boot:
        return True
    if holder.space != me.space:
        return silence > SILENT
    return not _is_running(holder.pid, holder.started)


def _is_running(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    state, began = _state(pid)
    return state not in _ENDED and (not began or not started or began == started)


_ENDED = ("Z", "X", "x")
"""States of a process that is over, though nobody has asked yet how it ended."""


def _state(pid: int) -> tuple[str, str]:
    """How a process is, and when it began; empty where the system does not tell."""
    # The name of the program comes second, in parentheses, and may hold anything.
    fields = _first_line(f"/proc/{pid}/stat", whole=True).rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")


def _first_line(path: str, *, whole: bool = False) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(4096) if whole else file.readline(4096).strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
