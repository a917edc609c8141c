"""Everything that is read from one host: a thread looks at the followed files, again and again.

The link is made anew after every cut, with growing pauses, and goes on where it was.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self

from . import far_side
from .backfill import Backfill
from .backoff import Backoff, refused_backoff
from .bulk_lane import BulkLane
from .conversation import MOST_BYTES, Conversation
from .errand import Errand
from .fetching import fetch_whole
from .link_state import LinkClock, LinkPhase, LinkState, SystemLinkClock
from .local_copy import keeps_holes
from .marks import Mark
from .mirrored_file import MirroredFile
from .polling import Poller
from .problems import LinkError, LinkKind, LinkLost, unreadable

__all__ = ["HostLink", "LinkPhase", "LinkState"]

PATIENCE = 12.0
"""Seconds of silence after which the link is dead: with the longest pause between two looks and
some doubt this stays under 20 s, whoever owns the connection."""
_QUIET = 60.0
"""Seconds without news after which looks become rarer."""
_SHORTEST = 1.0
_LONGEST = 5.0
"""Seconds between two looks."""
_JUMP = 5.0
"""Seconds by which the clock on the wall runs ahead when the machine has slept."""
_MOST_GARBLED = 3
_GARBLED_SECONDS = 300.0
"""So many answers that cannot be read, within so many seconds, and the host is called lost."""
_LAST_WAIT = 3.0
"""Seconds that closing waits for a log-in under way; its thread cleans up when it ends."""


class Channels(Protocol):
    """What is needed of a connection."""

    def open(self, *, interactive: bool) -> None:
        """Have a living connection."""
        ...

    def is_alive(self) -> bool:
        """True if it was opened, as far as can be told from here."""
        ...

    def channel(self) -> list[str]:
        """The command for one more shell over there."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class HostLink:
    """The followed files of one host, and how the link to it is doing; for any thread."""

    def __init__(
        self,
        connection: Channels,
        *,
        clock: LinkClock | None = None,
        backoff: Backoff | None = None,
        patience: float = PATIENCE,
        pause: float = _SHORTEST,
    ) -> None:
        self._connection = connection
        self._clock = clock or SystemLinkClock()
        self._backoff = backoff or Backoff()
        self._refused_backoff = refused_backoff()
        self._garbled_at: deque[float] = deque(maxlen=_MOST_GARBLED)
        self._attempts = 0
        self._has_logged_in = False
        self._patience = patience
        self._shortest_pause = pause
        self._condition = threading.Condition()
        self._files: dict[tuple[bytes, Path], MirroredFile] = {}
        self._favourites: list[bytes] = []
        self._callbacks: tuple[Callable[[], None], ...] = ()
        self._questions: deque[Errand] = deque()
        self._state = LinkState(LinkPhase.CONNECTING)
        self._conversation: Conversation | None = None
        self._stall: LinkError | None = None
        self._keeps_holes: bool | None = None
        self._is_closed = False
        self._is_urgent = False
        """A look is due."""
        self._is_retried = False
        """Somebody wants the link now."""
        self._is_opening = False
        self._backfill = Backfill(self._by_interest, self._announce)
        self._lane = BulkLane(
            connection.channel, self._backfill, patience=patience, on_stall=self._cut
        )
        self._thread = threading.Thread(target=self._run, name="mltd-link", daemon=True)
        self._thread.start()

    @property
    def state(self) -> LinkState:
        """How the link is doing now."""
        conversation, state = self._conversation, self._state
        heard_at = conversation.heard_at if conversation is not None else None
        return state if heard_at is None else replace(state, heard_at=heard_at)

    @property
    def has_logged_in(self) -> bool:
        """True if a log-in has worked once: whatever fails afterwards is tried again."""
        return self._has_logged_in

    @property
    def files(self) -> list[MirroredFile]:
        """What is followed."""
        with self._condition:
            return list(self._files.values())

    def follow(self, remote: bytes, local: Path, tail_first: bool = True) -> MirroredFile:
        """Keep a copy of a file, which need not be there yet; asking twice changes nothing."""
        with self._condition:
            file = self._files.get((remote, local))
            if file is None:
                file = MirroredFile(remote, local, tail_first=tail_first)
                self._files[remote, local] = file
                self._wake()
            return file

    def unfollow(self, file: MirroredFile) -> None:
        """Leave the copy as it is from now on."""
        with self._condition:
            self._files.pop((file.remote, file.local), None)

    def prefer(self, remote: bytes) -> None:
        """Let this file be the next that is completed."""
        with self._condition:
            self._favourites = [remote, *(name for name in self._favourites if name != remote)]

    def ask(
        self, script: bytes, timeout: float = 30.0, most: int = MOST_BYTES
    ) -> Sequence[bytes | Mark]:
        """The answer to a script that is run between two looks; `LinkError` if there is none."""
        errand = Errand(script, timeout, most)
        with self._condition:
            self._refuse_if_cut()
            self._questions.append(errand)
            self._condition.notify_all()
        return errand.wait()

    def fetch(self, remote: bytes, local: Path, cap: int, timeout: float = 60.0) -> int:
        """Copy a whole file once and give its length; `InputError` if it is longer than `cap`."""

        def ask(script: bytes) -> Sequence[bytes | Mark]:
            errand = Errand(script, timeout, far_side.sent(cap + far_side.BLOCK))
            self._refuse_if_cut()
            self._lane.put(errand)
            with self._condition:
                # Where there is no second conversation it is done after the next look.
                self._is_urgent |= self._lane.is_refused
                self._condition.notify_all()
            return errand.wait()

        return fetch_whole(ask, remote, local, cap)

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call this, from a thread of the link, when a file or the state is not what it was."""
        with self._condition:
            self._callbacks = (*self._callbacks, callback)

    def retry(self) -> None:
        """Try again now, also what has failed for good."""
        with self._condition:
            self._backoff.reset()
            self._is_retried = True
            self._wake()

    def close(self) -> None:
        """End everything that was started; the copies stay."""
        with self._condition:
            self._is_closed = True
            self._wake()
        self._cut(LinkLost("the connection was closed"))
        self._thread.join(_LAST_WAIT if self._is_opening else None)
        self._lane.close()

    def __enter__(self) -> Self:
        """Be linked for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End everything."""
        self.close()

    def _run(self) -> None:
        try:
            while not self._is_closed:
                problem = self._talk_until_lost()
                self._drop_questions(problem)
                if not self._is_closed:
                    self._wait_to_retry(problem)
        finally:
            self._connection.close()

    def _talk_until_lost(self) -> LinkError:
        try:
            with self._open() as conversation:
                try:
                    self._talk(conversation)
                finally:
                    with self._condition:
                        self._state = self.state
                        self._conversation = None
        except LinkError as error:
            problem = self._stall or error
        except OSError as error:
            reason = error.strerror or str(error)
            problem = LinkError(f"ssh cannot be started: {reason}", kind=LinkKind.LOST)
        except Exception as error:  # noqa: BLE001 - a thread that dies silently would stop it all
            problem = unreadable(f"{type(error).__name__}: {error}")
        else:
            problem = LinkLost("the connection was closed")
        self._stall = None
        self._lane.suspend(problem)
        return problem

    def _open(self) -> Conversation:
        self._is_opening = True
        try:
            # Somebody may have logged in a moment ago; trying it out takes several round trips.
            is_open = self._state.kind is LinkPhase.CONNECTING and self._connection.is_alive()
            if not is_open:
                self._connection.open(interactive=False)
            self._has_logged_in = True
        finally:
            self._is_opening = False
        conversation = Conversation(self._connection.channel(), patience=self._patience)
        with self._condition:
            self._conversation = conversation
        return conversation

    def _talk(self, conversation: Conversation) -> None:
        poller = Poller(conversation)
        news_at = due_at = self._clock.now()
        while not self._is_closed:
            if self._questions:
                self._questions.popleft().run(conversation)
            now = self._clock.now()
            if not self._is_urgent and now < due_at:
                due_at -= self._pause(due_at - now, self._has_work)
                continue
            self._is_urgent = False
            files = self.files
            tail_first = self._may_have_holes(files)
            outcome = poller.look(files, now, self._clock.wall(), tail_first=tail_first)
            self._note_connected()
            if outcome.is_news:
                news_at = self._clock.now()
                self._announce()
            quiet = self._clock.now() - news_at
            is_more = outcome.is_more or self._help_lane(conversation)
            pause = 0.0 if is_more else min(_LONGEST, max(self._shortest_pause, quiet / _QUIET))
            due_at = self._clock.now() + pause

    def _has_work(self) -> bool:
        conversation = self._conversation
        is_over = conversation is None or conversation.is_over
        # Looking again is the way to learn why.
        self._is_urgent |= is_over
        return self._is_urgent or bool(self._questions)

    def _may_have_holes(self, files: Sequence[MirroredFile]) -> bool:
        if self._keeps_holes is None and files:
            self._keeps_holes = keeps_holes(files[0].local.parent)
        return bool(self._keeps_holes)

    def _help_lane(self, conversation: Conversation) -> bool:
        """Do here what the host gives no second conversation for; true if there is more of it."""
        if not self._lane.is_refused:
            self._lane.nudge()
            return False
        for errand in self._lane.take_errands():
            errand.run(conversation)
        self._backfill.step(conversation)
        return self._backfill.is_wanted

    def _note_connected(self) -> None:
        self._backoff.reset()
        self._refused_backoff.reset()
        self._attempts = 0
        is_new = self._state.kind is not LinkPhase.CONNECTED
        self._state = LinkState(LinkPhase.CONNECTED, self._clock.wall())
        if is_new:
            self._lane.resume()
            self._announce()

    def _wait_to_retry(self, problem: LinkError) -> None:
        kind, seconds = self._next_try(problem)
        self._attempts += 1
        self._state = LinkState(
            kind,
            self._state.heard_at,
            problem.message,
            problem.hint,
            None if seconds is None else self._clock.wall() + seconds,
            self._attempts,
        )
        self._announce()
        # A new wish is no reason to try more often.
        self._pause(seconds, lambda: self._is_retried)
        self._is_retried = False

    def _next_try(self, problem: LinkError) -> tuple[LinkPhase, float | None]:
        """How bad a problem is, and the seconds to wait; None if only a person can solve it.

        After a first success nothing is for ever: a cut in the middle of a log-in, a home that is
        not mounted yet or a program that is being replaced looks like many a lasting problem.
        """
        if self._has_logged_in and (problem.is_refusal or self._is_garbled_again(problem)):
            return LinkPhase.FAILED, self._refused_backoff.next()
        # A log-in that is cut may end without a reason.
        if self._has_logged_in or problem.may_pass or problem.kind is LinkKind.OTHER:
            return LinkPhase.RECONNECTING, self._backoff.next()
        return LinkPhase.FAILED, None

    def _is_garbled_again(self, problem: LinkError) -> bool:
        """True if several answers within minutes could not be read: no cut does that."""
        if problem.kind is not LinkKind.GARBLED:
            return False
        now = self._clock.now()
        self._garbled_at.append(now)
        is_full = len(self._garbled_at) == _MOST_GARBLED
        return is_full and now - self._garbled_at[0] < _GARBLED_SECONDS

    def _pause(self, seconds: float | None, is_over: Callable[[], object]) -> float:
        """Wait until something is urgent; how much is left if the machine slept meanwhile."""
        clock = self._clock
        until = None if seconds is None else clock.now() + seconds
        lead = clock.wall() - clock.now()
        with self._condition:
            while not (self._is_closed or is_over()):
                left = _SHORTEST if until is None else min(_SHORTEST, until - clock.now())
                if left <= 0:
                    break
                clock.wait(self._condition, left)
                if until is not None and clock.wall() - clock.now() - lead > _JUMP:
                    return until - clock.now()
        return 0.0

    def _by_interest(self) -> list[MirroredFile]:
        with self._condition:
            places = {name: place for place, name in enumerate(self._favourites)}
            files = self._files.values()
            return sorted(files, key=lambda file: places.get(file.remote, len(places)))

    def _cut(self, error: LinkError) -> None:
        """End the conversation from another thread, and say why."""
        with self._condition:
            conversation = self._conversation
            self._stall = error if conversation is not None else None
            self._wake()
        if conversation is not None:
            conversation.close()

    def _refuse_if_cut(self) -> None:
        if self._is_closed or self._state.kind is not LinkPhase.CONNECTED:
            state = self._state
            raise LinkLost(state.message or "there is no connection yet", hint=state.hint)

    def _drop_questions(self, problem: LinkError) -> None:
        with self._condition:
            errands = list(self._questions)
            self._questions.clear()
        for errand in errands:
            errand.fail(problem)

    def _wake(self) -> None:
        self._is_urgent = True
        self._condition.notify_all()

    def _announce(self) -> None:
        for callback in self._callbacks:
            callback()
