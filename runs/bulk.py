"""Reading a big text file on all cores: stretches of lines, each read by one process.

Processes, not threads: the engine holds the interpreter lock, and whoever shows the result
needs it too. Harvests come back in file order.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .formats.format import Reader
from .harvest import Harvest
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


def usable_cores() -> int:
    """Cores this process may use, which on a login node is often fewer than there are."""
    return len(os.sched_getaffinity(0))


def stretches(path: str, size: int, start: int = 0) -> Iterator[Stretch]:
    """Spans of whole lines that cover the file up to `size`, outside of tracebacks."""
    with open(path, "rb", buffering=0) as file:
        while start < size:
            end = min(start + STRETCH, size)
            if end < size:
                end = _line_end(file.fileno(), end, size)
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


def _read_stretch(path: str, span: Stretch) -> list[Harvest]:
    """In a worker: read one stretch with the templates learned from the ones before."""
    global _reader
    if _reader is None:
        from . import settings

        # Nothing here makes cycles, and the collector would walk every line again and again.
        gc.disable()
        chosen = settings.current()
        _reader = TextReader(chosen.roles, chosen.patterns)
    _reader.forget_open_records()
    with open(path, "rb", buffering=0) as file:
        data = os.pread(file.fileno(), span[1] - span[0], span[0])
    return list(feed_all(_reader, data))


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


def read_in_parallel(path: str, size: int, readers: int | None = None) -> Iterator[Harvest]:
    """Harvests of the first `size` bytes of a text file, in order.

    This process reads too: what it reads itself need not come through a pipe, which costs about
    as much as a third of the reading.
    """
    helpers = (readers or usable_cores()) - 1
    spans = stretches(path, size)
    was_collecting = gc.isenabled()
    try:
        if helpers < 1:
            for span in spans:
                yield from _read_stretch(path, span)
            return
        with start_workers(helpers) as pool:
            yield from _in_order(
                path, spans, lambda span: pool.submit(_read_stretch, path, span), helpers
            )
    finally:
        _forget_reader()
        if was_collecting:
            gc.enable()


def _in_order(
    path: str,
    spans: Iterator[Stretch],
    submit: Callable[[Stretch], Future[list[Harvest]]],
    helpers: int,
) -> Iterator[Harvest]:
    """Keep the helpers busy, read a stretch meanwhile, hand out what is next in the file."""
    pending: deque[Future[list[Harvest]] | list[Harvest]] = deque()
    most = 2 * helpers + 3
    """Results that wait here are memory."""
    is_over = False
    while True:
        busy = sum(not _is_ready(one) for one in pending)
        while busy <= helpers and (span := next(spans, None)) is not None:
            pending.append(submit(span))
            busy += 1
        if len(pending) < most:
            span = next(spans, None)
            is_over = span is None
            if span is not None:
                pending.append(_read_stretch(path, span))
        if not pending:
            return
        must_wait = is_over or len(pending) >= most
        while pending and (must_wait or _is_ready(pending[0])):
            first = pending.popleft()
            yield from first if isinstance(first, list) else first.result()
            must_wait = is_over


def _is_ready(one: Future[list[Harvest]] | list[Harvest]) -> bool:
    return isinstance(one, list) or one.done()


def _forget_reader() -> None:
    """The next file has shapes of its own."""
    global _reader
    _reader = None
