"""A connection that one command has for itself: it asks, waits, and copies what is long."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Self

from . import far_side
from .address import Host
from .backoff import Backoff
from .connection import Connection
from .conversation import MOST_BYTES, Answer, Conversation
from .marks import Mark
from .problems import LinkError

PATIENCE = 120.0
"""Seconds of silence: a file may have to come from tape, and ssh itself notices a dead link."""
MOST_TRIES = 5
"""Times in a row that a connection which was cut is made anew."""


class DirectLink:
    """Speaks with one host, in one thread; nothing goes on behind it."""

    def __init__(self, host: Host, *, is_interactive: bool, patience: float = PATIENCE) -> None:
        self.host = host
        self._connection = Connection(host)
        self._is_interactive = is_interactive
        self._patience = patience
        self._conversation: Conversation | None = None

    def open(self) -> None:
        """Log in, and have a shell; `LinkError` says why there is none."""
        self._connection.open(interactive=self._is_interactive)
        self._conversation = Conversation(self._connection.channel(), patience=self._patience)
        self._conversation.define(far_side.FUNCTIONS)

    def ask(
        self, script: bytes, timeout: float = PATIENCE, most: int = MOST_BYTES
    ) -> Sequence[bytes | Mark]:
        """The whole answer to a script."""
        return list(self.stream(script, timeout, most))

    def stream(self, script: bytes, timeout: float | None = None, most: int = MOST_BYTES) -> Answer:
        """The answer as it arrives."""
        if self._conversation is None:
            self.open()
        assert self._conversation is not None
        return self._conversation.ask(script, patience=timeout, most=most)

    def reopen(self, wait: Callable[[float], object] = time.sleep) -> None:
        """Make a connection that was cut anew; `LinkError` if that does not work for a while."""
        backoff = Backoff(first=2.0, most=16.0)
        for left in reversed(range(MOST_TRIES)):
            self.hang_up()
            try:
                self.open()
                return
            except LinkError as problem:
                if not left or problem.is_refusal:
                    raise
            wait(backoff.next())

    def hang_up(self) -> None:
        """End the shell; the connection stays for others."""
        if self._conversation is not None:
            self._conversation.close()
            self._conversation = None

    def close(self) -> None:
        """End the shell, and the connection unless it is used elsewhere."""
        self.hang_up()
        self._connection.close()

    def __enter__(self) -> Self:
        """Be connected for the length of a `with` block."""
        try:
            self.open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End it."""
        self.close()
