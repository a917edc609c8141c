"""What is a number in a log, and what only looks like one."""

from __future__ import annotations

import math

import pytest

from mltd.runs.text.numbers import (
    FILLER,
    FRACTION,
    NUMBER,
    TOTAL,
    is_non_finite_word,
    mask_lookalikes,
    parse_number,
)


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("loss: 2.5", "2.5", None),
        ("lr 1e-4,", "1e-4", None),
        ("tps: 9,982", "9,982", None),
        ("x=-.5", "-.5", None),
        ("time 87ms", "87", "ms"),
        ("mfu 42.6%", "42.6", "%"),
        ("249.86/s", "249.86", "/s"),
        ("171545tok/s", "171545", "tok/s"),
        ("step_avg:nanms", "nan", "ms"),
        ("loss: -1.#IND", "-1.#IND", None),
    ],
)
def test_a_number_and_the_unit_glued_to_it(text: str, number: str, unit: str | None) -> None:
    found = NUMBER.search(text)
    assert found is not None
    assert (found["number"], found["unit"]) == (number, unit)


@pytest.mark.parametrize(
    "text", ["top5", "resnet-50", "acc@1", "v1.2.3", "nano", "info", "12abcdefg"]
)
def test_digits_inside_a_word_are_no_number(text: str) -> None:
    assert NUMBER.search(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", 1234.5),
        ("+3", 3.0),
        ("-inf", -math.inf),
        ("-1.#INF", -math.inf),
        ("1e3", 1000.0),
    ],
)
def test_values(text: str, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["nan", "-nan", "NaN", "1.#IND", "-1.#QNAN"])
def test_all_spellings_of_nan(text: str) -> None:
    assert math.isnan(parse_number(text))


@pytest.mark.parametrize(
    ("text", "is_word"), [("nan", True), ("-inf", True), ("1.#IND", True), ("1e-5", False)]
)
def test_non_finite_words_have_no_digits(text: str, is_word: bool) -> None:
    assert is_non_finite_word(text) is is_word


@pytest.mark.parametrize(
    "lookalike",
    [
        "2024-01-31 10:00:00,123",
        "31/01/24",
        "0:05:57",
        "2 days, ",
        "2m 22s",
        "10.0.0.1:29500",
        "0xff",
        "1541731867.07",
        "/home/me/run_3",
        "53.4/26.3/15.0",
        "https://host/3",
        "train.py:42",
    ],
)
def test_lookalikes_are_masked_and_offsets_kept(lookalike: str) -> None:
    masked = mask_lookalikes(f"x {lookalike} loss 2.5")
    assert masked == f"x {FILLER * len(lookalike)} loss 2.5"


@pytest.mark.parametrize(
    ("text", "n", "total"),
    [("3/20 rest", "3", "20"), ("[ 640/60000 (1%)] rest", "640", "60000"), (" 7 / 9]", "7", "9")],
)
def test_fractions(text: str, n: str, total: str) -> None:
    found = FRACTION.match(text)
    assert found is not None
    assert (found["n"], found["total"]) == (n, total)


@pytest.mark.parametrize(
    ("behind", "total"), [("/20", "20"), (" of 1,000", "1,000"), ("/20/30", None), ("/2.5", None)]
)
def test_the_total_behind_a_count(behind: str, total: str | None) -> None:
    found = TOTAL.match(behind)
    assert (found and found["total"]) == total
