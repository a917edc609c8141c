"""A conversation is kept, read back, and always one that can go on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.client.errors import ConsultError
from mltd.diagnosis.client.history import History, seal_of
from mltd.diagnosis.client.pricing import Tokens

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
WORDS = {"type": "text", "text": "So."}


def made() -> History:
    history = History(used=Tokens(1, 2, 3, 4), dollars=0.5, seconds=7.0)
    history.say("evidence")
    history.keep([THOUGHT, WORDS])
    history.say("a question")
    return history


def test_it_is_read_back_as_it_was() -> None:
    assert History.from_json(made().to_json("seal"), "seal") == made()


def test_under_another_seal_the_thoughts_are_left_out() -> None:
    back = History.from_json(made().to_json("seal"), "another")
    assert not back.has_thoughts()
    assert back.messages[1]["content"] == [WORDS]


def test_a_turn_of_thoughts_alone_leaves_no_empty_message() -> None:
    history = History()
    history.say("evidence")
    history.keep([THOUGHT])
    history.forget_thoughts()
    assert [message["role"] for message in history.messages] == ["user"]


def test_the_seal_changes_with_everything_that_thoughts_are_bound_to() -> None:
    tools = [{"name": "grep"}]
    seals = {
        seal_of("a", "s", tools),
        seal_of("b", "s", tools),
        seal_of("a", "t", tools),
        seal_of("a", "s", []),
    }
    assert len(seals) == 4


@given(st.text(max_size=60))
def test_any_text_is_a_conversation_or_a_sentence(text: str) -> None:
    with pytest.raises(ConsultError) as caught:
        History.from_json(text, "seal")
    assert caught.value.kind == "history"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("form", 2),
        ("messages", [{"role": "system", "content": []}]),
        ("messages", [{"role": "user", "content": ["words"]}]),
        ("messages", 7),
        ("pending", [{"text": "no type"}]),
        ("used", "x"),
        ("seconds", None),
    ],
)
def test_a_conversation_of_another_form_is_told(name: str, value: Any) -> None:
    kept = json.loads(made().to_json("seal")) | {name: value}
    with pytest.raises(ConsultError, match="cannot be read"):
        History.from_json(json.dumps(kept), "seal")
