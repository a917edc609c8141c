"""Fills the holes of copies that began with a file's end, newest bytes first.

Each chunk repeats a block of what is here already, and counts only if that is the same and the
file kept its identity meanwhile. The next chunk is asked for before the present one has come, so
that a slow link is never idle; and chunks are as long as the link carries in half a second, so
that the news of other files never wait long behind them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from . import far_side
from .conversation import Answer, Conversation
from .local_copy import explain, free_bytes
from .marks import Mark
from .mirrored_file import MirroredFile
from .stamp import Stamp
from .unpacking import Unpacker

LEAST = far_side.HOLE_BYTES
FIRST = 1 << 18
MOST = 1 << 22
_SHORT = 0.2
_LONG = 0.7
"""Seconds that a chunk takes; two are under way, and news of other files wait behind them."""
_REST = 5.0
"""Seconds after which a file is tried again that was being replaced."""


@dataclass
class _Chunk:
    """A part of a file that is on its way."""

    file: MirroredFile
    generation: int
    offset: int
    length: int
    answer: Answer


class Backfill:
    """Decides what comes next and stores it; the conversation and the thread are given."""

    def __init__(
        self,
        files: Callable[[], Iterable[MirroredFile]],
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        self._files = files
        self._on_progress = on_progress
        self._length = FIRST
        self._rests: dict[int, float] = {}

    @property
    def is_wanted(self) -> bool:
        """True if there is a hole to fill now."""
        return self._pick() is not None

    def run(self, conversation: Conversation, may_go_on: Callable[[], bool]) -> None:
        """Fill holes until there are none, or something else is to be done."""
        since = time.monotonic()
        current = self._request(conversation, None)
        while current is not None:
            following = self._request(conversation, current) if may_go_on() else None
            self._store(current)
            self._on_progress()
            now = time.monotonic()
            self._adapt(now - since)
            since = now
            current = following

    def step(self, conversation: Conversation) -> None:
        """Fetch one chunk, where a conversation is needed for other things too."""
        self.run(conversation, lambda: False)

    def _pick(self) -> MirroredFile | None:
        now = time.monotonic()
        for file in self._files():
            if file.awaits_rest and self._rests.get(file.number, 0.0) <= now:
                return file
        return None

    def _request(self, conversation: Conversation, before: _Chunk | None) -> _Chunk | None:
        """Ask for the chunk that follows if the one before it will be all right."""
        file = self._pick()
        if file is None:
            return None
        with file.lock:
            start, generation = file.start, file.generation
        if before is not None and before.file is file and before.generation == generation:
            start = before.offset
        if start <= 0:
            return None
        length = min(self._length, start)
        if free_bytes(file.local) < length:
            file.note = "only its end is copied: the disk here is nearly full"
            return None
        offset = start - length
        most = far_side.sent(length + far_side.BLOCK)
        answer = conversation.ask(far_side.part(file.remote, offset, length), most=most)
        return _Chunk(file, generation, offset, length, answer)

    def _store(self, chunk: _Chunk) -> None:
        data, keys = _receive(chunk.answer, chunk.length + 2 * far_side.BLOCK)
        file = chunk.file
        with file.lock:
            if file.generation != chunk.generation or file.start != chunk.offset + chunk.length:
                return
            try:
                is_same = keys == [file.identity, file.identity] and self._fits(chunk, data)
                if is_same and file.prepend(data[: chunk.length], chunk.generation):
                    return
            except OSError as error:
                file.note = explain(error)
        # It is being replaced, and the next look will show it.
        self._rests[file.number] = time.monotonic() + _REST

    def _fits(self, chunk: _Chunk, data: bytes) -> bool:
        file = chunk.file
        repeated = data[chunk.length :]
        if not repeated or repeated != file.copy.read(file.start, len(repeated)):
            return False
        return chunk.offset > 0 or data.startswith(file.head)

    def _adapt(self, seconds: float) -> None:
        if seconds > _LONG:
            self._length = max(LEAST, self._length // 2)
        elif seconds < _SHORT:
            self._length = min(MOST, self._length * 2)


def _receive(answer: Iterable[bytes | Mark], most: int) -> tuple[bytes, list[bytes]]:
    """The bytes of a part, and the file's identity before and after."""
    pieces: list[bytes] = []
    keys: list[bytes] = []
    unpacker: Unpacker | None = None
    for item in answer:
        if not isinstance(item, Mark):
            pieces.append(unpacker.take(item) if unpacker else item)
        elif item.words[0] == b"data":
            unpacker = Unpacker(most) if item.words[-1] == b"gzip" else None
        elif stamp := Stamp.of(item.words[2 if item.words[0] == b"part" else 1 :]):
            keys.append(stamp.key)
    return b"".join(pieces), keys
