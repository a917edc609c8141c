"""Evidence goes to the address that was agreed to, wherever the SDK has it from."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mltd.diagnosis.client.errors import ConsultError
from mltd.diagnosis.client.sdk_client import address_of, build_client, destination
from mltd.diagnosis.settings import ConsultSettings

from ..consulting import LOOK, SUBMIT, Bench, failing
from ..messages_server import Fault, MessagesServer, answer, fault, text
from ..sdk_profiles import Profiles

SETTINGS = ConsultSettings()
BODY = "# Evidence\nloss is nan"


@pytest.fixture
def profiles(tmp_path: Path) -> Profiles:
    return Profiles(tmp_path / "anthropic")


def place(server: MessagesServer) -> str:
    return server.url.removeprefix("http://")


@pytest.mark.parametrize("name", ["", "work"])
def test_the_address_of_a_profile_is_known(
    name: str, profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles(name or "default", "https://collector.example/v1")
    profiles.select(monkeypatch, name)
    assert destination(SETTINGS) == "collector.example"


def test_the_address_of_the_environment_comes_before_that_of_a_profile(
    profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles("work", "https://collector.example")
    profiles.select(monkeypatch, "work")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example:8443")
    assert destination(SETTINGS) == "gateway.example:8443"


def test_without_any_address_it_is_the_service_itself(
    profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles("work")
    profiles.select(monkeypatch, "work")
    assert destination(SETTINGS) == "api.anthropic.com"


@pytest.mark.parametrize("address", ["", "gateway.example", "ftp://gateway.example"])
def test_what_is_no_address_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    with pytest.raises(ConsultError, match="no address") as caught:
        destination(SETTINGS)
    assert caught.value.kind == "bad_address"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://gateway.example", "gateway.example"),
        ("https://Gateway.example:443/v1", "gateway.example"),
        ("https://user:secret@gateway.example:8443", "gateway.example:8443"),
        ("http://gateway.example:80", "http://gateway.example"),
        ("http://user:secret@gateway.example:8080", "http://gateway.example:8080"),
        ("http://127.0.0.1:4010", "127.0.0.1:4010"),
        ("http://localhost", "localhost"),
        ("http://[::1]:4010", "[::1]:4010"),
        ("http://127.0.0.1.example:4010", "http://127.0.0.1.example:4010"),
        ("https://[fd00::7]:8443", "[fd00::7]:8443"),
        ("https://u:secret@[x", ""),
        ("https://user:secret@gateway.example:99999/v1", ""),
    ],
)
def test_another_port_and_a_line_that_anyone_can_read_are_seen(url: str, shown: str) -> None:
    assert address_of(url) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://localhost:4010", "localhost:4010 through the proxy http://proxy.example:3128"),
        ("http://gate.example", "http://gate.example through the proxy http://proxy.example:3128"),
        ("http://near.example", "http://near.example"),
        ("https://gate.example", "gate.example"),
    ],
)
def test_a_proxy_that_can_read_everything_is_named(
    url: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://me:secret@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    assert destination(SETTINGS) == shown


def test_a_header_that_names_another_host_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: a\nHost: collector.example")
    with pytest.raises(ConsultError, match="names another host"):
        destination(SETTINGS)


def test_nothing_is_sent_to_another_place_than_the_agreed_one(server: MessagesServer) -> None:
    bench = Bench()
    bench.consultation.destination = "api.anthropic.com"
    result = failing(bench, "other_destination")
    assert server.requests == []
    assert result.error is not None
    assert f"would go to {place(server)}, but api.anthropic.com was agreed" in result.error.sentence


def test_a_follow_up_goes_where_the_first_question_went_or_nowhere(
    server: MessagesServer, profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [answer(SUBMIT)]
    profiles("work", server.url)
    profiles.select(monkeypatch, "work")
    bench = Bench()
    assert bench.ask().error is None
    assert bench.consultation.destination == place(server)
    with MessagesServer([answer(text("ha"))]) as other:
        profiles("work", other.url)
        result = bench.follow_up("why?")
        assert result.error is not None
        assert result.error.kind == "other_destination"
        assert other.requests == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("turn", [1, 2], ids=["first turn", "later turn"])
def test_a_redirect_carries_nothing_along(status: int, turn: int, server: MessagesServer) -> None:
    with MessagesServer([answer(SUBMIT)]) as other:
        moved = Fault(status, "", {"location": f"{other.url}/v1/messages"})
        server.script = [answer(LOOK)] * (turn - 1) + [moved]
        result = failing(Bench(), "other_destination")
        assert other.requests == []
        assert len(server.requests) == turn
    assert result.error is not None
    assert f"redirects the question to {place(other)} ({status})" in result.error.sentence


def test_a_redirect_after_a_failed_attempt_carries_nothing_along(server: MessagesServer) -> None:
    with MessagesServer([answer(SUBMIT)]) as other:
        moved = Fault(307, "", {"location": f"{other.url}/v1/messages"})
        server.script = [fault(529, "overloaded_error"), moved]
        failing(Bench(), "other_destination")
        assert other.requests == []


def test_a_client_that_is_pointed_elsewhere_afterwards_sends_nothing(
    server: MessagesServer,
) -> None:
    async def send(other: MessagesServer) -> None:
        async with build_client(SETTINGS, place(server)) as client:
            client.base_url = other.url
            await client.messages.create(
                model="m", max_tokens=1, messages=[{"role": "user", "content": BODY}]
            )

    with MessagesServer() as other:
        with pytest.raises(Exception, match="Connection error"):
            asyncio.run(send(other))
        assert other.requests == []
    assert server.requests == []


def test_a_trace_of_the_environment_holds_nothing(
    server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
    client = build_client(SETTINGS, place(server))
    assert getattr(client, "_tracer", None) is None


def test_an_error_names_the_place_that_was_really_asked(
    profiles: Profiles, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [fault(401, "authentication_error")]
    profiles("work", server.url)
    profiles.select(monkeypatch, "work")
    result = failing(Bench(), "unauthorized")
    assert result.error is not None
    assert place(server) in result.error.sentence
