"""Whatever arrives, there is an opinion or a sentence about what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.answer import AnswerError, Opinion, parse_opinion

from .answers import answer, cause, fix, log, setting, value

NAMES = sorted(
    {*answer(), *cause(), *fix(), *log("x"), *value(1, "2"), *setting("a", "b")}
    | {"lines", "implementation", "what", "stance", "id", "text", "path"}
)
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(["log", "series", "0.8", "80%", "12-14", "healthy", "[1", "{}", "1e999"]),
)
junk = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), inner, max_size=6),
    ),
    max_leaves=20,
)


def read(data: Any) -> None:
    try:
        found = parse_opinion(data)
    except AnswerError:
        return
    assert isinstance(found, Opinion)
    assert Opinion.model_validate_json(found.model_dump_json()) == found
    assert all(0 <= one.confidence <= 1 for one in found.root_causes)
    for text in (found.summary, *(one.issue for one in found.root_causes)):
        assert all(c.isprintable() or c == "\n" for c in text)


@given(st.dictionaries(st.sampled_from(NAMES), junk))
def test_any_object_gives_an_opinion_or_an_answer_error(data: Any) -> None:
    read(data)


@given(junk)
def test_any_json_and_any_text_gives_an_opinion_or_an_answer_error(data: Any) -> None:
    read(data if isinstance(data, dict | str) else json.dumps(data))


@given(st.text(alphabet='{}[]",:`\n abc01.-'))
def test_almost_json_gives_an_opinion_or_an_answer_error(text: str) -> None:
    read(text)


@given(st.data())
def test_a_good_answer_with_one_field_spoiled_is_never_a_crash(data: st.DataObject) -> None:
    whole = answer(
        cause(log("loss is nan"), value(3, "2.1"), setting("lr", "1"), against=["x", log("y")]),
        recommended_fixes=[fix()],
        agreement=[{"id": "a", "stance": "adds", "why": "b"}],
    )
    node: Any = whole
    while True:
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else [0]))
        inner = node[key]
        if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
            break
        node = inner
    node[key] = data.draw(junk)
    read(whole)


def test_json_that_is_nested_too_deeply_or_has_endless_numbers_is_refused() -> None:
    read("[" * 100_000)
    read('{"a":' * 50_000 + "1" + "}" * 50_000)
    read('{"status": "healthy", "summary": ' + "9" * 5000 + "}")
    read(answer(cause(log("x" * 5), confidence=10**5000, explains=[10**5000])))
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    read(answer(cause({"kind": "config", "key": "a", "value": deep})))
