"""A search or a filter over a whole log, done by a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable

from mltd.runs.sources.line_scan import Conditions

from .scan_process import DONE, FRAME, HITS, PLACES, SPANS

MOST_HITS = 5_000_000
SPANS_SECONDS = 2.0

Spans = list[list[tuple[int, int]]]


class LineScanner:
    """Where the matching lines of one file begin; grows while the process searches."""

    def __init__(self, conditions: Conditions, changed: Callable[[], None]) -> None:
        self.conditions = conditions
        self.hits: array[int] = array("Q")
        """Offsets of the lines found so far, in the order of the file."""
        self.is_done = False
        self.problem = ""
        """Why not everything was searched, in words."""
        self.scanned = 0
        """Bytes that were searched of the stretch under way."""
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._asked: dict[int, asyncio.Future[Spans]] = {}
        self._ticket = 0
        self._is_stopped = False
        self._start = self._size = self._wanted = 0

    @property
    def is_running(self) -> bool:
        """True if there is a process that can be asked."""
        return self._process is not None and not self._is_stopped

    @property
    def share(self) -> float:
        """How much of the file was searched, from 0 to 1: a log that grew is not begun anew."""
        return 1.0 if self.is_done else (self._start + self.scanned) / max(1, self._size)

    async def start(self, descriptor: int, start: int, size: int, near: int) -> None:
        """Begin; the descriptor is taken over."""
        self._start = self._size = start
        if self._is_stopped:
            os.close(descriptor)
            return
        # Without -P a module of the directory we were started in could replace one of ours.
        command = [sys.executable, "-P", "-m", "mltd.tui.log.scan_process"]
        try:
            process = await asyncio.create_subprocess_exec(
                *(*command, str(descriptor), str(start), json.dumps(self.conditions)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=(descriptor,),
                start_new_session=True,
            )
        except OSError as error:
            self._fail(f"the search could not start: {error.strerror}")
            return
        finally:
            os.close(descriptor)
        self._process = process
        self._reading = asyncio.create_task(self._read(process))
        if self._is_stopped:
            await self.closed()
        else:
            self._ask_for(size, near)

    def extend(self, size: int) -> None:
        """The text has grown: search the new part too, once the old one was."""
        self._wanted = max(self._wanted, size)
        if self.is_done and not self.problem and not self._is_stopped and size > self._size:
            self._ask_for(size, size)

    async def spans(self, texts: list[str]) -> Spans:
        """Where the pattern matches within shown lines; nothing where that takes too long."""
        if self._process is None or self._is_stopped:
            return [[] for _ in texts]
        self._ticket += 1
        ticket = self._ticket
        future: asyncio.Future[Spans] = asyncio.get_running_loop().create_future()
        self._asked[ticket] = future
        self._send({"do": "spans", "ticket": ticket, "texts": texts})
        try:
            return await asyncio.wait_for(future, SPANS_SECONDS)
        except TimeoutError:
            return [[] for _ in texts]
        finally:
            del self._asked[ticket]

    def stop(self) -> None:
        """End it at once."""
        self._is_stopped = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        for future in self._asked.values():
            if not future.done():
                future.set_result([])

    async def closed(self) -> None:
        """End it, and wait until it has."""
        self.stop()
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=1.0)

    def _ask_for(self, size: int, near: int) -> None:
        self._start, self._size = self._size, size
        self.is_done, self.scanned = False, 0
        self._send({"do": "scan", "end": size, "near": near})

    def _fail(self, problem: str) -> None:
        self.problem, self.is_done = problem, True
        self._changed()

    def _send(self, command: dict[str, object]) -> None:
        stdin = self._process.stdin if self._process is not None else None
        if stdin is not None and not stdin.is_closing():
            stdin.write(json.dumps(command).encode() + b"\n")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while not self._is_stopped:
                kind, ticket, length = FRAME.unpack(await process.stdout.readexactly(FRAME.size))
                payload = await process.stdout.readexactly(length)
                if not self._is_stopped:
                    self._take(kind, ticket, payload)
        await process.wait()
        if not self._is_stopped:
            self._fail("the search ended early")

    def _take(self, kind: int, ticket: int, payload: bytes) -> None:
        if kind == SPANS:
            future = self._asked.get(ticket)
            if future is not None and not future.done():
                future.set_result(json.loads(payload))
            return
        first, second = PLACES.unpack_from(payload)
        if kind == HITS:
            self._insert(first, second, array("Q", payload[PLACES.size :]))
        elif kind == DONE:
            self.is_done = True
            if first:
                rest = "; the rest was not searched" if second else ""
                self.problem = f"the pattern is too slow for {first:,} lines{rest}"
            self.extend(self._wanted)
        self._changed()

    def _insert(self, low: int, high: int, offsets: array[int]) -> None:
        """Put what was found in a stretch in place of what was known of it."""
        self.scanned += high - low
        begin, end = bisect_left(self.hits, low), bisect_left(self.hits, high)
        self.hits[begin:end] = offsets
        if len(self.hits) > MOST_HITS:
            self.problem, self.is_done = f"more than {MOST_HITS:,} lines match", True
            self.stop()
