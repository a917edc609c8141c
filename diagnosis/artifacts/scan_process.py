"""The process that searches a file: whatever a pattern does to it, whoever asked goes on.

It is given a descriptor and the wishes as JSON, answers with one line of JSON and ends.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections import deque
from typing import NamedTuple

from mltd.runs.sources.line_scan import (
    Conditions,
    LineMatcher,
    PatternError,
    TooSlow,
    compile_pattern,
)

from .keys import KeyWatch
from .text_blocks import Packing, TooLong, line_text, stretches, text_blocks

BLOCK_SECONDS = 0.5
LINE_SECONDS = 0.1
MOST_SLOW_LINES = 5
_MEMORY_BYTES = 2 << 30
_CPU_SECONDS = 10
_AROUND = 300
"""Characters that are kept before a match far inside a long line."""


class Wishes(NamedTuple):
    """What is searched, and how much of it is told."""

    pattern: str
    most: int
    context: int
    first: int
    """Number of the first line that counts."""
    longest: int
    seconds: float


class _Found(NamedTuple):
    number: int
    text: str
    left_out: int
    is_key: bool
    is_match: bool


class Scan:
    """One search through one file, from its beginning."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self._matcher = LineMatcher(Conditions(find=wishes.pattern))
        self._keys = KeyWatch()
        self._before: deque[_Found] = deque(maxlen=wishes.context)
        self._told: list[_Found] = []
        self._after = 0
        """Lines still to be told because they follow a match."""
        self._matches = 0
        self._number = 0
        self._deadline = time.monotonic() + wishes.seconds

    def run(self, descriptor: int) -> dict[str, object]:
        """What is to be answered."""
        problem = ""
        try:
            for stretch in stretches(text_blocks(descriptor, self._deadline)):
                self._search(stretch.data, stretch.clipped)
        except TooLong:
            problem = "slow" if self._matcher.slow_lines else "time"
        except Packing as packing:
            return {"problem": str(packing)}
        return {
            "lines": self._told,
            "count": self._matches,
            "searched": self._number,
            "slow": self._matcher.slow_lines,
            "stopped": problem,
        }

    def _search(self, data: bytes, clipped: int) -> None:
        count = data.count(b"\n") + (not data.endswith(b"\n"))
        if self._number + count < self._wishes.first - self._wishes.context:
            self._keys.skip(data)
            self._number += count
            return
        arm(BLOCK_SECONDS)
        try:
            offsets = set(self._matcher.matching_lines(data, rearm=self._go_on))
        except TooSlow:
            offsets = set()
        signal.setitimer(signal.ITIMER_REAL, 0)
        is_full = len(self._told) >= self._wishes.most * (2 * self._wishes.context + 1)
        if (not offsets or self._matches >= self._wishes.most or is_full) and not self._after:
            self._pass_over(data, offsets, clipped, count)
            return
        place = 0
        for line in data.removesuffix(b"\n").split(b"\n"):
            self._number += 1
            self._take(line, clipped, place in offsets)
            place += len(line) + 1

    def _go_on(self) -> None:
        """After a line that took too long: try the next one, unless they all do."""
        is_late = time.monotonic() > self._deadline
        if is_late or self._matcher.slow_lines > MOST_SLOW_LINES:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise TooLong
        arm(LINE_SECONDS)

    def _pass_over(self, data: bytes, offsets: set[int], clipped: int, count: int) -> None:
        """Count matches that are not told; remember the last lines if a match may follow."""
        last = self._number + count
        if self._matches < self._wishes.most and self._wishes.context:
            lines = data.removesuffix(b"\n").split(b"\n")[-self._wishes.context :]
            before = data[: len(data) - sum(len(line) + 1 for line in lines)]
            self._keys.skip(before)
            self._number = last - len(lines)
            for line in lines:
                self._number += 1
                self._before.append(self._found(line, clipped, is_match=False))
        else:
            self._keys.skip(data)
        self._number = last
        self._matches += len(offsets)

    def _take(self, line: bytes, clipped: int, is_match: bool) -> None:
        is_match = is_match and self._number >= self._wishes.first
        is_told = is_match and self._matches < self._wishes.most
        self._matches += is_match
        if is_told:
            self._told += [*self._before, self._found(line, clipped, is_match=True)]
            self._before.clear()
            self._after = self._wishes.context
        elif self._after:
            self._told.append(self._found(line, clipped, is_match=False))
            self._after -= 1
        elif self._wishes.context:
            self._before.append(self._found(line, clipped, is_match=False))
        else:
            self._keys.see(line)

    def _found(self, line: bytes, clipped: int, *, is_match: bool) -> _Found:
        is_key = self._keys.see(line)
        text, clipped = line_text(line, clipped)
        longest = self._wishes.longest
        if len(text) > longest:
            start = self._start_of(text) if is_match else 0
            clipped += len(text) - longest
            kept = text[start : start + longest]
            clipped += len(kept) < longest and longest - len(kept)
            text = f"…{kept}" if start else kept
        return _Found(self._number, text, clipped, is_key, is_match)

    def _start_of(self, text: str) -> int:
        """Where to begin with a long line so that its first match is seen."""
        try:
            arm(LINE_SECONDS)
            spans = self._matcher.spans(text)
        except TooSlow:
            spans = []
        signal.setitimer(signal.ITIMER_REAL, 0)
        start, end = spans[0] if spans else (0, 0)
        return max(0, start - _AROUND) if end > self._wishes.longest // 2 else 0


def arm(seconds: float) -> None:
    """Raise `TooSlow` after so long; the engine of regular expressions can be interrupted."""
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def answer(descriptor: int, wishes: Wishes) -> dict[str, object]:
    """Search, or say why that cannot be done."""
    try:
        # Here and not by whoever asks: to compile a pattern may take minutes, too.
        compile_pattern(wishes.pattern)
        return Scan(wishes).run(descriptor)
    except PatternError as problem:
        return {"invalid": str(problem)}
    except MemoryError:
        return {"problem": "needs more memory to be searched than a search may take"}
    except OSError as error:
        return {"problem": f"cannot be read: {os.strerror(error.errno or 0)}"}


def main() -> None:
    """Run with a descriptor and the wishes as JSON."""

    def give_up(_signal: int, _frame: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    found = answer(int(sys.argv[1]), Wishes(*json.loads(sys.argv[2])))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
