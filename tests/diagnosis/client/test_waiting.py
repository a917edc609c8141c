"""How long a service asks to wait, in whatever form it says so."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.client.waiting import wait_asked_for, wait_before


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({}, None),
        (None, None),
    ],
)
def test_every_form_is_read(headers: dict[str, str] | None, seconds: float | None) -> None:
    assert wait_asked_for(headers) == seconds


def test_a_date_is_a_wait_until_then() -> None:
    asked = wait_asked_for({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert asked == pytest.approx(60, abs=5)


@given(st.text(max_size=30))
def test_no_header_breaks_it(value: str) -> None:
    asked = wait_asked_for({"retry-after": value})
    assert asked is None or asked >= 0


def test_waits_double_and_stay_bounded() -> None:
    assert [wait_before(attempt, None, 1.0) for attempt in (1, 2, 3)] == [1, 2, 4]
    assert wait_before(20, None, 1.0) == 30
    assert wait_before(1, 7.5, 1.0) == 7.5
