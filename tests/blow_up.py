"""Tells work that explodes from a machine that is slow."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

MOST_SECONDS = 60.0
"""Of processor time, so that busy neighbours do not count.

What is guarded takes a second at most, so that a machine may be many times slower; what it is
guarded against (a pattern that goes back and forth, a doubled structure) takes minutes to years.
"""


@contextmanager
def no_blow_up(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Fail, and end the work, if it takes more processor time than any machine needs for it."""

    def give_up(*_: object) -> None:
        # No Exception: the code under test may forgive those.
        pytest.fail(f"still at it after {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
