"""Reading a big text file on all cores: stretches of lines, each read by one process.

Processes, not threads: the engine holds the interpreter lock, and whoever shows the result
needs it too. Harvests come back in file order.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from .formats.format import Reader
from .harvest import Harvest
from .open_artifact import ANYWHERE, artifact_descriptor
from .shelves import Shelved, Shelves
from .text.extractor import TextReader

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

STRETCH = 4 << 20
"""Bytes a worker reads at a time: large against start-up costs, small against memory."""
BITE = 1 << 20
"""Bytes read at once: many lines of each shape, and all of it stays in the cache."""
WORTH_IT = 24 << 20
"""Files smaller than this are read before a worker would have started."""
_LOOK_BACK = 16 << 10
_BLOCK = 64 << 10
_MOST_TRIES = 2000
"""Lines looked at for a good place to cut; after that any line's end will do."""

Stretch = tuple[int, int]
_Result = Shelved | Sequence[Harvest]


def usable_cores() -> int:
    """Cores this process may use, which on a login node is often fewer than there are."""
    return len(os.sched_getaffinity(0))


def stretches(path: str, size: int, start: int = 0, *, root: str = ANYWHERE) -> Iterator[Stretch]:
    """Spans of whole lines that cover the file up to `size`, outside of tracebacks."""
    with artifact_descriptor(path, root) as descriptor:
        while start < size:
            end = min(start + STRETCH, size)
            if end < size:
                end = _line_end(descriptor, end, size)
            yield start, end
            start = end


def _line_end(descriptor: int, wanted: int, size: int) -> int:
    """The first good place to cut at or after `wanted`: a line's end, no traceback around."""
    position, tried = wanted, 0
    while position < size:
        block = os.pread(descriptor, _BLOCK, position)
        cut = block.find(b"\n")
        while cut >= 0:
            end = position + cut + 1
            tried += 1
            if tried > _MOST_TRIES or not _is_inside_something(descriptor, end):
                return end
            cut = block.find(b"\n", cut + 1)
        if not block:
            break
        position += len(block)
    return size


def _is_inside_something(descriptor: int, position: int) -> bool:
    """True if the line at `position` continues a traceback or an indented block."""
    if os.pread(descriptor, 1, position) in (b" ", b"\t"):
        return True
    start = max(0, position - _LOOK_BACK)
    before = os.pread(descriptor, position - start, start)
    header = before.rfind(b"Traceback (most recent call last)")
    if header < 0:
        return False
    # Frames are indented; the first line that is not says what was raised and ends it.
    frames = before[header:].split(b"\n")[1:-1]
    return all(line[:1] in (b" ", b"\t", b"") for line in frames)


_reader: TextReader | None = None
_shelves: Shelves | None = None
"""Where helpers leave what they read; only those that were forked have it."""
_SHELF = 2 * STRETCH
"""Bytes; columns are seldom larger than the text they were read from."""


def _read_stretch(path: str, root: str, span: Stretch) -> list[Harvest]:
    """In a worker: read one stretch with the templates learned from the ones before."""
    global _reader
    if _reader is None:
        from . import settings

        # Nothing here makes cycles, and the collector would walk every line again and again.
        gc.disable()
        chosen = settings.current()
        _reader = TextReader(chosen.roles, chosen.patterns)
    _reader.forget_open_records()
    with artifact_descriptor(path, root) as descriptor:
        data = os.pread(descriptor, span[1] - span[0], span[0])
    return list(feed_all(_reader, data))


def _read_to_shelf(path: str, root: str, span: Stretch, shelf: int | None) -> _Result:
    """In a helper: read one stretch, and leave the arrays on a shelf if there is one."""
    harvests = _read_stretch(path, root, span)
    if _shelves is None or shelf is None:
        return harvests
    return _shelves.put(shelf, harvests)


def feed_all(reader: Reader, data: bytes) -> Iterator[Harvest]:
    """Feed a reader everything there is, in bites that fit the processor's cache."""
    position = 0
    while position < len(data):
        end = position + BITE
        while True:
            harvest = reader.feed(data[position:end], final=end >= len(data))
            if harvest.consumed:
                break
            end += BITE  # a very long line, or a very long traceback
        position += harvest.consumed
        yield harvest


def start_workers(count: int) -> ProcessPoolExecutor:
    """Processes that share what this one has imported, where that is safe."""
    # Only big files need these, and they are not light.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # With other threads alive, a fork may copy a lock that nobody will ever release.
    method = "fork" if threading.active_count() == 1 else "spawn"
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context(method))


def read_in_parallel(
    path: str, size: int, readers: int | None = None, *, root: str = ANYWHERE
) -> Iterator[Harvest]:
    """Harvests of the first `size` bytes of a text file, in order.

    This process reads too: what it reads itself need not be handed over.
    """
    helpers = (readers or usable_cores()) - 1
    spans = stretches(path, size, root=root)
    was_collecting = gc.isenabled()
    try:
        if helpers < 1:
            for span in spans:
                yield from _read_stretch(path, root, span)
            return
        with closing(_Helpers(path, root, helpers)) as team:
            yield from _in_order(path, root, spans, team)
    finally:
        _forget_reader()
        if was_collecting:
            gc.enable()


class _Task(NamedTuple):
    """A stretch that a helper reads, and the shelf on which it leaves what it read."""

    future: Future[_Result]
    shelf: int | None


class _Helpers:
    """Processes that read stretches of one file."""

    def __init__(self, path: str, root: str, count: int) -> None:
        global _shelves
        self.count = count
        self.most = 2 * count + 3
        """Results that wait here are memory."""
        self._path = path
        self._root = root
        _shelves = Shelves(self.most, _SHELF)
        self._pool = start_workers(count)

    def submit(self, span: Stretch) -> _Task:
        """Have a stretch read."""
        assert _shelves is not None
        shelf = _shelves.reserve()
        future = self._pool.submit(_read_to_shelf, self._path, self._root, span, shelf)
        return _Task(future, shelf)

    def result(self, task: _Task) -> Sequence[Harvest]:
        """What was read; waits for it."""
        assert _shelves is not None
        found = task.future.result()
        harvests = _shelves.take(found) if isinstance(found, Shelved) else found
        if task.shelf is not None:
            _shelves.free(task.shelf)
        return harvests

    def close(self) -> None:
        """Wait for the processes to end."""
        global _shelves
        self._pool.shutdown()
        if _shelves is not None:
            _shelves.close()
            _shelves = None


def _in_order(path: str, root: str, spans: Iterator[Stretch], team: _Helpers) -> Iterator[Harvest]:
    """Keep the helpers busy, read a stretch meanwhile, hand out what is next in the file."""
    pending: deque[_Task | list[Harvest]] = deque()
    is_over = False
    while True:
        busy = sum(not _is_ready(one) for one in pending)
        while busy <= team.count and (span := next(spans, None)) is not None:
            pending.append(team.submit(span))
            busy += 1
        if len(pending) < team.most:
            span = next(spans, None)
            is_over = span is None
            if span is not None:
                pending.append(_read_stretch(path, root, span))
        if not pending:
            return
        must_wait = is_over or len(pending) >= team.most
        while pending and (must_wait or _is_ready(pending[0])):
            first = pending.popleft()
            yield from team.result(first) if isinstance(first, _Task) else first
            must_wait = is_over


def _is_ready(one: _Task | list[Harvest]) -> bool:
    return isinstance(one, list) or one.future.done()


def _forget_reader() -> None:
    """The next file has shapes of its own."""
    global _reader
    _reader = None
