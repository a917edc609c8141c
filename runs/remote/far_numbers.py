"""Numbers in what another machine prints: any bytes may stand where one is expected."""

from __future__ import annotations

LARGEST_FILE = (1 << 63) - 1
"""Bytes; no file is longer, and no call of the system takes more."""
LATEST_TIME = 1 << 36
"""Seconds since 1970, in the year 4147: beyond it calendars and file systems fail."""
_MOST_DIGITS = 19


def whole_number(text: bytes, most: int = LARGEST_FILE) -> int | None:
    """A number that is written in plain digits and is not too large; None for anything else."""
    # Of bytes, `isdigit` takes the ten ASCII digits alone; `int` takes signs, blanks and `1_000`.
    if len(text) > _MOST_DIGITS or not text.isdigit():
        return None
    number = int(text)
    return number if number <= most else None


def moment(text: bytes) -> float | None:
    """Seconds since 1970, perhaps with a fraction; None if it is no time since then."""
    whole, dot, fraction = text.partition(b".")
    seconds = whole_number(whole, LATEST_TIME)
    if seconds is None or (dot and not (fraction.isdigit() and len(fraction) <= _MOST_DIGITS)):
        return None
    return float(text) if dot else float(seconds)
