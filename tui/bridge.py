"""Between the screen and its engine: starts the process, sends wishes, hears news."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import cast

from .engine.channel import HEAD, body_length, pack, unpack
from .engine.curve_protocol import CurveRequest
from .engine.protocol import News, Open, RunsFound, Select, Survey, Wish
from .logfile import open_log

MOST_RESTARTS = 3
RESTART_WINDOW = 60.0
"""An engine that dies more often than this within a minute is left dead."""


def start_process(wish: Open) -> subprocess.Popen[bytes]:
    """Start an engine on its first wish, before the screen has imported anything heavy."""
    process = start_idle()
    begin(process, wish)
    return process


def start_idle() -> subprocess.Popen[bytes]:
    """Start an engine that gets ready and waits for its first wish."""
    try:
        errors = open_log()
    except OSError:
        errors = os.open(os.devnull, os.O_WRONLY)
    try:
        # A session of its own: Ctrl+C and a closing terminal are the screen's to deal with.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "mltd.tui.engine"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    finally:
        os.close(errors)


def begin(process: subprocess.Popen[bytes], wish: Open) -> None:
    """Tell an engine its first wish."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write(pack(wish))
        process.stdin.flush()


class Bridge:
    """One engine, started again with the same wishes if it dies."""

    def __init__(self, wish: Open, process: subprocess.Popen[bytes] | None = None) -> None:
        self._open = wish
        self._process = process or start_process(wish)
        self._selected: Select | None = None
        self._survey: Survey | None = None
        self._curves: dict[int, CurveRequest] = {}
        self._known: tuple[tuple[str, ...], ...] = ()
        """Logs of all runs that the engine found, by number."""
        self._opened: list[Open] = []
        """What was named after the start."""
        self._writer: asyncio.WriteTransport | None = None
        self._unsent: list[Wish] = []
        self._deaths: list[float] = []
        self._heard_at = time.monotonic()
        self._is_closed = False

    def send(self, wish: Wish) -> None:
        """Ask for something; the answer comes as news."""
        match wish:
            case Open():
                self._opened.append(wish)
            case Select():
                self._selected = wish
            case Survey():
                self._survey = wish
            case CurveRequest():
                if wish.series:
                    self._curves[wish.ticket] = wish
                else:
                    self._curves.pop(wish.ticket, None)
        if self._writer is None:
            self._unsent.append(wish)
        else:
            self._writer.write(pack(wish))

    async def listen(self, hear: Callable[[News], None], died: Callable[[bool], None]) -> None:
        """Pass on news until closed; `died` is told of a dead engine and whether a new one runs."""
        while not self._is_closed:
            await self._listen_once(hear)
            if self._is_closed:
                return
            now = time.monotonic()
            self._deaths = [t for t in self._deaths if now - t < RESTART_WINDOW] + [now]
            may_restart = len(self._deaths) <= MOST_RESTARTS
            died(may_restart)
            if not may_restart:
                return
            self._reap()
            # Runs keep the numbers under which the screen knows them.
            self._process = start_process(self._open._replace(known=self._known))
            again: list[Wish | None] = [
                *self._opened,
                self._selected,
                self._survey,
                *self._curves.values(),
            ]
            self._unsent = [wish for wish in again if wish is not None]

    async def _listen_once(self, hear: Callable[[News], None]) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        source, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout
        )
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self._process.stdin)
        for wish in self._unsent:
            writer.write(pack(wish))
        self._unsent = []
        self._writer = writer
        try:
            while True:
                head = await reader.readexactly(HEAD)
                body = await reader.readexactly(body_length(head))
                self._heard_at = time.monotonic()
                news = cast("News", unpack(body))
                if isinstance(news, RunsFound):
                    self._known = tuple(
                        row.logs or (f"{row.path}/{row.name}",) for row in news.rows
                    )
                hear(news)
        except (asyncio.IncompleteReadError, OSError):
            return
        finally:
            self._writer = None
            if not writer.is_closing():
                writer.abort()
            source.close()
            # Transports give their pipes back in the next turn of the loop.
            await asyncio.sleep(0)

    @property
    def silence(self) -> float:
        """Seconds since the engine was last heard of; it says something every two."""
        return time.monotonic() - self._heard_at

    def close(self) -> None:
        """End the engine; it has nothing to save."""
        self._is_closed = True
        self._reap()

    def _reap(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
