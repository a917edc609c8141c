"""Work that another thread has the main loop do, as that alone touches the runs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Leave: TypeAlias = Callable[[Callable[[], None]], None]
"""Leaves something for the main loop to do."""


def handed(leave: Leave, work: Callable[[], T]) -> Future[T]:
    """What the main loop will have made of it; it may be cancelled until it begins."""
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except Exception as problem:  # noqa: BLE001 - whoever waits has to deal with it
            future.set_exception(problem)

    leave(run)
    return future


async def fetched(leave: Leave, work: Callable[[], T], seconds: float) -> T:
    """The same for whoever may not block; `TimeoutError` if the main loop does not come to it."""
    return await asyncio.wait_for(asyncio.wrap_future(handed(leave, work)), seconds)


class Patience:
    """Waits for the main loop, with so much time for all errands together."""

    def __init__(self, leave: Leave, seconds: float) -> None:
        self._leave = leave
        self._deadline = time.monotonic() + seconds

    def have(self, work: Callable[[], T]) -> T:
        """What came of it; `TimeoutError` once the time is over."""
        future = handed(self._leave, work)
        try:
            return future.result(max(0.0, self._deadline - time.monotonic()))
        except TimeoutError:
            future.cancel()
            raise


def beside(work: Callable[[], T], leave: Leave, then: Callable[[Future[T]], None]) -> None:
    """Do something in a thread of its own; the main loop goes on with what came of it."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as problem:  # noqa: BLE001 - whoever goes on has to deal with it
            done.set_exception(problem)
        leave(lambda: then(done))

    # A daemon: an engine that ends waits for no file system.
    threading.Thread(target=run, name="beside", daemon=True).start()
