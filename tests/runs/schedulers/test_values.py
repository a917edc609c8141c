"""Values as Slurm prints them."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.job import JobState
from mltd.runs.schedulers.slurm import values


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2-03:04:05", 183_845.0),
        ("365-00:00:00", 31_536_000.0),
        ("01:00:12", 3612.0),
        ("1:12", 72.0),
        ("0:00", 0.0),
        ("1-02", 93_600.0),
        ("60", 3600.0),
        ("UNLIMITED", math.inf),
        ("INVALID", None),
        ("Partition_Limit", None),
        ("NOT_SET", None),
        ("", None),
        (None, None),
    ],
)
def test_durations_are_seconds(text: str | None, seconds: float | None) -> None:
    assert values.duration(text) == seconds


def test_a_bare_number_has_the_unit_that_the_command_gives_it() -> None:
    assert values.duration("90", unit=1) == 90.0


@given(st.integers(0, 10**8))
def test_a_written_duration_is_read_back(seconds: int) -> None:
    days, rest = divmod(seconds, 86_400)
    text = f"{days}-{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    assert values.duration(text) == seconds


def test_points_in_time_are_seconds_since_1970(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert values.moment("1794851997") == 1794851997.0
    assert values.moment("2026-11-16T17:59:57") == 1794851997.0
    for nothing in ("Unknown", "N/A", "NONE", "0", "", "2026-13-99T99:99:99", "4294967294"):
        assert values.moment(nothing) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4000M", (4000 * 2**20, "")),
        ("2.50G", (int(2.5 * 2**30), "")),
        ("16Gn", (16 * 2**30, "n")),
        ("2000Mc", (2000 * 2**20, "c")),
        ("61238K", (61238 * 2**10, "")),
        ("0", (0, "")),
        ("?", (None, "")),
        ("", (None, "")),
    ],
)
def test_sizes_are_bytes(text: str, expected: tuple[int | None, str]) -> None:
    assert values.size(text) == expected


def test_exit_codes_and_signals_are_told_apart() -> None:
    assert values.exit_status("3:0") == (3, None)
    assert values.exit_status("0:15") == (0, 15)
    assert values.exit_status("") == (None, None)
    assert values.wait_status(768) == (3, None)
    assert values.wait_status(15) == (0, 15)
    assert values.wait_status(4294967294) == (None, None)


@pytest.mark.parametrize(
    ("said", "state", "flags", "by"),
    [
        ("RUNNING", JobState.RUNNING, (), None),
        (["RUNNING", "CONFIGURING"], JobState.CONFIGURING, ("RUNNING",), None),
        (["FAILED", "COMPLETING"], JobState.FAILED, ("COMPLETING",), None),
        (["PENDING", "REQUEUED"], JobState.PENDING, ("REQUEUED",), None),
        (["PREEMPTED", "REQUEUED"], JobState.REQUEUED, ("PREEMPTED",), None),
        ("CANCELLED by 1001", JobState.CANCELLED, (), "1001"),
        ("CANCELLED+", JobState.CANCELLED, (), None),
        ("OUT_OF_MEMORY", JobState.OUT_OF_MEMORY, (), None),
        ("COMPLETING", JobState.COMPLETING, (), None),
        ("?", JobState.UNKNOWN, (), None),
        ("A_STATE_OF_THE_FUTURE", JobState.UNKNOWN, (), None),
        (None, JobState.UNKNOWN, (), None),
    ],
)
def test_states_in_all_their_forms(
    said: str | list[str] | None, state: JobState, flags: tuple[str, ...], by: str | None
) -> None:
    assert values.states(said) == (state, flags, by)


@given(st.text() | st.none())
def test_nonsense_means_nothing_and_breaks_nothing(text: str | None) -> None:
    values.duration(text)
    values.moment(text)
    values.size(text)
    values.number(text)
    values.resources(text)
    values.exit_status(text)
    values.states(text)
    values.text(text)


def test_numbers_that_mean_not_set_are_none() -> None:
    assert values.number("4294967294") is None
    assert values.number("65534") is None
    assert values.number("7") == 7
    assert values.number("-1") is None
    assert values.number("٣") is None  # a digit, but not one that Slurm prints
