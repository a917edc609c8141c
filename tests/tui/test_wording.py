from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.tui.wording import age, count, duration, percent, rate


@pytest.mark.parametrize(
    ("seconds", "words", "compact"),
    [
        (0, "0 s", "0s"),
        (3.9, "3 s", "3s"),
        (60, "1 min", "1m"),
        (125, "2 min 5 s", "2m5s"),
        (7980, "2 h 13 min", "2h13m"),
        (7205, "2 h", "2h"),
        (90_000, "1 d 1 h", "1d1h"),
        (86_400 + 5, "1 d", "1d"),
        (-4, "0 s", "0s"),
        (math.inf, "?", "?"),
        (math.nan, "?", "?"),
    ],
)
def test_a_duration_is_said_in_at_most_two_neighbouring_units(
    seconds: float, words: str, compact: str
) -> None:
    assert duration(seconds) == words
    assert duration(seconds, is_compact=True) == compact


@given(st.floats(min_value=0, max_value=8e6))
def test_an_age_takes_few_cells_whatever_it_is(seconds: float) -> None:
    assert len(age(seconds)) <= len("59 min ago")


@given(st.floats(min_value=0, max_value=1e9))
def test_a_duration_is_never_longer_than_it_was(seconds: float) -> None:
    sizes = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
    words = duration(seconds).split()
    told = sum(int(n) * sizes[unit] for n, unit in zip(words[::2], words[1::2], strict=True))
    assert told <= seconds


def test_counts_have_their_noun_in_the_right_number() -> None:
    assert count(1234) == "1,234"
    assert count(1, "file") == "1 file"
    assert count(2000, "line") == "2,000 lines"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0%"), (0.34, "34%"), (0.999, "99%"), (1, "100%"), (1.5, "100%"), (math.nan, "?")],
)
def test_what_is_not_done_is_never_all_of_it(share: float, words: str) -> None:
    assert percent(share) == words


@pytest.mark.parametrize(
    ("speed", "words"), [(0.4, "0.4 lines/s"), (12.3, "12 lines/s"), (10_000, "10k lines/s")]
)
def test_a_rate_has_no_more_digits_than_it_deserves(speed: float, words: str) -> None:
    assert rate(speed) == words
