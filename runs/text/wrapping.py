"""Messages that Rich's console wrapped: one message on several lines, as wide as a terminal.

    [09:12:31] INFO     Epoch 3 | train_loss: 2.27 | train_acc:      train.py:88
                        0.31 | val_loss: 2.37

They are put together again, without the file on the right, before anybody looks for numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .cleaning import CleanChunk
from .pieces import Pieces

_LEVELS = (b" INFO     ", b" DEBUG    ")
"""Padded as Rich does; what warnings and errors say is quoted, and stays as it is."""
_HEAD = rb"^(?:\[[^\]\n]{5,40}\]| {7,42})(?: INFO     | DEBUG    )(?=[^\s|])"
_WRAPPED = re.compile(rb"(?P<head>" + _HEAD + rb")[^\n]*(?:\n {16,60}(?=\S)[^\n]*)+", re.MULTILINE)
_LAST = re.compile(_HEAD + rb"[^\n]*(?:\n {16,60}(?=\S)[^\n]*)*\n?\Z", re.MULTILINE)
_SOURCE = re.compile(rb"\s+[\w.<>-]{1,60}:\d{1,6}\s*$")
_SAMPLE = 65536
"""Bytes in which a logger of that kind has said something, if there is one."""
_REACH = 20_000
"""Bytes at the end of a chunk in which its last message begins."""


@dataclass(slots=True)
class Wrapping:
    """Whether messages of one log are wrapped, and which."""

    _is_used: bool = False

    def open_message(self, data: bytes, end: int) -> int:
        """Where the last message before `end` begins, if it may go on behind it, else `end`."""
        if not self._is_used:
            return end
        start = max(data.rfind(b"\n", 0, max(0, end - _REACH)) + 1, 0)
        last = _LAST.search(data[start:end])
        return end if last is None else start + last.start()

    def unwrap(self, chunk: CleanChunk) -> CleanChunk:
        """The same chunk, a wrapped message as one piece."""
        joined = chunk.joined
        if chunk.line is not None or all(joined.find(one, 0, _SAMPLE) < 0 for one in _LEVELS):
            return chunk
        kept = np.ones(len(chunk.pieces), dtype=bool)
        parts: list[bytes] = []
        done = 0
        for message in _WRAPPED.finditer(joined):
            first, *rest = message[0].split(b"\n")
            indent = len(message["head"])
            if any(len(line) - len(line.lstrip(b" ")) != indent for line in rest):
                continue
            number = int(np.searchsorted(chunk.pieces.starts, message.start(), side="right")) - 1
            kept[number + 1 : number + 1 + len(rest)] = False
            words = b" ".join(line.strip() for line in rest)
            parts += [joined[done : message.start()], _SOURCE.sub(b"", first), b" ", words]
            done = message.end()
        if not parts:
            return chunk
        self._is_used = True
        whole = b"".join([*parts, joined[done:]])
        return CleanChunk(Pieces(whole), np.flatnonzero(kept), chunk.lines)
