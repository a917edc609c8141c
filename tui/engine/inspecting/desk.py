"""What the engine grants about saved weights; nothing is read before somebody asks for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from mltd.runs.checkpoints.errors import CheckpointCancelled, UnsafeCheckpoint
from mltd.runs.discovery.run_files import Purpose
from mltd.runs.errors import MltdError
from mltd.runs.ingest import LOG_PURPOSES

from ..consulting.errands import Leave, beside
from ..model_protocol import (
    Branch,
    BranchRequest,
    Checkpoints,
    CheckpointsRequest,
    Inspected,
    Inspecting,
    InspectRequest,
    MemoryRequest,
    MemoryTold,
    ModelNews,
    ModelWish,
    StopInspect,
)
from .stated import settings_of

if TYPE_CHECKING:
    from ..followed_run import FollowedRun
    from .looking import Looked

MOST_KEPT = 4
"""Looks that are kept; one of 100,000 tensors takes some 100 MB."""
MOST_AT_ONCE = 2
TELL_EVERY = 0.1
_BUSY = "other checkpoints are still being read"
_Stamp = tuple[str, int, int]


class InspectDesk:
    """Lives in the main loop; files are touched by threads and worker processes alone."""

    def __init__(
        self,
        send: Callable[[ModelNews], None],
        leave: Leave,
        at_hand: Callable[[int], FollowedRun | None],
    ) -> None:
        """`send` may be called by any thread; `at_hand` follows a run if nobody does yet."""
        self._send = send
        self._leave = leave
        self._at_hand = at_hand
        self._kept: dict[int, tuple[_Stamp, Looked]] = {}
        """By ticket, the newest at the end."""
        self._stops: dict[int, threading.Event] = {}
        """Looks that are under way."""

    def grant(self, wish: ModelWish) -> None:
        """Begin with what is wanted."""
        match wish:
            case CheckpointsRequest():
                self._list(wish.run)
            case InspectRequest():
                self._inspect(wish)
            case StopInspect() if wish.ticket in self._stops:
                self._stops[wish.ticket].set()
            case BranchRequest():
                self._unfold(wish)
            case MemoryRequest():
                self._account(wish)
            case _:
                pass

    # -- which there are ------------------------------------------------------------------

    def _list(self, run: int) -> None:
        followed = self._at_hand(run)
        if followed is None:
            self._send(Checkpoints(run, ()))
            return
        files = followed.files
        paths, logs = files.paths(Purpose.CHECKPOINT), files.paths(*LOG_PURPOSES)

        def work() -> Checkpoints:
            from .listing import list_checkpoints, places_of, seen_now

            found = list_checkpoints(seen_now(files, paths), files.root)
            return Checkpoints(run, found, places_of(files.root, logs))

        def tell(done: Future[Checkpoints]) -> None:
            self._send(done.result())

        # A network file system may take seconds to answer.
        beside(work, self._leave, tell)

    # -- looking --------------------------------------------------------------------------

    def _inspect(self, wish: InspectRequest) -> None:
        followed = self._at_hand(wish.run)
        if followed is None:
            self._send(Inspected(wish.ticket, problem="The engine does not know this run any more"))
            return
        busy = [stop for stop in self._stops.values() if not stop.is_set()]
        if len(busy) >= MOST_AT_ONCE:
            hint = "wait for their end, or press Esc there"
            self._send(Inspected(wish.ticket, problem=_BUSY, hint=hint))
            return
        stop = self._stops[wish.ticket] = threading.Event()
        stated, kept = settings_of(followed.run), list(self._kept.values())
        files = followed.files

        def work() -> tuple[_Stamp, Looked]:
            from .listing import root_of
            from .looking import Job, look

            stamp = _stamp(wish.path)
            same = [looked.found.summary for known, looked in kept if known == stamp]
            # With values if somebody read them before.
            known = max(same, key=lambda summary: summary.has_values, default=None)
            roots = (root_of(files, wish.path), root_of(files, wish.against))
            job = Job(wish.path, wish.against, wish.needs_values, stated, known, roots)
            looked = look(job, self._progress(wish.ticket), stop.is_set)
            if stop.is_set():
                raise CheckpointCancelled("nobody wants it any more")
            return stamp, looked

        def tell(done: Future[tuple[_Stamp, Looked]]) -> None:
            self._stops.pop(wish.ticket, None)
            self._send(self._ended(wish, done))

        beside(work, self._leave, tell)

    def _progress(self, ticket: int) -> Callable[[int, int], None]:
        last = 0.0

        def told(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= TELL_EVERY:
                last = now
                self._send(Inspecting(ticket, done, total))

        return told

    def _ended(self, wish: InspectRequest, done: Future[tuple[_Stamp, Looked]]) -> Inspected:
        try:
            stamp, looked = done.result()
        except CheckpointCancelled:
            return Inspected(wish.ticket, is_cancelled=True)
        except MltdError as problem:
            names = problem.names if isinstance(problem, UnsafeCheckpoint) else ()
            return Inspected(wish.ticket, None, problem.message, problem.hint, names)
        except Exception as problem:  # noqa: BLE001 - a file nobody foresaw must not end the engine
            said = f"looking into it failed: {type(problem).__name__}: {problem}"
            return Inspected(
                wish.ticket, None, said, "this is a fault of mltd-tui; please report it"
            )
        self._kept[wish.ticket] = (stamp, looked)
        for ticket in list(self._kept)[:-MOST_KEPT]:
            del self._kept[ticket]
        return Inspected(wish.ticket, looked.page._replace(remarks=self._remarks(wish.run, looked)))

    def _remarks(self, run: int, looked: Looked) -> tuple[str, ...]:
        """With what the log says about the step, which only the main loop may ask it."""
        from mltd.analyzers.weights.progress import remarks_on_steps

        followed = self._at_hand(run)
        remarks = list(looked.found.remarks)
        if followed is not None:
            remarks += remarks_on_steps(looked.found.summary, followed.run)
        return tuple(dict.fromkeys(remarks))

    # -- what a look has shown ------------------------------------------------------------

    def _unfold(self, wish: BranchRequest) -> None:
        kept = self._kept.get(wish.ticket)
        rows = kept[1].branches.rows(wish.key, wish.start) if kept is not None else ()
        self._send(Branch(wish.ticket, wish.key, wish.start, rows))

    def _account(self, wish: MemoryRequest) -> None:
        kept, followed = self._kept.get(wish.ticket), self._at_hand(wish.run)
        if kept is None or followed is None:
            said = "The engine does not have these weights any more; leave the view and come back."
            self._send(MemoryTold(wish.ticket, problem=said))
            return
        from ...inspect.memory_text import account_of
        from .page import make_memory

        self._send(make_memory(wish.ticket, account_of(kept[1].found.summary, followed.run)))


def _stamp(path: str) -> _Stamp:
    """Tells a file from what stands at its name later."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path, -1, -1
    if os.path.isdir(path):
        # Its files may change without it.
        return path, time.time_ns(), 0
    return path, status.st_mtime_ns, status.st_size
