"""A second conversation with a host, for what is long: the rest of big files, whole small ones."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from . import far_side
from .backfill import Backfill
from .backoff import Backoff
from .conversation import Conversation
from .errand import Errand
from .problems import LinkError, LinkKind, LinkLost, unreadable

_MOST_REFUSALS = 3
"""After so many in a row the host is taken to allow one conversation only."""
_OF_THE_LINK = (LinkKind.TIMEOUT, LinkKind.GARBLED)
"""Problems that the first conversation has or will have as well."""


class BulkLane:
    """A thread that fetches while the link is there; it never decides whether it is."""

    def __init__(
        self,
        channel: Callable[[], list[str]],
        backfill: Backfill,
        *,
        patience: float,
        on_stall: Callable[[LinkError], None],
    ) -> None:
        self._channel = channel
        self._backfill = backfill
        self._patience = patience
        self._on_stall = on_stall
        self._condition = threading.Condition()
        self._errands: deque[Errand] = deque()
        self._conversation: Conversation | None = None
        self._backoff = Backoff()
        self._refusals = 0
        self._rests_until = 0.0
        self._is_linked = False
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="mltd-link-bulk", daemon=True)
        self._thread.start()

    @property
    def is_refused(self) -> bool:
        """True if the work has to be done over the one conversation that there is."""
        return self._refusals >= _MOST_REFUSALS

    def resume(self) -> None:
        """The link is there."""
        with self._condition:
            self._is_linked = True
            self._refusals = 0
            self._rests_until = 0.0
            self._backoff.reset()
            self._condition.notify_all()

    def nudge(self) -> None:
        """There may be something to do."""
        with self._condition:
            self._condition.notify_all()

    def suspend(self, error: LinkError) -> None:
        """The link is gone, and with it all that is under way."""
        with self._condition:
            self._is_linked = False
            conversation = self._conversation
            errands = self.take_errands()
        if conversation is not None:
            conversation.close()
        for errand in errands:
            errand.fail(error)

    def put(self, errand: Errand) -> None:
        """One more thing to fetch, before the rest of big files."""
        with self._condition:
            self._errands.append(errand)
            self._condition.notify_all()

    def take_errands(self) -> list[Errand]:
        """What was not begun, for somebody else to do."""
        with self._condition:
            errands = list(self._errands)
            self._errands.clear()
            return errands

    def close(self) -> None:
        """End the thread and its conversation."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()
        self.suspend(LinkLost("the connection was closed"))
        self._thread.join()

    def _run(self) -> None:
        while self._await_work():
            try:
                conversation = self._converse()
                while self._may_go_on() and (errand := self._next_errand()) is not None:
                    errand.run(conversation)
                self._backfill.run(conversation, self._may_fill)
                self._refusals = 0
                self._backoff.reset()
            except (LinkError, OSError) as error:
                self._part()
                if self._may_go_on():
                    self._note(error)
            except Exception as error:  # noqa: BLE001 - the thread has to live as long as the link
                self._part()
                if self._may_go_on():
                    self._note(unreadable(f"{type(error).__name__}: {error}"))
        self._part()

    def _await_work(self) -> bool:
        with self._condition:
            while not self._is_closed:
                rest = self._rests_until - time.monotonic()
                is_able = self._is_linked and not self.is_refused and rest <= 0
                if is_able and (self._errands or self._backfill.is_wanted):
                    break
                self._condition.wait(rest if rest > 0 else None)
            return not self._is_closed

    def _converse(self) -> Conversation:
        if self._conversation is None:
            conversation = Conversation(self._channel(), patience=self._patience)
            conversation.define(far_side.FUNCTIONS)
            with self._condition:
                self._conversation = conversation
                if not self._is_linked:
                    raise LinkLost("the connection was closed")
        return self._conversation

    def _part(self) -> None:
        with self._condition:
            conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.close()

    def _next_errand(self) -> Errand | None:
        with self._condition:
            return self._errands.popleft() if self._errands else None

    def _may_go_on(self) -> bool:
        return self._is_linked and not self._is_closed

    def _may_fill(self) -> bool:
        return self._may_go_on() and not self._errands

    def _note(self, error: LinkError | OSError) -> None:
        if isinstance(error, LinkError) and error.kind in _OF_THE_LINK:
            with self._condition:
                self._is_linked = False
            self._on_stall(error)
            return
        with self._condition:
            self._refusals += 1
            self._rests_until = time.monotonic() + self._backoff.next()
