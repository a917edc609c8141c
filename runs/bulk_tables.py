"""Reading a big table on all cores.

Every worker starts with the reader as it was after the header. That holds until somebody
writes another header or a quoted cell into the file; from there on it is read in order.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .bulk import BITE, Stretch, feed_all, start_workers, stretches, usable_cores
from .formats.tabular import TabularReader
from .harvest import Harvest
from .open_artifact import ANYWHERE, artifact_descriptor

if TYPE_CHECKING:
    from concurrent.futures import Future

_HEAD = 64 << 10
_Result = tuple[list[Harvest], bytes] | None
"""What was read and the reader after it, if its header changed; None if order matters."""


def _read_stretch(path: str, root: str, span: Stretch, state: bytes) -> _Result:
    """In a worker: read one stretch with a reader that knows the header."""
    with artifact_descriptor(path, root) as descriptor:
        data = os.pread(descriptor, span[1] - span[0], span[0])
    if b'"' in data:
        return None
    reader: TabularReader = pickle.loads(state)
    harvests = list(feed_all(reader, data))
    has_new_header = any(harvest.events for harvest in harvests)
    return harvests, pickle.dumps(reader) if has_new_header else b""


def read_table_in_parallel(path: str, size: int, *, root: str = ANYWHERE) -> Iterator[Harvest]:
    """Harvests of the first `size` bytes of a table, in order."""
    reader = TabularReader()
    with artifact_descriptor(path, root) as descriptor:
        head = reader.feed(os.pread(descriptor, _HEAD, 0), final=False)
    yield head
    state = pickle.dumps(reader)
    count = usable_cores()
    with start_workers(count) as pool:
        pending: deque[tuple[Stretch, Future[_Result]]] = deque()
        waiting = stretches(path, size, head.consumed, root=root)
        while True:
            while len(pending) < count + 2 and (span := next(waiting, None)) is not None:
                pending.append((span, pool.submit(_read_stretch, path, root, span, state)))
            if not pending:
                return
            (start, end), future = pending.popleft()
            result = future.result()
            if result is None or result[1]:
                for _, other in pending:
                    other.cancel()
                if result is not None:
                    yield from result[0]
                    start, state = end, result[1]
                break
            yield from result[0]
    yield from _read_in_order(path, root, size, start, pickle.loads(state))


def _read_in_order(
    path: str, root: str, size: int, start: int, reader: TabularReader
) -> Iterator[Harvest]:
    waiting = b""
    with artifact_descriptor(path, root) as descriptor:
        while start < size or waiting:
            data = os.pread(descriptor, min(BITE, size - start), start)
            start += len(data)
            waiting += data
            harvest = reader.feed(waiting, final=not data or start >= size)
            waiting = waiting[harvest.consumed :]
            yield harvest
            if not data:
                return
