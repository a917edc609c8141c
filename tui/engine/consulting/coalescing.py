"""Pieces of a conversation, sent in letters: each word by itself is too much for a slow link."""

from __future__ import annotations

from collections.abc import Callable

from mltd.diagnosis.events import Event, Text, Thinking

PATIENCE = 0.05
"""Seconds that a piece waits for others; nobody reads faster than that."""


class Coalescer:
    """Everything that is taken is sent, once and in order; words that follow words are joined."""

    def __init__(
        self,
        send: Callable[[tuple[Event, ...]], None],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        """`later` has something called after some seconds, in the thread that takes."""
        self._send = send
        self._later = later
        self._waiting: list[Event] = []

    def take(self, event: Event) -> None:
        """One more thing happened."""
        if not self._waiting:
            self._later(PATIENCE, self.flush)
        last = self._waiting[-1] if self._waiting else None
        if isinstance(event, Text) and isinstance(last, Text):
            self._waiting[-1] = Text(last.text + event.text)
        elif isinstance(event, Thinking) and isinstance(last, Thinking):
            self._waiting[-1] = Thinking(last.text + event.text)
        else:
            self._waiting.append(event)

    def flush(self) -> None:
        """Send what waits, if anything does."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._send(tuple(waiting))
