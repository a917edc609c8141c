"""What `stat` on the far side tells of a file."""

from __future__ import annotations

import contextlib
from typing import NamedTuple


class Stamp(NamedTuple):
    """Identity, length and time of a remote file; `text` changes when any of it changes."""

    text: bytes
    key: bytes
    size: int
    modified: float | None
    """Seconds since 1970 by the clock over there, where its tools can tell."""

    @classmethod
    def of(cls, words: tuple[bytes, ...]) -> Stamp | None:
        """Read `device:inode/size/modified/...`; None if the file was gone by then."""
        text = b" ".join(words)
        parts = text.split(b"/")
        if len(parts) < 3 or not parts[1].isdigit():
            return None
        modified = None
        with contextlib.suppress(ValueError):
            modified = float(parts[2])
        if modified is not None and len(parts) > 5:
            modified += _fraction(parts[4])
        return cls(text, parts[0], int(parts[1]), modified)


def _fraction(written_time: bytes) -> float:
    """The part of a second in `2026-11-16 18:58:03.046750085 +0000`."""
    digits = written_time.partition(b".")[2].partition(b" ")[0]
    return float(b"0." + digits) if digits.isdigit() else 0.0
