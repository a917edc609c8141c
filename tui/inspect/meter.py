"""How far a copy is and how fast it comes, on the last line of a terminal."""

from __future__ import annotations

import sys
import time
from typing import Self

from mltd.analyzers.resources.shortage import shown_bytes

CLEAR = "\r\x1b[K"
_EVERY = 0.2
"""Seconds between two looks."""


class Meter:
    """Says per cent and speed, if stderr is a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._begun = self._said = time.monotonic()
        self._is_shown = sys.stderr.isatty()
        self._has_spoken = False

    def add(self, size: int) -> None:
        """So many bytes have come."""
        self._done += size
        now = time.monotonic()
        if not self._is_shown or now - self._said < _EVERY:
            return
        self._said, self._has_spoken = now, True
        share = self._done / self._total if self._total else 1.0
        speed = f"{shown_bytes(max(0.0, self._done / (now - self._begun)))}/s"
        text = (
            f"mltd-tui: copied {share:.0%} of {shown_bytes(self._total)}, {speed}; Ctrl+C ends it"
        )
        sys.stderr.write(f"{CLEAR}{text}")
        sys.stderr.flush()

    def __enter__(self) -> Self:
        """Measure for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Leave the line as it was."""
        if self._has_spoken:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
