"""Do this machine and its file servers agree on the time? All ages on screen depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...wording import duration
from ..line import Line, State

AREA = "clock"
TOLERANCE = 2.0
"""Seconds; some file systems keep times to the second, FAT to two."""
_ADVICE = "ask those who run the machines for NTP; ages on screen are off by as much"

_line = partial(Line, AREA)


def skew(before: float, stamp: float, after: float) -> Line:
    """Compare the time that a file got with that of this machine before and after."""
    if stamp > after + TOLERANCE:
        return _line(
            State.WARNING, f"the file server is {duration(stamp - after)} ahead of us", _ADVICE
        )
    if stamp < before - TOLERANCE:
        return _line(
            State.WARNING, f"the file server is {duration(before - stamp)} behind us", _ADVICE
        )
    return _line(State.OK, "this machine and the file system of the state directory agree")


def from_the_future(name: str, changed: float, now: float) -> Iterator[Line]:
    """A line if a file claims to have been changed later than now."""
    if changed > now + TOLERANCE:
        yield _line(
            State.WARNING, f"{name} was changed {duration(changed - now)} in the future", _ADVICE
        )
