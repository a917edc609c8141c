"""Timestamps of many lines at once."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.text.stamps import parse_stamps


def characters(*stamps: str) -> npt.NDArray[np.uint8]:
    """One row of codes for each timestamp."""
    return np.array([list(stamp.encode()) for stamp in stamps], dtype=np.uint8)


def seconds(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("kind", "stamp", "expected"),
    [
        ("iso", "2024-02-29 10:20:30", seconds(2024, 2, 29, 10, 20, 30)),
        ("iso", "2024-02-29T10:20:30,250", seconds(2024, 2, 29, 10, 20, 30) + 0.25),
        ("short", "02/29/24 10:20:30", seconds(2024, 2, 29, 10, 20, 30)),
        ("short", "02/29/2024 10:20:30", seconds(2024, 2, 29, 10, 20, 30)),
        ("short", "29/02/24 10:20:30", seconds(2024, 2, 29, 10, 20, 30)),
        ("month", "02-28 10:20:30", seconds(1970, 2, 28, 10, 20, 30)),
        ("glog", "I0228 10:20:30.5", seconds(1970, 2, 28, 10, 20, 30) + 0.5),
        ("clock", "10:20:30", seconds(1970, 1, 1, 10, 20, 30)),
    ],
)
def test_kinds(kind: str, stamp: str, expected: float) -> None:
    assert parse_stamps(kind, characters(stamp)).tolist() == [pytest.approx(expected, abs=1e-6)]


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001
def test_every_day_of_the_calendar(moment: datetime) -> None:
    parsed = parse_stamps("iso", characters(moment.strftime("%Y-%m-%d %H:%M:%S.%f")))
    assert parsed[0] == pytest.approx(moment.replace(tzinfo=UTC).timestamp(), abs=1e-5)


def test_a_row_that_is_no_timestamp_is_nan_alone() -> None:
    parsed = parse_stamps("clock", characters("10:20:30", "10:2x:30", "\0" * 8))
    assert np.isnan(parsed).tolist() == [False, True, True]


@pytest.mark.parametrize(("kind", "stamp"), [("ctime", "Jan 31 10:20:30"), ("iso", "2024-01-31")])
def test_unknown_kinds_and_short_rows_are_nan(kind: str, stamp: str) -> None:
    assert np.isnan(parse_stamps(kind, characters(stamp, stamp))).tolist() == [True, True]
