"""A copy that can be read at any place, of a file that cannot: compressed, or in UTF-16."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from ..open_artifact import ANYWHERE, Roots
from .decompression import MAGIC_BYTES, recognise
from .inputs import open_bytes
from .utf8_transcoder import Utf8Transcoder

MOST_BYTES = 512 << 20
"""What a copy may take of the temporary directory."""
HEAD_BYTES = 1024
"""Enough to tell how a text is written."""


def needs_copy(head: bytes) -> bool:
    """True if a file that begins with these bytes is compressed or not written in UTF-8."""
    if recognise(head[:MAGIC_BYTES]) is not None:
        return True
    transcoder = Utf8Transcoder()
    transcoder.feed(head, final=True)
    return transcoder.encoding not in ("", "utf-8")


class TextCopy:
    """UTF-8 in an unlinked temporary file, made step by step, so that nobody waits for it all."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        root: Roots = ANYWHERE,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._source = open_bytes(path, root)
        self._transcoder = Utf8Transcoder()
        self._most_bytes = most_bytes
        self._file = tempfile.TemporaryFile(prefix="mltd-log-")  # noqa: SIM115 - held until closed
        self._is_cut = False
        self.size = 0

    @property
    def descriptor(self) -> int:
        """The copy, for reading."""
        return self._file.fileno()

    @property
    def is_packed(self) -> bool:
        """True if the file is compressed: such a file does not grow."""
        return bool(self._source.compression)

    @property
    def note(self) -> str:
        """What is missing, in words; empty if nothing is known to be."""
        if self._is_cut:
            return f"only the first {self._most_bytes >> 20:,} MiB are shown"
        return "; ".join(self._source.notes)

    def step(self, length: int = 1 << 20) -> bool:
        """Copy some more; false if there is nothing left for now."""
        if self._is_cut:
            return False
        data = self._source.read(length)
        # What is too short to be told apart is decided once there is no more of it.
        is_undecided = not data and not self._transcoder.encoding
        text = self._transcoder.feed(data, final=is_undecided)
        room = self._most_bytes - self.size
        self._is_cut = len(text) > room
        self._file.write(text[:room])
        self._file.flush()
        self.size += min(len(text), room)
        return bool(data)

    def close(self) -> None:
        """Let go of both files."""
        with suppress(OSError):
            self._source.close()
        with suppress(OSError):
            self._file.close()
