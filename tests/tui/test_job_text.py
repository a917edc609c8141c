"""Jobs in words."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.tui.engine.job_row import JobRow
from mltd.tui.engine.protocol import Health, RunRow
from mltd.tui.job_text import (
    begun,
    described,
    headline_of,
    job_state,
    moment,
    share_of,
    state_of,
    time_of,
    waiting,
)
from tests.tui.app_scene import NOW
from tests.tui.job_rows import (
    CANCELLED,
    DONE,
    HOUR,
    JOBS,
    PENDING,
    RUNNING,
    SHORT,
    TASK,
    TASKS,
    TIMEOUT,
    make_row,
)


@pytest.fixture(autouse=True)
def _zone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (RUNNING, "1:02/4:00h"),
        (RUNNING._replace(limit=30 * 60.0, elapsed=725.0), "12/30m"),
        (TASK, "1d02h/7d"),
        (TASK._replace(elapsed=5 * HOUR), "5:00h/7d"),
        (RUNNING._replace(limit=None), "1:02h"),
        (RUNNING._replace(limit=math.inf, elapsed=100 * HOUR), "4d04h"),
        (RUNNING._replace(elapsed=None), ""),
        (TIMEOUT, "4:00h"),
        (CANCELLED, "5m"),
        (CANCELLED._replace(elapsed=7.0), "7s"),
        (PENDING, "at 14:38"),
        (TASKS, ""),
    ],
)
def test_elapsed_and_allowed_time_fit_a_column(job: JobRow, expected: str) -> None:
    assert time_of(job, NOW) == expected
    assert len(expected) <= 10


def test_time_goes_on_between_two_answers_but_not_after_the_end() -> None:
    assert time_of(RUNNING, NOW + 600) == "1:12/4:00h"
    assert time_of(TIMEOUT, NOW + 600) == "4:00h"
    assert share_of(RUNNING, NOW) == pytest.approx(0.26, abs=0.01)
    assert share_of(TIMEOUT, NOW) is None


def test_little_time_is_less_than_a_tenth_of_the_limit() -> None:
    assert SHORT.is_short_of_time(NOW)
    assert not RUNNING.is_short_of_time(NOW)
    assert RUNNING.is_short_of_time(NOW + 2.7 * HOUR)
    assert not RUNNING._replace(limit=math.inf).is_short_of_time(NOW + 9e9)
    assert not TIMEOUT.is_short_of_time(NOW)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (RUNNING, "RUNNING 1:02 of 4:00 h, 2:57 left on gpu03"),
        (SHORT, "RUNNING 3:45 of 4:00 h, 14 min left on gpu[04-07], restarted once"),
        (TASK, "RUNNING 1d02h of 7d, 5 d 21 h left on gpu11"),
        (RUNNING._replace(limit=None), "RUNNING 1 h 2 min on gpu03"),
        (RUNNING._replace(elapsed=5 * HOUR), "RUNNING 5:00 of 4:00 h, time limit reached on gpu03"),
        (TIMEOUT, "TIMEOUT, SIGTERM after 4 h on gpu01"),
        (DONE, "COMPLETED after 2 h 6 min"),
        (PENDING, "job 48220: pending (Resources), starts about 14:38"),
        (JobRow("7"), "job 7: its state is not known"),
    ],
)
def test_a_job_in_a_line(job: JobRow, expected: str) -> None:
    texts = list(described(job, NOW))
    assert texts[0] == expected
    assert [len(text) for text in texts] == sorted(map(len, texts), reverse=True)


def test_what_a_scheduler_said_long_ago_is_told_with_its_age() -> None:
    assert next(described(RUNNING, NOW + 300)).endswith("on gpu03, as of 5 min ago")
    assert waiting(PENDING, NOW + 300).endswith("starts about 14:38, as of 5 min ago")
    assert "as of" not in next(described(TIMEOUT, NOW + 300))


def test_a_job_that_waits_says_why_until_when_and_how_often_it_began() -> None:
    assert waiting(TASKS, NOW) == "job 48215_[8-40%4]: pending (JobArrayTaskLimit)"
    held = PENDING._replace(reason="JobHeldUser", starts_at=None, restarts=2)
    assert waiting(held, NOW) == "job 48220: held (JobHeldUser), restarted twice"


def test_moments_are_as_near_as_they_are() -> None:
    assert moment(NOW + 1500, NOW) == "14:38"
    assert moment(NOW + 86_400, NOW) == "Tue 14:13"
    assert moment(NOW + 60 * 86_400, NOW) == "20 Nov"
    assert moment(1e300, NOW) == "?"


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("OUT_OF_MEMORY", "no memory"),
        ("NODE_FAIL", "node fail"),
        ("COMPLETING", "ending"),
        ("PREEMPTED", "preempted"),
        ("SOMETHING_ELSE_AND_LONG", "something else and long"),
    ],
)
def test_states_are_short_words(state: str, word: str) -> None:
    assert job_state(DONE._replace(state=state))[1] == word


def test_what_the_log_knows_and_what_the_job_knows() -> None:
    def state(job: JobRow, of_log: str, **facts: float) -> str:
        return state_of(make_row(0, "x", "/x", state=of_log, job=job, **facts))[1]

    assert state(RUNNING, "stalled") == "stalled"
    assert state(RUNNING, "") == "running"
    assert state(TIMEOUT, "running") == "timed out"
    assert state(DONE, "failed") == "failed"
    assert state(DONE, "stalled") == "completed"
    assert state(PENDING, "unknown") == "pending"
    assert state(PENDING, "running", modified=NOW) == "running", "it has begun since"
    assert state(PENDING, "stalled", modified=NOW - 60) == "pending"
    assert begun(PENDING, NOW) == "job 48220: pending 12 s ago, begun since"


def test_why_there_is_nothing_to_find() -> None:
    told = {row.name.split()[0]: headline_of(row, NOW) for row in JOBS}
    assert told["48220"] == "it is next and waits for nodes to become free"
    assert told["48197"] == "cancelled by ada"
    assert told["48201"].startswith("the job ran into its time limit")
    assert told["48213"] == ""
    silent = make_row(0, "x", "/x", job=RUNNING)
    assert headline_of(silent, NOW) == "it has written nothing yet"
    assert headline_of(silent._replace(logs=()), NOW) == "it writes no log that is known"
    failed = silent._replace(job=TIMEOUT, health=Health.UNKNOWN, modified=NOW)
    assert headline_of(failed, NOW) == "SIGTERM, it reached its time limit"


NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.builds(
        JobRow,
        id=st.text(max_size=9),
        state=st.text(min_size=1, max_size=12),
        phase=st.sampled_from(["waiting", "running", "over", "unknown"]),
        elapsed=NUMBERS,
        limit=NUMBERS | st.just(math.inf),
        starts_at=NUMBERS,
        asked_at=NUMBERS,
        is_ticking=st.booleans(),
    )
)
def test_no_numbers_of_a_scheduler_break_the_words(job: JobRow) -> None:
    assert list(described(job, NOW))
    assert isinstance(time_of(job, NOW), str)
    row = RunRow(0, "x", "/x", job=job)
    assert state_of(row)[1]
    assert isinstance(headline_of(row, NOW), str)
