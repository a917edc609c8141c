"""Answers whose form nobody can use: mended once, then told."""

from __future__ import annotations

import json

import pytest

from mltd.diagnosis.answer.errors import AnswerError
from mltd.diagnosis.client.explaining import fault_of
from mltd.diagnosis.events import Text

from ..consulting import OPINION, Bench, failing
from ..messages_server import (
    MessagesServer,
    Reply,
    Send,
    answer,
    block_events,
    fault,
    sse,
    start,
    stop,
    stream,
    text,
    texts_of,
    tool,
)

SUBMIT = tool("submit_diagnosis", **OPINION)


def broken(raw: str, reason: str = "tool_use") -> Reply:
    """A submission with these arguments, as they are written."""
    opened, *_, closed = block_events(0, SUBMIT)
    delta = {"type": "input_json_delta", "partial_json": raw}
    written = {"type": "content_block_delta", "index": 0, "delta": delta}
    return stream(start(), opened, written, closed, *stop(reason))


def test_a_malformed_answer_is_repaired_once(server: MessagesServer) -> None:
    server.script = [answer(tool("submit_diagnosis", status="x")), answer(SUBMIT)]
    assert Bench().ask().opinion == OPINION
    told = server.messages[1][-1]["content"]
    assert told[0]["content"] == "cause is missing"
    assert told[0]["is_error"]


def test_a_malformed_answer_fails_the_second_time_with_its_text(server: MessagesServer) -> None:
    server.script = [
        answer(text("I am sure."), tool("submit_diagnosis", status="x")),
        answer(tool("submit_diagnosis", status="y")),
    ]
    bench = Bench()
    result = failing(bench, "malformed")
    assert result.error is not None
    assert result.error.sentence == "Claude's answer cannot be used: cause is missing"
    said, _, kept = result.text.partition("\n\nWhat it wrote last, in a form that cannot be used:")
    assert said == "I am sure."
    assert json.loads(kept) == {"status": "y"}
    assert bench.of(Text)[-1].text.endswith(kept)


def test_of_a_malformed_answer_without_end_only_the_beginning_is_kept(
    server: MessagesServer,
) -> None:
    server.script = [answer(tool("submit_diagnosis", status="x" * 100_000))] * 2
    assert 20_000 <= len(failing(Bench(), "malformed").text) < 20_100


def test_a_malformed_answer_is_kept_if_it_is_not_even_asked_for_again(
    server: MessagesServer,
) -> None:
    server.script = [
        answer(tool("submit_diagnosis", status="x")),
        fault(401, "authentication_error", "revoked"),
    ]
    assert '"status": "x"' in failing(Bench(), "unauthorized").text


def test_what_a_cut_answer_had_come_to_is_kept(server: MessagesServer) -> None:
    server.script = [broken('{"cause": "half of', "max_tokens")]
    assert failing(Bench(), "max_tokens").text.endswith('{"cause": "half of')


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ('{"cause": "x', "Claude's answer makes no sense: the arguments of a call are not valid"),
        ('{"cause": "\\ud800"}', "Claude's answer could not be read: a part of it is not valid"),
        ('{"cause": x}', "Claude's answer could not be read: a part of it is not valid JSON"),
        ("[1]", "Claude's answer makes no sense: the arguments of a call are not an object"),
    ],
)
def test_a_person_is_told_nothing_that_is_meant_for_the_model_or_for_programmers(
    server: MessagesServer, raw: str, sentence: str
) -> None:
    server.script = [broken(raw)] * 2
    result = failing(Bench(), "malformed")
    assert result.error is not None
    assert result.error.sentence.startswith(sentence)
    for word in ("again", "SDK", "retry", "Expecting", "{", "char "):
        assert word not in result.error.sentence
    assert result.text.endswith(raw)


def test_a_person_is_told_what_is_wrong_and_not_what_to_give_instead() -> None:
    faults = ["status is 'dunno'; give one of healthy, x", "summary is missing or empty"]
    error = AnswerError.of(faults)
    assert "give one of" in str(error)
    assert fault_of(error) == "status is 'dunno'; summary is missing or empty"
    assert fault_of(AnswerError.of(["a is 1; give 2"] * 8)).endswith("; and 2 more")


def test_an_answer_in_words_alone_is_asked_for_in_form(server: MessagesServer) -> None:
    server.script = [answer(text("The rate is too high.")), answer(SUBMIT)]
    assert Bench().ask().opinion == OPINION
    assert "call submit_diagnosis now" in texts_of(server.messages[1][-1:])


def test_an_answer_written_out_is_taken(server: MessagesServer) -> None:
    server.script = [answer(text('{"status": "healthy", "cause": "none"}'))]
    assert Bench().ask().opinion == {"status": "healthy", "cause": "none"}


def test_a_turn_without_content_is_asked_for_again(server: MessagesServer) -> None:
    server.script = [answer(), answer(text(" \n")), answer(SUBMIT)]
    result = failing(Bench(), "malformed")
    assert result.error is not None
    assert all(message["content"] for message in server.messages[1])


@pytest.mark.parametrize("raw", ['{"cause": "x', '{"cause": x}', "[1]", "[" * 5000])
def test_arguments_that_are_no_object_are_sent_again(server: MessagesServer, raw: str) -> None:
    server.script = [broken(raw), answer(SUBMIT)]
    bench = Bench()
    assert bench.ask().opinion == OPINION
    assert "Send it again" in texts_of(server.messages[1])
    assert [message["role"] for message in server.messages[1]] == ["user"]


def test_a_stream_that_is_not_json(server: MessagesServer) -> None:
    oops = Send(b"event: content_block_delta\ndata: {oops\n\n")
    server.script = [stream(start(), oops)] * 2
    result = failing(Bench(), "malformed")
    assert result.error is not None
    assert result.error.sentence == (
        "Claude's answer could not be read: a part of it is not valid JSON"
    )


def test_bytes_that_are_not_text(server: MessagesServer) -> None:
    server.script = [stream(start(), Send(b"event: \xff\xfe\ndata: {}\n\n"))] * 2
    failing(Bench(), "malformed")


def test_an_event_that_nobody_knows_is_passed_over(server: MessagesServer) -> None:
    whole = b"".join(step.data for step in answer(SUBMIT).steps if isinstance(step, Send))
    new = sse({"type": "something_new", "what": 1})
    server.script = [Reply((Send(new + whole + new),))]
    assert Bench().ask().opinion == OPINION
