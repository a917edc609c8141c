"""Run a script on the thread that has the conversation, and wait for its answer on another."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from .conversation import MOST_BYTES, Conversation
from .marks import Mark
from .problems import LinkError, LinkKind


class Errand:
    """Runs a script in the thread that has the conversation; whoever needs the answer waits."""

    def __init__(self, script: bytes, seconds: float, most: int = MOST_BYTES) -> None:
        self._script = script
        self._seconds = seconds
        self._most = most
        self._done = threading.Event()
        self._items: list[bytes | Mark] = []
        self._problem: LinkError | None = None
        self.is_given_up = False

    def run(self, conversation: Conversation) -> None:
        """Put the question; what goes wrong is for the one who waits, and for the link too."""
        if self.is_given_up:
            return
        try:
            # Nobody waits longer; what ends soon after that costs no new connection.
            seconds = max(2 * self._seconds, conversation.patience)
            for item in conversation.ask(self._script, seconds=seconds, most=self._most):
                if not self.is_given_up:
                    self._items.append(item)
        except LinkError as error:
            self.fail(error)
            raise
        self._done.set()

    def fail(self, error: LinkError) -> None:
        """There will be no answer."""
        self._problem = error
        self._done.set()

    def wait(self) -> Sequence[bytes | Mark]:
        """The whole answer, content in pieces as they came."""
        if not self._done.wait(self._seconds):
            self.is_given_up = True
            self._items.clear()
            raise LinkError(f"no answer within {self._seconds:.0f} s", kind=LinkKind.TIMEOUT)
        if self._problem is not None:
            raise self._problem
        return self._items
