"""Brings what was done to the disk, behind the user's back and in order."""

from __future__ import annotations

import errno
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ..triage import Entry
from .appender import Place
from .files import why
from .holder import BEAT
from .lock import LostError

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two attempts where saving fails."""
_HINTS = {
    errno.ENOSPC: "free some space, or save elsewhere",
    errno.EDQUOT: "make room in your quota, or save elsewhere",
    errno.EFBIG: "files may not grow that much here: save elsewhere",
    errno.EROFS: "save elsewhere",
    errno.EACCES: "save elsewhere",
}


class Saving(NamedTuple):
    """Whether what was done is on disk."""

    state: str
    """saved, saving, unsaved (and tried again) or read_only."""
    pending: int = 0
    """Things done that are not on disk yet."""
    problem: str = ""
    """Why not, in a sentence."""
    is_held: bool = False
    """Somebody else has it, from whom it could be taken over."""


class Clock:
    """Time as it passes; tests bring their own."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        """Until something changes, at most so long."""
        condition.wait(seconds)


class Saver:
    """A thread that writes; nothing that it was given is forgotten before it is on disk."""

    def __init__(
        self,
        place: Place,
        on_change: Callable[[Saving], None],
        clock: Clock | None = None,
    ) -> None:
        self._place = place
        self._on_change = on_change
        self._clock = clock or Clock()
        self._changed = threading.Condition()
        self._queue: deque[tuple[Entry, bytes]] = deque()
        self._problem = ""
        self._failures = 0
        self._pause = 0.0
        self._next_try = self._clock.now()
        self._next_beat = self._next_try + BEAT
        self._is_lost = self._is_stopped = False
        self._told = Saving("saved")
        self._thread = threading.Thread(target=self._run, name="session saver", daemon=True)
        self._thread.start()

    # -- from the outside -----------------------------------------------------------------

    @property
    def saving(self) -> Saving:
        """How things stand."""
        with self._changed:
            return self._state()

    @property
    def lost(self) -> str:
        """Why nothing can be saved any more; empty while it can."""
        with self._changed:
            return self._problem if self._is_lost else ""

    @property
    def unsaved(self) -> list[Entry]:
        """What is not on disk yet."""
        with self._changed:
            return [entry for entry, _ in self._queue]

    def put(self, entry: Entry, line: bytes) -> None:
        """Write this after everything before it."""
        with self._changed:
            self._queue.append((entry, line))
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Try at once, and wait; True if all is on disk, False after a failure or the timeout."""
        with self._changed:
            failures = self._failures
            self._next_try = self._clock.now()
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: not self._queue or self._is_lost or self._failures > failures, timeout
            )
            return not self._queue

    def move(self, place: Place) -> Place:
        """Go on at another place, where all that was put so far is kept already."""
        with self._changed:
            old, self._place = self._place, place
            self._queue.clear()
            self._problem, self._is_lost = "", False
            self._pause = 0.0
            self._changed.notify_all()
            return old

    def stop(self, timeout: float) -> bool:
        """End the thread; False if it hangs in a write."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # -- in the thread --------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            self._tell()
            with self._changed:
                while (wait := self._idle_time()) > 0 and self._state() == self._told:
                    self._clock.wait(self._changed, wait)
                if self._is_stopped:
                    return
                is_due = self._queue and not self._is_lost and self._next_try <= self._clock.now()
                job = self._queue[0] if is_due else None
                place = self._place
            if job is not None:
                self._tell()
                self._save(place, job)
            elif not self._is_lost and self._next_beat <= self._clock.now():
                self._beat(place)

    def _idle_time(self) -> float:
        if self._is_stopped:
            return 0.0
        if self._is_lost:
            return LONGEST_PAUSE
        due = min(self._next_beat, self._next_try) if self._queue else self._next_beat
        return due - self._clock.now()

    def _save(self, place: Place, job: tuple[Entry, bytes]) -> None:
        problem, is_lost = "", False
        try:
            place.append(job[1])
        except LostError as error:
            problem, is_lost = error.message, True
        except OSError as error:
            hint = _HINTS.get(error.errno or 0, "")
            # What is wrong comes first: the end of a line may be cut off.
            said = f"{why(error)}; {hint}" if hint else why(error)
            problem = f"{said} ({place.path})"
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing may get lost
            problem = f"{place.path} cannot be written to: {error!r}"
        with self._changed:
            if place is not self._place:
                return
            self._problem, self._is_lost = problem, is_lost
            if problem:
                self._failures += 1
                self._pause = min(LONGEST_PAUSE, 2 * self._pause) or FIRST_PAUSE
                self._next_try = self._clock.now() + self._pause
            else:
                self._pause = 0.0
                self._queue.popleft()
            self._changed.notify_all()

    def _beat(self, place: Place) -> None:
        lost = ""
        try:
            place.beat()
        except LostError as error:
            lost = error.message
        except OSError:
            # The next line that is written will tell.
            pass
        with self._changed:
            self._next_beat = self._clock.now() + BEAT
            if lost and place is self._place:
                self._problem, self._is_lost = lost, True
                self._changed.notify_all()

    def _state(self) -> Saving:
        if self._is_lost:
            return Saving("read_only", len(self._queue), self._problem)
        if self._problem:
            return Saving("unsaved", len(self._queue), self._problem)
        return Saving("saving", len(self._queue)) if self._queue else Saving("saved")

    def _tell(self) -> None:
        with self._changed:
            state = self._state()
            if state == self._told:
                return
            self._told = state
        try:
            self._on_change(state)
        except Exception:  # noqa: BLE001 - whoever listens may be gone, saving goes on
            return
