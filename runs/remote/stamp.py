"""What `stat` on the far side tells of a file."""

from __future__ import annotations

from typing import NamedTuple

from .far_numbers import moment, whole_number


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
        size = whole_number(parts[1]) if len(parts) > 2 else None
        if size is None:
            return None
        modified = moment(parts[2])
        if modified is not None and len(parts) > 5:
            modified += _fraction(parts[4])
        return cls(text, parts[0], size, modified)


def _fraction(written_time: bytes) -> float:
    """The part of a second in `2026-11-16 18:58:03.046750085 +0000`."""
    digits = written_time.partition(b".")[2].partition(b" ")[0]
    return moment(b"0." + digits) or 0.0
