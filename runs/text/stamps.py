"""Timestamps of many lines at once: columns of characters to seconds, without a loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..harvest import Floats, Ints

_Digits = npt.NDArray[np.uint8]
"""Lines x characters; what is no digit is above 9."""
_Place = tuple[int, int]


class _Layout(NamedTuple):
    """Where the parts of a timestamp stand in its row."""

    year: _Place | None
    month: _Place | None
    day: _Place | None
    hour: _Place
    minute: _Place
    second: _Place
    century: int = 0
    may_begin_with_day: bool = False
    """31/01/24 and 01/31/24 look alike."""


_LAYOUTS = {
    "iso": _Layout((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)),
    "month": _Layout(None, (0, 2), (3, 5), (6, 8), (9, 11), (12, 14)),
    "glog": _Layout(None, (1, 3), (3, 5), (6, 8), (9, 11), (12, 14)),
    "clock": _Layout(None, None, None, (0, 2), (3, 5), (6, 8)),
}
_TWO_DIGIT_YEAR = _Layout((6, 8), (0, 2), (3, 5), (9, 11), (12, 14), (15, 17), 2000, True)
_FOUR_DIGIT_YEAR = _Layout((6, 10), (0, 2), (3, 5), (11, 13), (14, 16), (17, 19), 0, True)
_MAX_DECIMALS = 6
_CLOCK = np.array([36000.0, 3600.0, 0.0, 600.0, 60.0, 0.0, 10.0, 1.0])
"""Seconds that the characters of `10:59:59` stand for."""


def parse_stamps(kind: str, characters: npt.NDArray[np.uint8]) -> Floats:
    """Seconds since 1970 as if UTC; NaN where a row holds no timestamp of that kind.

    Without a year the year is 1970, without a date the day is the first: differences hold.
    """
    layout = _layout(kind, characters[0].tobytes())
    if layout is None or characters.shape[1] < layout.second[1]:
        return np.full(len(characters), np.nan)
    # Unsigned: whatever is below "0" wraps to a large number.
    digits = characters - np.uint8(ord("0"))
    clock = digits[:, layout.hour[0] : layout.second[1]] @ _CLOCK
    seconds = _days(digits, layout) * 86400.0 + clock + _fraction(digits, layout.second[1])
    is_stamp = _has_digits(digits, layout)
    return seconds if is_stamp.all() else np.where(is_stamp, seconds, np.nan)


def _layout(kind: str, example: bytes) -> _Layout | None:
    if kind == "short":
        return _FOUR_DIGIT_YEAR if example[8:10].isdigit() else _TWO_DIGIT_YEAR
    return _LAYOUTS.get(kind)


def _has_digits(digits: _Digits, layout: _Layout) -> npt.NDArray[np.bool_]:
    """True where all places of the layout hold nothing but digits."""
    places = (layout.year, layout.month, layout.day, layout.hour, layout.minute, layout.second)
    columns = [column for place in places if place is not None for column in range(*place)]
    is_digit = digits[:, columns] <= 9
    if is_digit.all():
        return np.ones(len(digits), dtype=bool)
    found: npt.NDArray[np.bool_] = np.all(is_digit, axis=1)
    return found


def _number(digits: _Digits, place: _Place) -> Ints:
    number = np.zeros(len(digits), dtype=np.int64)
    for column in range(*place):
        number = number * 10 + digits[:, column]
    return number


def _fraction(digits: _Digits, start: int) -> Floats:
    """What the decimals behind a separator at `start` add to the second."""
    fraction = np.zeros(len(digits))
    columns = range(start + 1, min(start + 1 + _MAX_DECIMALS, digits.shape[1]))
    for place, column in enumerate(columns, start=1):
        digit = digits[:, column]
        fraction += np.where(digit <= 9, digit, 0) * 0.1**place
    return fraction


def _days(digits: _Digits, layout: _Layout) -> Ints:
    if layout.month is None or layout.day is None:
        return np.zeros(len(digits), dtype=np.int64)
    dates = digits[:, : layout.hour[0]]
    if (dates == dates[0]).all():
        digits = digits[:1]  # most lines are of the same day as the one before
    month, day = _number(digits, layout.month), _number(digits, layout.day)
    if layout.may_begin_with_day and month.max() > 12 and day.max() <= 12:
        month, day = day, month
    if layout.year is None:
        year = np.full(len(digits), 1970, dtype=np.int64)
    else:
        year = _number(digits, layout.year) + layout.century
    return _days_since_1970(year, month, day)


def _days_since_1970(year: Ints, month: Ints, day: Ints) -> Ints:
    # Civil calendar to days, with the year starting in March so that leap days come last.
    shifted = year - (month <= 2)
    era = shifted // 400
    year_of_era = shifted - era * 400
    day_of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    days: Ints = era * 146097 + day_of_era - 719468
    return days
