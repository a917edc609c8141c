"""The one thread that touches log files: a dead file server may hang it, but never a key."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from mltd.runs.open_artifact import ANYWHERE, folder_of

from .open_log import OpenLog
from .window import Window

T = TypeVar("T")
PAUSE_SECONDS = 0.002
"""Between two slices of counting, so that keys are handled while a gigabyte is counted."""
NEWS_SECONDS = 0.25
MOST_OPEN = 8
PREPARED_LINES = 100


class _Question(NamedTuple):
    path: str
    answer: Callable[[OpenLog], Any]
    asker: tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]] | None = None
    """Who waits for the answer; nobody if a file is only opened in advance."""


class _Listener(NamedTuple):
    loop: asyncio.AbstractEventLoop
    context: contextvars.Context
    """Of whoever listens: the thread knows of no app."""
    heard: Callable[[str], None]


class LogReader:
    """Answers questions about logs, in their order; counts the lines of the last one between."""

    def __init__(self, open_log: Callable[[str, str], OpenLog] = OpenLog) -> None:
        self._open_log = open_log
        self._questions: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        self._logs: dict[str, OpenLog] = {}
        self._roots: dict[str, str] = {}
        """Folders that logs must lie in, by the paths of the logs."""
        self._prepared: dict[str, Window] = {}
        self._busy: str | None = None
        self._has_news = False
        self._told_at = 0.0
        self._listeners: list[_Listener] = []
        self._thread: threading.Thread | None = None

    async def ask(self, path: str, answer: Callable[[OpenLog], T]) -> T:
        """What `answer` says about a log, found out in the thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(_Question(path, answer, (loop, future)))
        return await future

    def confine(self, path: str, root: str) -> None:
        """Read a log only if it really lies in this folder; anywhere if that is empty."""
        self._roots[path] = root

    def prepare(self, path: str) -> None:
        """Read the end of a log that was named, and will be shown as soon as that is possible."""
        self.confine(path, ANYWHERE)

        def keep(log: OpenLog) -> None:
            self._prepared[path] = log.at_end(PREPARED_LINES)

        self._put(_Question(path, keep))

    def take_prepared(self, path: str) -> Window | None:
        """The end of a log if it was prepared, once: it soon is out of date."""
        return self._prepared.pop(path, None)

    def _put(self, question: _Question) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="log reader", daemon=True)
            self._thread.start()
        self._questions.put(question)

    def listen(self, heard: Callable[[str], None]) -> None:
        """Call with a path now and then while more is known of it, and once all is."""
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        self._listeners.append(_Listener(loop, context, heard))

    def forget(self, heard: Callable[[str], None]) -> None:
        """Call no more."""
        self._listeners = [one for one in self._listeners if one.heard != heard]

    def close(self) -> None:
        """Let the thread end once it can; nobody waits for it."""
        self._questions.put(None)

    def _run(self) -> None:
        while True:
            try:
                wait = None if self._busy is None else PAUSE_SECONDS
                question = self._questions.get(timeout=wait)
            except queue.Empty:
                self._work()
                continue
            if question is None:
                break
            self._reply(question)
        for log in self._logs.values():
            log.close()

    def _reply(self, question: _Question) -> None:
        if question.asker is not None and question.asker[1].cancelled():
            return
        try:
            answer, error = question.answer(self._log(question.path)), None
        except Exception as caught:  # noqa: BLE001 - whoever asked has to deal with it
            answer, error = None, caught
        self._busy = question.path
        if question.asker is not None:
            loop, future = question.asker
            _call(loop, _settle, future, answer, error)

    def _log(self, path: str) -> OpenLog:
        """The log with this path; only a few are held open."""
        root = self._roots.get(path)
        if root is None:
            root = folder_of(path)
        log = self._logs.pop(path, None)
        if log is None or log.root != root:
            if log is not None:
                log.close()
            log = self._open_log(path, root)
        self._logs[path] = log
        if len(self._logs) > MOST_OPEN:
            self._logs.pop(next(iter(self._logs))).close()
        return log

    def _work(self) -> None:
        path = self._busy
        log = self._logs.get(path or "")
        try:
            is_news = log is not None and log.work()
        except OSError:
            is_news = False
        self._has_news = self._has_news or is_news
        if not is_news:
            self._busy = None
        if self._has_news and path is not None:
            if is_news and time.monotonic() - self._told_at < NEWS_SECONDS:
                return
            self._has_news = False
            self._told_at = time.monotonic()
            for one in self._listeners:
                _call(one.loop, one.context.run, one.heard, path)


def _settle(future: asyncio.Future[Any], answer: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(answer)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *given: Any) -> None:
    # The app may have ended meanwhile.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *given)
