"""Text in UTF-16 or UTF-32 (what PowerShell and some loggers write) as UTF-8; the rest as it is."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Final

from .pieces import Piece

_MARKS: Final = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PROOF_BYTES = 1024
"""Text without a mark is taken for UTF-16 if every second byte up to here is NUL."""


class Utf8Transcoder:
    """Bytes in, UTF-8 out; how the input is cut up never changes the output.

    The first bytes are held back until they decide: one byte of ordinary text, at most a
    kibibyte of what looks like UTF-16 without a mark. Invalid UTF-16 or UTF-32 becomes U+FFFD;
    other bytes pass unchanged, valid or not.
    """

    def __init__(self) -> None:
        self.encoding = ""
        """What the input turned out to be; empty before that is known."""
        self._held = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes, *, final: bool = False) -> bytes:
        """The output for the bytes that follow; `final` also flushes what was held back."""
        if not self.encoding:
            self._held += data
            found = _recognise(self._held, final=final)
            if found is None:
                return b""
            self.encoding, mark_length = found
            data, self._held = self._held[mark_length:], b""
            if self.encoding != "utf-8":
                self._decoder = codecs.getincrementaldecoder(self.encoding)(errors="replace")
        if self._decoder is None:
            return data
        return self._decoder.decode(data, final).encode("utf-8")


class PieceTranscoder:
    """The same for followed pieces: every generation starts afresh, offsets count UTF-8 bytes."""

    def __init__(self) -> None:
        self._generation = -1
        self._transcoder = Utf8Transcoder()
        self._written = 0

    @property
    def encoding(self) -> str:
        """What the generation under way turned out to be; empty before that is known."""
        return self._transcoder.encoding

    def feed(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Pieces of UTF-8; those that are held back whole are left out until they decide."""
        converted = []
        for piece in pieces:
            if piece.generation != self._generation:
                self._generation = piece.generation
                self._transcoder = Utf8Transcoder()
                self._written = piece.offset
            data = self._transcoder.feed(piece.data, final=piece.ends)
            if data or piece.ends:
                converted.append(piece._replace(offset=self._written, data=data))
            self._written += len(data)
        return converted


def _recognise(head: bytes, *, final: bool) -> tuple[str, int] | None:
    """Encoding and length of the byte order mark; None if more bytes are needed to tell."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding, len(mark)
        if mark.startswith(head) and not final:
            return None
    if len(head) < 2 and not final:
        return None
    proof = head[:_PROOF_BYTES]
    for encoding, nul in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(proof) >= 2 and _alternates(proof, nul):
            return (encoding, 0) if final or len(proof) == _PROOF_BYTES else None
    return "utf-8", 0


def _alternates(proof: bytes, nul: int) -> bool:
    """True if the bytes at odd (1) or even (0) places are NUL, and none of the others is."""
    return not any(proof[nul::2]) and 0 not in proof[1 - nul :: 2]
