"""From raw bytes to clean lines: colours, carriage returns, backspaces, NULs.

Everything works on whole chunks at C speed, and only if the offending byte is there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..harvest import Ints

_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~]|$)"
)
_CARRIAGE = re.compile(rb"\r+\n")
_UPDATE = b"\x0b"
"""Marks a piece that ended in a carriage return: a progress bar redrawing itself."""
MAX_PIECE = 1 << 20
"""A longer piece of a line is cut for reading; nothing a training prints is that long."""


@dataclass(slots=True)
class CleanChunk:
    """Pieces of lines without terminators, and the line each belongs to."""

    pieces: list[bytes]
    joined: bytes
    """The pieces joined by newlines."""
    line: Ints | None
    """0-based line of every piece; None if piece i is line i."""
    lines: int

    def line_of(self, piece: int) -> int:
        """0-based line number of a piece."""
        return piece if self.line is None else int(self.line[piece])


def clean(chunk: bytes, *, is_open: bool = False) -> CleanChunk:
    """Split a chunk of complete lines; if open, its last line goes on in the next chunk."""
    lines = chunk.count(b"\n") + (not chunk.endswith(b"\n") and not is_open)
    if b"\x1b" in chunk:
        chunk = _ESCAPES.sub(b"", chunk)
    if b"\x08" in chunk:
        chunk = chunk.replace(b"\x08", b"\r")
    if b"\x00" in chunk:
        chunk = chunk.replace(b"\x00", b"")
    if chunk.endswith(b"\n"):
        chunk = chunk[:-1]
    if b"\r" not in chunk:
        pieces = chunk.split(b"\n")
        return _limited(CleanChunk(pieces, chunk, None, lines))
    chunk = _CARRIAGE.sub(b"\n", chunk).removesuffix(b"\r")
    if b"\r" not in chunk:
        pieces = chunk.split(b"\n")
        return _limited(CleanChunk(pieces, chunk, None, lines))
    raw = chunk.replace(b"\r", _UPDATE + b"\n").split(b"\n")
    ends_line = np.fromiter((not piece.endswith(_UPDATE) for piece in raw), bool, len(raw))
    line = np.cumsum(ends_line) - ends_line
    pieces = [piece[:-1] if piece.endswith(_UPDATE) else piece for piece in raw]
    return _limited(CleanChunk(pieces, b"\n".join(pieces), line.astype(np.int64), lines))


def _limited(chunk: CleanChunk) -> CleanChunk:
    if len(chunk.joined) > MAX_PIECE and max(map(len, chunk.pieces)) > MAX_PIECE:
        chunk.pieces = [p[:MAX_PIECE] for p in chunk.pieces]
        chunk.joined = b"\n".join(chunk.pieces)
    return chunk


def decode(piece: bytes) -> str:
    """Text of a piece: UTF-8, else GB18030, else what survives."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        pass
    try:
        return piece.decode("gb18030")
    except UnicodeDecodeError:
        return piece.decode(errors="replace")
