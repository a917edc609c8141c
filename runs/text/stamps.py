"""Timestamps of many lines at once: fixed-width slices to seconds, without a loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..harvest import Floats

# Kind to the places of year, month, day, hour, minute, second inside the slice.
_LAYOUTS: dict[str, tuple[tuple[int, int] | None, ...]] = {
    "iso": ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)),
    "month": (None, (0, 2), (3, 5), (6, 8), (9, 11), (12, 14)),
    "glog": (None, (1, 3), (3, 5), (6, 8), (9, 11), (12, 14)),
    "clock": (None, None, None, (0, 2), (3, 5), (6, 8)),
}
_TWO_DIGIT_YEAR = ((6, 8), (0, 2), (3, 5), (9, 11), (12, 14), (15, 17))
_FOUR_DIGIT_YEAR = ((6, 10), (0, 2), (3, 5), (11, 13), (14, 16), (17, 19))


def parse_stamps(kind: str, slices: Sequence[bytes]) -> Floats:
    """Seconds since 1970 as if UTC; NaN where a slice is no timestamp of that kind.

    Without a year the year is 1970, without a date the day is the first: differences hold.
    """
    width = len(slices[0])
    unknown = np.full(len(slices), np.nan)
    layout = _layout(kind, slices[0])
    if layout is None or width < max(place[1] for place in layout if place is not None):
        return unknown
    joined = b"".join(slices)
    if len(joined) != width * len(slices) or len(set(map(len, slices))) > 1:
        joined = b"".join(piece if len(piece) == width else b" " * width for piece in slices)
    digits = np.frombuffer(joined, dtype=np.uint8).reshape(len(slices), width)
    fields: list[npt.NDArray[np.int64] | None] = []
    valid = np.ones(len(slices), dtype=bool)
    for place in layout:
        if place is None:
            fields.append(None)
            continue
        number = np.zeros(len(slices), dtype=np.int64)
        for column in range(*place):
            # Unsigned: whatever is below "0" wraps to a large number.
            digit = digits[:, column] - np.uint8(48)
            valid &= digit <= 9
            number = number * 10 + digit
        fields.append(number)
    year, month, day, hour, minute, second = fields
    if kind == "short" and month is not None and day is not None:
        if month.max() > 12 and day.max() <= 12:
            month, day = day, month
        if year is not None and layout is _TWO_DIGIT_YEAR:
            year = year + 2000
    assert hour is not None and minute is not None and second is not None
    days = _days_since_1970(year, month, day, len(slices))
    seconds = days * 86400.0 + hour * 3600.0 + minute * 60.0 + second
    seconds = seconds + _fraction(digits, max(p[1] for p in layout if p is not None))
    return np.where(valid, seconds, np.nan)


def _layout(kind: str, example: bytes) -> tuple[tuple[int, int] | None, ...] | None:
    if kind == "short":
        return _FOUR_DIGIT_YEAR if example[8:10].isdigit() else _TWO_DIGIT_YEAR
    return _LAYOUTS.get(kind)


def _fraction(digits: npt.NDArray[np.uint8], start: int) -> Floats:
    fraction = np.zeros(len(digits))
    for place, column in enumerate(range(start + 1, min(start + 7, digits.shape[1])), start=1):
        digit = digits[:, column] - np.uint8(48)
        fraction += np.where(digit <= 9, digit, 0) * 0.1**place
    return fraction


def _days_since_1970(
    year: npt.NDArray[np.int64] | None,
    month: npt.NDArray[np.int64] | None,
    day: npt.NDArray[np.int64] | None,
    count: int,
) -> npt.NDArray[np.int64]:
    if month is None or day is None:
        return np.zeros(count, dtype=np.int64)
    if year is None:
        year = np.full(count, 1970, dtype=np.int64)
    # Civil calendar to days, with the year starting in March so that leap days come last.
    shifted = year - (month <= 2)
    era = shifted // 400
    year_of_era = shifted - era * 400
    day_of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    days: npt.NDArray[np.int64] = era * 146097 + day_of_era - 719468
    return days
