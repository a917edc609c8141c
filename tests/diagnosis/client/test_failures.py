"""Every way in which a consultation can fail, through the real SDK, as a sentence."""

from __future__ import annotations

import asyncio
import builtins
import importlib.util
from dataclasses import replace
from typing import Any

import pytest

from mltd.diagnosis.events import Retrying

from ..consulting import OPINION, QUICK, Bench, failing
from ..messages_server import (
    KEY,
    Fault,
    MessagesServer,
    Reply,
    answer,
    block_events,
    fault,
    start,
    stop,
    stream,
    text,
    tool,
)

SUBMIT = tool("submit_diagnosis", **OPINION)


@pytest.mark.parametrize(
    ("entry", "kind", "words"),
    [
        (fault(401, "authentication_error", f"invalid x-api-key {KEY}"), "unauthorized", "[key]"),
        (fault(403, "permission_error", "not this one"), "forbidden", "not this one"),
        (fault(404, "not_found_error", "model: x"), "unknown_model", "claude-sonnet-5-5"),
        (fault(413, "request_too_large", "32 MB"), "too_long", "too long"),
        (Fault(413, "<html><title>Entity too large</title></html>"), "too_long", "too long"),
        (
            fault(400, "invalid_request_error", "prompt is too long: 1200000 tokens > 1000000"),
            "too_long",
            "1200000",
        ),
        (
            fault(400, "invalid_request_error", "Your credit balance is too low"),
            "billing",
            "credit balance",
        ),
        (fault(402, "billing_error", "no"), "billing", "cannot pay"),
        (
            fault(400, "invalid_request_error", "Output blocked by content filtering policy"),
            "filtered",
            "content filter",
        ),
        (fault(400, "invalid_request_error", "tools.0: bad\x1b[2J"), "invalid", "tools.0: bad"),
        (Fault(404, "<html><title>404 Not Found</title></html>"), "no_service", "Not Found"),
        (
            Fault(403, "<html><title>Blocked by Example Proxy</title></html>"),
            "proxy",
            "Blocked by Example Proxy",
        ),
        (Fault(407, "Proxy authentication required"), "proxy", "authentication required"),
        (fault(429, "rate_limit_error", "spend limit reached"), "billing", "spend limit"),
    ],
)
def test_a_status_that_will_not_pass_is_told_at_once(
    server: MessagesServer, entry: Fault, kind: str, words: str
) -> None:
    server.script = [entry]
    result = failing(Bench(), kind)
    assert result.error is not None
    assert words in result.error.sentence
    assert result.error.sentence.isprintable()
    assert not result.error.is_temporary
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("entry", "kind", "requests"),
    [
        (fault(429, "rate_limit_error"), "rate_limited", 4),
        (fault(529, "overloaded_error"), "overloaded", 4),
        (fault(500, "api_error"), "server", 3),
        (fault(503, "api_error"), "server", 3),
        (fault(504, "timeout_error"), "timeout", 2),
        (Fault(502, "<html><title>502 Bad Gateway</title></html>"), "proxy", 2),
        (stream({"type": "error", "error": {"type": "overloaded_error"}}), "overloaded", 4),
        (stream({"type": "error", "error": {"type": "api_error"}}), "server", 3),
    ],
)
def test_what_may_pass_is_tried_again_and_then_told(
    server: MessagesServer, entry: Fault | Reply, kind: str, requests: int
) -> None:
    server.script = [entry] * 9
    bench = Bench()
    result = failing(bench, kind)
    assert result.error is not None
    assert result.error.is_temporary
    assert len(server.requests) == requests
    assert len(bench.of(Retrying)) == requests - 1
    assert "(20" not in result.error.sentence, "the status of the stream is not the failure's"


@pytest.mark.parametrize("headers", [{"retry_after": "0.05"}, {"retry_after_ms": "50"}])
def test_the_wait_that_is_asked_for_is_kept(
    server: MessagesServer, headers: dict[str, str]
) -> None:
    server.script = [fault(429, "rate_limit_error", "slowly", **headers), answer(SUBMIT)]
    bench = Bench()
    assert bench.ask().opinion == OPINION
    (waited,) = bench.of(Retrying)
    assert waited.seconds == pytest.approx(0.05)
    assert "slow down" in waited.why


def test_a_wait_longer_than_the_time_that_is_left_is_not_begun(server: MessagesServer) -> None:
    server.script = [fault(429, "rate_limit_error", "slowly", retry_after="600")]
    bench = Bench()
    result = failing(bench, "rate_limited")
    assert result.error is not None
    assert "600 s" in result.error.sentence
    assert result.error.retry_after == 600
    assert not bench.of(Retrying)


def test_a_refusal_is_told_with_its_category(server: MessagesServer) -> None:
    details = {"type": "refusal", "category": "frontier_llm", "explanation": None}
    server.script = [answer(text("I"), reason="refusal", stop_details=details)]
    result = failing(Bench(), "refusal")
    assert result.error is not None
    assert "frontier_llm" in result.error.sentence
    assert result.text == "I"


@pytest.mark.parametrize("block", [text("The loss"), SUBMIT])
def test_an_answer_cut_by_its_length(server: MessagesServer, block: dict[str, Any]) -> None:
    events = list(block_events(0, block))
    server.script = [stream(start(), *events[:-2], events[-1], *stop("max_tokens"))]
    result = failing(Bench(), "max_tokens")
    assert result.error is not None
    assert "16,000" in result.error.sentence


def test_a_conversation_that_fills_the_window(server: MessagesServer) -> None:
    server.script = [answer(text("So"), reason="model_context_window_exceeded")]
    failing(Bench(), "too_long")


def test_a_turn_that_pauses_is_sent_back_to_go_on(server: MessagesServer) -> None:
    server.script = [answer(text("Wait."), reason="pause_turn"), answer(SUBMIT)]
    assert Bench().ask().opinion == OPINION
    assert server.messages[1][-1]["role"] == "assistant"


def test_without_a_key_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, server: MessagesServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "  ")
    result = failing(Bench(), "no_key")
    assert result.error is not None
    assert "ANTHROPIC_API_KEY" in result.error.hint
    assert not server.requests


def test_a_key_in_quotes_is_told_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, server: MessagesServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", f'"{KEY}"')
    failing(Bench(), "bad_key")
    assert not server.requests


def test_a_profile_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, server: MessagesServer
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nowhere")
    failing(Bench(), "no_key")


def test_switched_off_means_that_nothing_is_sent(server: MessagesServer) -> None:
    failing(Bench(replace(QUICK, is_enabled=False)), "disabled")
    assert not server.requests


def test_without_the_sdk_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch, server: MessagesServer
) -> None:
    found, imported = importlib.util.find_spec, builtins.__import__

    def find(name: str, package: str | None = None) -> Any:
        return None if name == "anthropic" else found(name, package)

    def refuse(name: str, *rest: Any) -> Any:
        assert name != "anthropic"
        return imported(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr(builtins, "__import__", refuse)
    result = failing(Bench(), "not_installed")
    assert result.error is not None
    assert result.error.hint == "`pip install 'mltd-tui[claude]'`"


def test_an_empty_question_is_not_sent(server: MessagesServer) -> None:
    result = asyncio.run(Bench().consultation.ask("  ", lambda event: None))
    assert result.error is not None
    assert not server.requests
