"""From raw bytes to clean lines: colours, carriage returns, backspaces, NULs.

Everything works on whole chunks at C speed, and only if the offending byte is there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..harvest import Ints
from .pieces import Pieces, count_newlines

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
_LINE_END = re.compile(rb"(?<!\r)\r++\n")
_EMPTY_REDRAWS = re.compile(rb"\r{3,}")
_REDRAWN = b"\x00"
"""Marks a piece that ended in a carriage return: a progress bar redrawing itself."""
MAX_PIECE = 1 << 20
"""A longer piece of a line is cut for reading; nothing a training prints is that long."""


@dataclass(slots=True)
class CleanChunk:
    """Pieces of lines without terminators, and the line each belongs to."""

    pieces: Pieces
    line: Ints | None
    """0-based line of every piece; None if piece i is line i."""
    lines: int

    @property
    def joined(self) -> bytes:
        """The pieces joined by newlines."""
        return self.pieces.joined

    def line_of(self, piece: int) -> int:
        """0-based line number of a piece."""
        return piece if self.line is None else int(self.line[piece])


def clean(chunk: bytes, *, is_open: bool = False) -> CleanChunk:
    """Split a chunk of complete lines; if open, its last line goes on in the next chunk."""
    lines = count_newlines(chunk) + (not chunk.endswith(b"\n") and not is_open)
    chunk = _without_controls(chunk).removesuffix(b"\n")
    if b"\r" in chunk:
        chunk = _LINE_END.sub(b"\n", chunk).removesuffix(b"\r")
        # Each would be a piece of its own, and there may be millions.
        chunk = _EMPTY_REDRAWS.sub(b"\r\r", chunk)
    if b"\r" not in chunk:
        return CleanChunk(_limited(chunk), None, lines)
    marked = chunk.replace(b"\r", _REDRAWN + b"\n").split(b"\n")
    ends_line = np.fromiter((not piece.endswith(_REDRAWN) for piece in marked), bool, len(marked))
    line = np.cumsum(ends_line) - ends_line
    joined = b"\n".join([piece.removesuffix(_REDRAWN) for piece in marked])
    return CleanChunk(_limited(joined), line.astype(np.int64), lines)


def _without_controls(chunk: bytes) -> bytes:
    if b"\x1b" in chunk:
        chunk = _ESCAPES.sub(b"", _CURSOR_MOVES.sub(b"\r", chunk))
    if b"\x08" in chunk:
        chunk = chunk.replace(b"\x08", b"\r")
    if b"\x00" in chunk:
        chunk = chunk.replace(b"\x00", b"")
    return chunk


def _limited(joined: bytes) -> Pieces:
    pieces = Pieces(joined)
    if len(joined) > MAX_PIECE and int(np.diff(pieces.starts).max()) - 1 > MAX_PIECE:
        return Pieces(b"\n".join([piece[:MAX_PIECE] for piece in pieces]))
    return pieces


def decode(piece: bytes) -> str:
    """Text of a piece: UTF-8, else GB18030, else what survives."""
    for encoding in ("utf-8", "gb18030"):
        with suppress(UnicodeDecodeError):
            return piece.decode(encoding)
    return piece.decode(errors="replace")
