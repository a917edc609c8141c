"""From raw bytes to clean lines: colours, carriage returns, backspaces, NULs.

Everything works on whole chunks at C speed, and only if the offending byte is there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..harvest import Ints

_ESCAPES = re.compile(
    rb"""
    \x1b(?:
        \[[0-?]*[ -/]*[@-~]                        # colours and cursor movements
      | \][^\x07\x1b\n]*(?:\x07|\x1b\\)?           # window titles and links
      | [PX^_][^\x1b\n]*(?:\x1b\\)?                # device control strings
      | [ -/]*[0-~]                                # all other commands
      | $                                          # cut off by the end of the chunk
    )
    """,
    re.VERBOSE,
)
_CURSOR_MOVES = re.compile(rb"\x1b\[[\d;]*[ABEFGHf]")
"""What follows is drawn somewhere else: nested progress bars move between their lines."""
_LINE_END = re.compile(rb"\r+\n")
_REDRAWN = b"\x00"
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
    chunk = _without_controls(chunk).removesuffix(b"\n")
    if b"\r" in chunk:
        chunk = _LINE_END.sub(b"\n", chunk).removesuffix(b"\r")
    if b"\r" not in chunk:
        return _limited(CleanChunk(chunk.split(b"\n"), chunk, None, lines))
    marked = chunk.replace(b"\r", _REDRAWN + b"\n").split(b"\n")
    ends_line = np.fromiter((not piece.endswith(_REDRAWN) for piece in marked), bool, len(marked))
    line = np.cumsum(ends_line) - ends_line
    pieces = [piece.removesuffix(_REDRAWN) for piece in marked]
    return _limited(CleanChunk(pieces, b"\n".join(pieces), line.astype(np.int64), lines))


def _without_controls(chunk: bytes) -> bytes:
    if b"\x1b" in chunk:
        chunk = _ESCAPES.sub(b"", _CURSOR_MOVES.sub(b"\r", chunk))
    if b"\x08" in chunk:
        chunk = chunk.replace(b"\x08", b"\r")
    if b"\x00" in chunk:
        chunk = chunk.replace(b"\x00", b"")
    return chunk


def _limited(chunk: CleanChunk) -> CleanChunk:
    if len(chunk.joined) > MAX_PIECE and max(map(len, chunk.pieces)) > MAX_PIECE:
        chunk.pieces = [piece[:MAX_PIECE] for piece in chunk.pieces]
        chunk.joined = b"\n".join(chunk.pieces)
    return chunk


def decode(piece: bytes) -> str:
    """Text of a piece: UTF-8, else GB18030, else what survives."""
    for encoding in ("utf-8", "gb18030"):
        with suppress(UnicodeDecodeError):
            return piece.decode(encoding)
    return piece.decode(errors="replace")
