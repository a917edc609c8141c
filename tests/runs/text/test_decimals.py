"""Columns of decimals: as exact as Python's own float, or not read at all."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.harvest import Ints
from mltd.runs.text.decimals import _parse_alike, parse_column
from mltd.runs.text.pieces import Codes

FORMS = [
    "{:.4f}",
    "{:d}",
    "{:.3e}",
    "{:.0f}",
    "{:+.2f}",
    "{:8.3f}",
    "{!r}",
    "{:g}",
    "{:.17g}",
    "{:E}",
]


def column(texts: list[str]) -> tuple[Codes, Ints, Ints]:
    text = b" ".join(text.strip().encode() for text in texts)
    lengths = np.array([len(text.strip()) for text in texts])
    starts = np.concatenate([[0], np.cumsum(lengths[:-1] + 1)])
    return np.frombuffer(text, dtype=np.uint8), starts, starts + lengths


def bits(values: list[float]) -> list[bytes]:
    return [struct.pack("<d", value + 0.0) for value in values]


@given(
    st.lists(
        st.floats(-1e9, 1e9) | st.floats(allow_nan=False, allow_infinity=False),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from(FORMS),
)
def test_every_bit_is_right(numbers: list[float], form: str) -> None:
    if "d" in form:
        texts = [form.format(int(number)) for number in numbers]
    else:
        texts = [form.format(number) for number in numbers]
    found = parse_column(*column(texts))
    expected = [float(text) for text in texts]
    assert found is not None
    assert bits(found.tolist()) == bits(expected)


@pytest.mark.parametrize("form", FORMS[:6])
def test_numbers_of_one_form_need_no_loop(form: str) -> None:
    rng = np.random.default_rng(3)
    numbers = (rng.random(500) - 0.3) * 1000
    texts = [form.format(int(n) if "d" in form else n) for n in numbers]
    found = _parse_alike(*column(texts))
    assert found is not None
    assert bits(found.tolist()) == bits([float(text) for text in texts])


@pytest.mark.parametrize(
    "text", ["1.2.3", "12:30", "-", "--1", "1-2", "e", "", "1e", "+-3", "1.5x", ".", "-."]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    if text:
        assert parse_column(*column(["1.5", text, "2.5"])) is None
        assert parse_column(*column([text, "2.5"])) is None


@given(st.lists(st.text("0123456789.+-eE", min_size=1, max_size=12), min_size=1, max_size=6))
def test_it_never_reads_more_than_python_would(texts: list[str]) -> None:
    found = parse_column(*column(texts))
    try:
        expected = [float(text) for text in texts]
    except ValueError:
        assert found is None
        return
    assert found is not None
    assert bits(found.tolist()) == bits(expected)
