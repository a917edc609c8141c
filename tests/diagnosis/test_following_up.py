"""Questions after the answer, also after everything was closed."""

from __future__ import annotations

from dataclasses import replace

from mltd.diagnosis.events import (
    Replied,
)

from .consulting import LOOK, OPINION, QUICK, SUBMIT, Bench
from .messages_server import (
    KEY,
    MessagesServer,
    answer,
    fault,
    text,
    texts_of,
    thinking,
    tool,
)


def test_a_follow_up_is_answered_in_words_in_the_same_thread(server: MessagesServer) -> None:
    server.script = [answer(SUBMIT), answer(text("Because grad_norm rose first."))]
    bench = Bench()
    bench.ask()
    result = bench.follow_up("Why not the data?")
    assert (result.opinion, result.text) == (None, "Because grad_norm rose first.")
    assert bench.events[-1] == Replied("Because grad_norm rose first.")
    sent = server.messages[1]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[-1]["content"]] == ["tool_result", "text"]


def test_a_follow_up_may_change_the_opinion(server: MessagesServer) -> None:
    changed = OPINION | {"cause": "a bad batch"}
    server.script = [answer(SUBMIT), answer(LOOK), answer(tool("submit_diagnosis", **changed))]
    bench = Bench()
    bench.ask()
    assert bench.follow_up("Look at step 90.").opinion == changed


def test_a_follow_up_works_after_everything_was_closed(server: MessagesServer) -> None:
    server.script = [answer(thinking("Hm."), SUBMIT), answer(text("Yes."))]
    bench = Bench()
    before = bench.ask().usage
    kept = bench.consultation.to_json()
    assert KEY not in kept
    later = Bench()
    later.consultation.resume(kept)
    result = later.follow_up("Sure?")
    assert result.text == "Yes."
    assert result.usage.input == before.input + 100
    assert server.messages[1][0]["content"][0]["text"] == "# Evidence\nloss is nan"
    assert "Hm." in texts_of(server.messages[1])


def test_another_model_gets_the_words_without_the_thoughts(server: MessagesServer) -> None:
    server.script = [answer(thinking("Hm."), text("So."), SUBMIT), answer(text("Yes."))]
    bench = Bench()
    bench.ask()
    later = Bench(replace(QUICK, model="claude-opus-5-5"))
    later.consultation.resume(bench.consultation.to_json())
    assert later.follow_up("Sure?").text == "Yes."
    assert "Hm." not in texts_of(server.messages[1])
    assert "So." in texts_of(server.messages[1])


def test_thoughts_that_the_service_rejects_are_left_out(server: MessagesServer) -> None:
    words = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound"
    server.script = [
        answer(thinking("Hm."), LOOK),
        fault(400, "invalid_request_error", words),
        fault(400, "invalid_request_error", "thinking: not supported"),
        answer(SUBMIT),
    ]
    assert Bench().ask().opinion == OPINION
    assert "Hm." not in texts_of(server.messages[2])
    assert "thinking" in server.requests[2].body
    assert "thinking" not in server.requests[3].body
