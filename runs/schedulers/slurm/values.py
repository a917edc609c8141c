"""Values as Slurm's commands print them, and what they mean; nonsense means nothing (None)."""

from __future__ import annotations

import math
import re
import time

from ..job import JobState

NO_NUMBER = frozenset({2**16 - 2, 2**32 - 2, 2**64 - 2})
"""How Slurm says `not set`: 65534, 4294967294 and so on."""
NO_LIMIT = frozenset({2**16 - 1, 2**32 - 1, 2**64 - 1})
"""How Slurm says `infinite`."""
NOTHING = frozenset({"", "(null)", "n/a", "none", "unknown", "invalid", "not_set", "none assigned"})
_DURATION = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,7})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)([KMGTPE]?)(?:i?B)?([cn]?)")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
_EXIT = re.compile(r"([0-9]{1,5}):([0-9]{1,3})")
_STATE = re.compile(r"\s*([A-Z_]+)\+?(?: by (\S+))?\s*", re.IGNORECASE)
_BASE = (
    JobState.COMPLETED, JobState.FAILED, JobState.TIMEOUT, JobState.DEADLINE,
    JobState.OUT_OF_MEMORY, JobState.PREEMPTED, JobState.NODE_FAIL, JobState.BOOT_FAIL,
    JobState.CANCELLED, JobState.PENDING, JobState.SUSPENDED, JobState.RUNNING,
)  # fmt: skip
_AGAIN = (JobState.REQUEUED, JobState.REQUEUE_HOLD, JobState.REQUEUE_FED, JobState.SPECIAL_EXIT)


def text(value: str | None) -> str | None:
    """The text, or None where it says that there is none."""
    if value is None:
        return None
    value = value.strip()
    return None if value.casefold() in NOTHING else value


def job_name(value: str | None) -> str | None:
    """A name that a user gave: any word goes, also `none`."""
    return (value or "").strip(" \n") or None


def number(value: str | None) -> int | None:
    """A count."""
    value = (value or "").strip()
    if not (value.isascii() and value.isdigit() and len(value) <= 20):
        return None
    count = int(value)
    return None if count in NO_NUMBER or count in NO_LIMIT else count


def duration(value: str | None, *, unit: int = 60) -> float | None:
    """Seconds of `2-03:04:05`, `03:04:05`, `04:05`, `1-02`; a bare number has the given unit."""
    value = (value or "").strip()
    if value.casefold() in ("unlimited", "infinite"):
        return math.inf
    found = _DURATION.fullmatch(value)
    if found is None:
        return None
    days, first, second, third = (None if part is None else int(part) for part in found.groups())
    first = first or 0
    if days is not None:
        return float(days * 86_400 + first * 3600 + (second or 0) * 60 + (third or 0))
    if third is not None:
        return float(first * 3600 + (second or 0) * 60 + third)
    return float(first * unit if second is None else first * 60 + second)


def moment(value: str | None) -> float | None:
    """Seconds since 1970 of `1794851997` or of `2026-11-16T17:59:57`, in local time."""
    value = (value or "").strip()
    if value.isascii() and value.isdigit() and len(value) <= 12:
        return float(value) if int(value) and int(value) not in NO_NUMBER | NO_LIMIT else None
    if _ISO.fullmatch(value) is None:
        return None
    form = "%Y-%m-%dT%H:%M:%S" if value.count(":") == 2 else "%Y-%m-%dT%H:%M"
    try:
        return time.mktime(time.strptime(value, form))
    except (ValueError, OverflowError):
        return None


def size(value: str | None, *, unit: str = "") -> tuple[int | None, str]:
    """Bytes of `4000M`, `2.5G`, `16Gn`, and its last letter: per `c`pu, per `n`ode or neither."""
    found = _SIZE.fullmatch((value or "").strip())
    if found is None:
        return None, ""
    return int(float(found[1]) * _UNITS[found[2] or unit]), found[3]


def resources(value: str | None) -> dict[str, str]:
    """`cpu=4,mem=16G,gres/gpu=2` by name."""
    pairs = (part.partition("=") for part in (value or "").split(","))
    return {name.strip(): amount.strip() for name, sep, amount in pairs if sep and name.strip()}


def exit_status(value: str | None) -> tuple[int | None, int | None]:
    """Exit code and signal of `3:0`; no signal is None."""
    found = _EXIT.fullmatch((value or "").strip())
    return (int(found[1]), int(found[2]) or None) if found else (None, None)


def wait_status(value: int | None) -> tuple[int | None, int | None]:
    """Exit code and signal of what wait() gave, as older versions print it."""
    if value is None or value < 0 or value in NO_NUMBER or value in NO_LIMIT:
        return None, None
    return (value >> 8) & 0xFF, (value & 0x7F) or None


def states(value: str | list[str] | None) -> tuple[JobState, tuple[str, ...], str | None]:
    """State, what else is said about it, and who cancelled: `CANCELLED by 1000`, `["RUNNING"]`."""
    words = value if isinstance(value, list) else (value or "").split(",")
    known: list[JobState] = []
    by = None
    for word in words:
        found = _STATE.fullmatch(word)
        if found is None:
            continue
        by = found[2] or by
        if found[1].upper() in JobState.__members__:
            known.append(JobState(found[1].upper()))
    return (*_main_state(known), by)


def _main_state(known: list[JobState]) -> tuple[JobState, tuple[str, ...]]:
    if not known:
        return JobState.UNKNOWN, ()
    base = next((state for state in known if state in _BASE), None)
    again = next((state for state in known if state in _AGAIN), None)
    main = base or known[0]
    if again is not None and base is not None and base.is_over:
        main = again  # how the attempt ended stays among the flags
    elif base is JobState.RUNNING and JobState.CONFIGURING in known:
        main = JobState.CONFIGURING
    return main, tuple(str(state) for state in known if state is not main)
