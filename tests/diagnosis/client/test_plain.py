"""Whatever comes from a log or a model can be sent and shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.client.calling import brief_of
from mltd.diagnosis.client.plain import arguments_of, one_line, sendable

ANY_TEXT = st.text(st.characters())  # lone surrogates included
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_everything_can_be_sent(value: Any) -> None:
    json.dumps(sendable(value), ensure_ascii=False, allow_nan=False).encode()


@given(st.text(st.characters(codec="utf-8")))
def test_what_can_be_sent_stays_as_it_is(words: str) -> None:
    assert sendable(words) == words


@given(st.dictionaries(ANY_TEXT, VALUES, max_size=4))
def test_a_brief_is_one_printable_line(arguments: dict[str, Any]) -> None:
    brief = brief_of(sendable(arguments))
    assert len(brief) <= 160
    assert all(letter.isprintable() for letter in brief)


@given(ANY_TEXT, st.integers(2, 50))
def test_a_line_is_one_line(words: str, limit: int) -> None:
    assert len(one_line(words, limit)) <= limit


def test_arguments_are_an_object() -> None:
    assert arguments_of("") == {}
    assert arguments_of('{"a": NaN, "b": [1]}') == {"a": None, "b": [1]}


@pytest.mark.parametrize("raw", ["[1]", "1", "{", "null", '{"a": 1} x', "[" * 100_000])
def test_what_is_no_object_is_told(raw: str) -> None:
    with pytest.raises(ValueError, match="the arguments of a call are"):
        arguments_of(raw)
