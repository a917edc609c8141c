"""One check, and how all of them are done at once: none can break or hold up the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .line import Line, State
from .surroundings import Surroundings

DEADLINE = 2.3
"""Seconds for everything; a person waits for the answer."""


@dataclass(frozen=True, slots=True)
class Check:
    """Something to look at; it may yield lines one by one, and those before a hang count."""

    area: str
    name: str
    look: Callable[[Surroundings], Iterable[Line]]
    may_hang: bool = True
    """False if it touches nothing but memory and the kernel's own tables."""
    late_state: State = State.WARNING
    late_advice: str = "try again when the machine is less busy"


def examine(
    checks: Sequence[Check], surroundings: Surroundings, seconds: float = DEADLINE
) -> list[Line]:
    """The lines of all checks, in their order, when all are done or the time is over."""
    deadline = time.monotonic() + seconds
    works = [_Work(check, surroundings) for check in checks]
    for work in works:
        work.begin()
    return [line for work in works for line in work.result(deadline, seconds)]


class _Work:
    """A check under way, in a thread that may be left behind."""

    def __init__(self, check: Check, surroundings: Surroundings) -> None:
        self._check = check
        self._surroundings = surroundings
        self._lines: list[Line] = []
        self._is_done = threading.Event()

    def begin(self) -> None:
        """Start the thread; where none is to be had, do at once what cannot hang."""
        # Daemons: a look at a dead file server cannot be ended, only left alone.
        thread = threading.Thread(target=self._do, name=self._check.name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if self._check.may_hang:
                self._say(State.PROBLEM, f"was not done: {error}", "raise `ulimit -u`")
                self._is_done.set()
            else:
                self._do()

    def result(self, deadline: float, seconds: float) -> list[Line]:
        """What it found, and whether it is still looking."""
        if not self._is_done.wait(max(0.0, deadline - time.monotonic())):
            late = f"{self._check.name}: no answer within {seconds:.2g} s"
            lines = self._lines.copy()
            lines.append(
                Line(self._check.area, self._check.late_state, late, self._check.late_advice)
            )
            return lines
        return self._lines

    def _do(self) -> None:
        try:
            for line in self._check.look(self._surroundings):
                self._lines.append(line)
        except Exception as error:  # noqa: BLE001 - one broken check must not hide the others
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            self._say(State.PROBLEM, f"failed: {said}", "please report this")
        finally:
            self._is_done.set()

    def _say(self, state: State, what: str, advice: str) -> None:
        fact = f"the check of {self._check.name} {what}"
        self._lines.append(Line(self._check.area, state, fact, advice))
