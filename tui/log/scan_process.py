"""The process that searches a log: whatever a pattern does to it, the screen stays alive.

It is given a descriptor to read from, takes commands as lines of JSON on its standard input and
answers with frames on its standard output. It ends when its standard input does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import sys
from array import array
from collections.abc import Iterator
from typing import Any

from mltd.runs.sources.line_scan import Conditions, LineMatcher, TooSlow

FRAME = struct.Struct("<BII")
"""Kind, ticket, and length of what follows."""
PLACES = struct.Struct("<QQ")
HITS, DONE, SPANS = 1, 2, 3
BLOCK_BYTES = 1 << 20
LINE_BYTES = 64 << 10
BEFORE_BYTES = 16 << 10
BLOCK_SECONDS = 1.0
LINE_SECONDS = 0.2
MOST_SLOW_LINES = 20


def blocks(start: int, end: int, near: int) -> Iterator[tuple[int, int]]:
    """Cut a stretch into blocks, the nearest to a place first."""
    count = -(-(end - start) // BLOCK_BYTES)
    middle = min(max(0, (near - start) // BLOCK_BYTES), max(0, count - 1))
    for distance in range(count):
        for block in {middle + distance, middle - distance}:
            if 0 <= block < count:
                low = start + block * BLOCK_BYTES
                yield low, min(low + BLOCK_BYTES, end)


class Scan:
    """One search through one file, block by block."""

    def __init__(self, descriptor: int, text_start: int, conditions: Conditions) -> None:
        self._descriptor = descriptor
        self._text_start = text_start
        self._matcher = LineMatcher(conditions)
        self._todo: Iterator[tuple[int, int]] = iter(())
        self._start = self._end = text_start
        self.is_busy = False

    def begin(self, end: int, near: int) -> None:
        """Search from where the last search ended, its last line included, to a new end."""
        low = max(self._text_start, self._end - BLOCK_BYTES)
        data = os.pread(self._descriptor, self._end - low, low)
        self._start, self._end = low + data.rfind(b"\n") + 1, end
        self._todo = blocks(self._start, end, near)
        self.is_busy = True

    def step(self) -> bytes:
        """Search the next block, and say what was found as a frame."""
        block = next(self._todo, None)
        if block is None or self._matcher.slow_lines > MOST_SLOW_LINES:
            self.is_busy = False
            slow = self._matcher.slow_lines
            return frame(DONE, 0, PLACES.pack(slow, slow > MOST_SLOW_LINES))
        low, high = block
        try:
            offsets = self._search(low, high)
        except TooSlow:
            offsets = array("Q")
        signal.setitimer(signal.ITIMER_REAL, 0)
        return frame(HITS, 0, PLACES.pack(low, high) + offsets.tobytes())

    def spans(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        """Where the pattern matches in each text; nothing where that takes too long."""
        found: list[list[tuple[int, int]]] = []
        for text in texts:
            try:
                arm(LINE_SECONDS / 4)
                found.append(self._matcher.spans(text))
            except TooSlow:
                found.append([])
        signal.setitimer(signal.ITIMER_REAL, 0)
        return found

    def _search(self, low: int, high: int) -> array[int]:
        """Offsets of the matching lines that begin in a stretch."""
        first = max(self._text_start, low - BEFORE_BYTES)
        data = os.pread(self._descriptor, high - first, first)
        skipped = low - first
        if low > self._start:
            # The line under way at the beginning belongs to the block before.
            skipped = data.find(b"\n", skipped - 1) + 1
        if first + skipped >= high or (low > self._start and not skipped):
            return array("Q")
        if not data.endswith(b"\n"):
            rest = os.pread(self._descriptor, min(LINE_BYTES, self._end - high), high)
            data += rest[: rest.find(b"\n") + 1 or None]
        self._matcher.begin(data[:skipped])
        arm(BLOCK_SECONDS)
        hits = self._matcher.matching_lines(data[skipped:], rearm=lambda: arm(LINE_SECONDS))
        return array("Q", (first + skipped + hit for hit in hits))


def frame(kind: int, ticket: int, payload: bytes) -> bytes:
    """A message to the screen."""
    return FRAME.pack(kind, ticket, len(payload)) + payload


def arm(seconds: float) -> None:
    """Raise `TooSlow` after so long; the engine of regular expressions can be interrupted."""
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def obey(scan: Scan, command: dict[str, Any]) -> bytes:
    """Do what one line of the standard input asks."""
    if command["do"] == "scan":
        scan.begin(command["end"], command["near"])
        return b""
    answer = json.dumps(scan.spans(command["texts"])).encode()
    return frame(SPANS, command["ticket"], answer)


def serve(scan: Scan) -> None:
    """Search, and answer between two blocks, until nobody asks any more."""
    waiting = b""
    while True:
        if select.select([0], [], [], 0 if scan.is_busy else None)[0]:
            data = os.read(0, 1 << 16)
            if not data:
                return
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                send(obey(scan, json.loads(line)))
        elif scan.is_busy:
            send(scan.step())


def send(data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    """Run with a descriptor, where its text begins, and the conditions as JSON."""

    def give_up(_signal: int, _frame: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    with contextlib.suppress(BrokenPipeError):
        conditions = Conditions(*json.loads(sys.argv[3]))
        serve(Scan(int(sys.argv[1]), int(sys.argv[2]), conditions))


if __name__ == "__main__":
    main()
