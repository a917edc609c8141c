"""Failures of the line to the service: none, cut, silent, or something else at its end."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from typing import Any

import pytest

from mltd.diagnosis.events import Retrying

from ..consulting import OPINION, QUICK, Bench, failing
from ..messages_server import (
    Drop,
    Hold,
    MessagesServer,
    Reply,
    Send,
    answer,
    block_events,
    start,
    stream,
    text,
    texts_of,
    thinking,
    tool,
)

SUBMIT = tool("submit_diagnosis", **OPINION)
PARTIAL = [start(), *list(block_events(0, text("The loss rose because")))[:-1]]


@pytest.mark.parametrize("drop", [Drop(), Drop(is_reset=True)])
def test_a_stream_cut_half_way_keeps_what_came(server: MessagesServer, drop: Drop) -> None:
    server.script = [stream(*PARTIAL, drop), answer(text("Go on."))]
    bench = Bench()
    result = failing(bench, "cut")
    assert result.text == "The loss rose because"
    assert len(server.requests) == 1, "words that were read are not said twice"
    assert result.usage.input == 100
    bench.follow_up("And?")
    assert "The loss rose because" in texts_of(server.messages[1])


def test_a_stream_that_just_stops_is_cut_too(server: MessagesServer) -> None:
    server.script = [stream(*PARTIAL)]
    assert failing(Bench(), "cut").text == "The loss rose because"


def test_a_stream_cut_before_any_word_is_begun_again(server: MessagesServer) -> None:
    begun = [start(), *list(block_events(0, thinking("Hm.")))[:2]]
    server.script = [stream(*begun, Drop(is_reset=True)), answer(SUBMIT)]
    bench = Bench()
    assert bench.ask().opinion == OPINION
    assert len(bench.of(Retrying)) == 1


def test_an_error_in_mid_answer_keeps_what_came(server: MessagesServer) -> None:
    broken = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.script = [stream(*PARTIAL, broken)]
    assert failing(Bench(), "overloaded").text == "The loss rose because"


def test_silence_is_a_time_out(server: MessagesServer) -> None:
    release = threading.Event()
    server.script = [Reply((Hold(release),)), stream(*PARTIAL, Hold(release))]
    try:
        bench = Bench(replace(QUICK, silence_seconds=1.0))
        result = failing(bench, "cut")
        assert "did not answer in time" in bench.of(Retrying)[0].why
        assert result.text == "The loss rose because"
    finally:
        release.set()


def test_the_time_ends_even_an_answer_under_way(server: MessagesServer) -> None:
    release = threading.Event()
    server.script = [answer(SUBMIT), stream(*PARTIAL, Hold(release))]
    # What is loaded for the first question takes time too.
    assert Bench().ask().opinion == OPINION
    try:
        limits = replace(QUICK, seconds=1.0, grace_seconds=1.0)
        result = failing(Bench(limits), "timeout")
        assert result.text == "The loss rose because"
    finally:
        release.set()


def test_a_refused_connection(monkeypatch: pytest.MonkeyPatch, server: MessagesServer) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        failing(Bench(), "refused_connection")


def test_a_host_without_an_address(monkeypatch: pytest.MonkeyPatch, server: MessagesServer) -> None:
    def unknown(*parts: Any, **options: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://api.nowhere.invalid")
    result = failing(Bench(), "dns")
    assert result.error is not None
    assert "api.nowhere.invalid" in result.error.sentence


def test_a_host_that_does_not_speak_tls(
    monkeypatch: pytest.MonkeyPatch, server: MessagesServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.replace("http:", "https:"))
    failing(Bench(), "tls")


def test_a_proxy_that_lets_nobody_through(
    monkeypatch: pytest.MonkeyPatch, server: MessagesServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://api.nowhere.invalid")
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    failing(Bench(), "proxy")


def test_a_page_instead_of_a_stream(server: MessagesServer) -> None:
    page = b"<html><title>Please log in</title></html>"
    server.script = [Reply((Send(page),), content_type="text/html")]
    result = failing(Bench(), "proxy")
    assert result.error is not None
    assert "text/html" in result.error.sentence
