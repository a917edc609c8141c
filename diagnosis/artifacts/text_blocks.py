"""The text of an open file from its beginning: unpacked, as UTF-8, in whole lines, in time.

Only light modules are imported: the process that searches must start at once.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mltd.runs.sources.decompression import MAGIC_BYTES, DecompressedRaw, recognise
from mltd.runs.sources.line_text import shown_text
from mltd.runs.sources.utf8_transcoder import Utf8Transcoder

BLOCK_BYTES = 1 << 20
LONGEST_BYTES = 64 << 10
"""Of one line; the same limit as on the screen."""
_OVERLONG_BYTES = 1 << 20
"""A line that is longer than this is not held in memory."""


class TooLong(Exception):
    """The time that was given is over."""


class Packing(Exception):
    """The file is packed in a way that cannot be undone here; says why."""


class Stretch(NamedTuple):
    """Some whole lines with their newlines; the last one of a text may have none."""

    data: bytes
    clipped: int = 0
    """Bytes that were left out of the one overlong line that this is."""


def text_blocks(descriptor: int, deadline: float, offset: int = 0) -> Iterator[bytes]:
    """The text in pieces of about a mebibyte; an offset is for plain files alone."""
    codec = recognise(os.pread(descriptor, MAGIC_BYTES, 0))
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as raw:
        raw.seek(offset)
        stream: io.RawIOBase = raw
        if codec is not None:
            try:
                stream = DecompressedRaw(io.BufferedReader(raw), codec)
            except ImportError:
                raise Packing(
                    "is compressed with zstd, and the package for that is not installed"
                ) from None
        transcoder = Utf8Transcoder()
        is_begun = offset > 0
        while True:
            if time.monotonic() > deadline:
                raise TooLong
            data = stream.read(BLOCK_BYTES) or b""
            text = data if offset else transcoder.feed(data, final=not data)
            if not is_begun:
                # A writer that kept its place while the file was cut leaves a hole before it.
                text = text.lstrip(b"\0")
                is_begun = bool(text)
            if text:
                yield text
            if not data:
                return


def stretches(blocks: Iterable[bytes]) -> Iterator[Stretch]:
    """Whole lines; of one beyond a mebibyte only the part that counts."""
    pending = head = tail = b""
    length = 0
    for block in blocks:
        if length:
            end = block.find(b"\n")
            part = block if end < 0 else block[:end]
            length += len(part)
            tail = (tail + part)[-LONGEST_BYTES:]
            if end < 0:
                continue
            yield _overlong(head, tail, length, b"\n")
            length, block = 0, block[end + 1 :]
        data = pending + block
        end = data.rfind(b"\n") + 1
        if end:
            yield Stretch(data[:end])
        pending = data[end:]
        if len(pending) > _OVERLONG_BYTES:
            head, tail, length = pending[:LONGEST_BYTES], pending[-LONGEST_BYTES:], len(pending)
            pending = b""
    if length:
        yield _overlong(head, tail, length, b"")
    elif pending:
        yield Stretch(pending)


def line_text(data: bytes, clipped: int = 0) -> tuple[str, int]:
    """What a line without its newline says, and how many bytes of it were left out."""
    if len(data) > LONGEST_BYTES:
        kept = _kept(data[:LONGEST_BYTES], data[-LONGEST_BYTES:])
        clipped += len(data) - len(kept)
        data = kept
    return shown_text(data).text, clipped


def _overlong(head: bytes, tail: bytes, length: int, newline: bytes) -> Stretch:
    kept = _kept(head, tail)
    return Stretch(kept + newline, length - len(kept))


def _kept(head: bytes, tail: bytes) -> bytes:
    """The part of an overlong line that counts: what a bar showed last, else the beginning."""
    redrawn = tail.rstrip(b"\r").find(b"\r")
    return head if redrawn < 0 else tail[redrawn + 1 :]
