"""From a run to a checked opinion, through the real SDK."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mltd.analyzers.diagnosis import diagnose
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.events import Event, ToolCalled
from mltd.diagnosis.pack import PackMaterial
from mltd.diagnosis.second_opinion import SecondOpinion
from mltd.diagnosis.settings import ConsultSettings
from mltd.diagnosis.tools import ToolResult
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from mltd.sessions.masking import Masker
from tests.waiting import PATIENCE

from .consulting import QUICK
from .messages_server import MessagesServer, answer, text, texts_of, tool
from .second_opinions import BAD_LINE, INVENTED, SECRETS, submission, write_log

Make = Callable[..., SecondOpinion]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    path = write_log(tmp_path / "train.log")
    run = Run("train")
    read_file(run, str(path))
    masker = Masker()
    book = ArtifactBook({"run1": run}, named=[path], masker=masker)
    material = PackMaterial({"run1": run}, {"run1": diagnose(run)}, book)

    def made(settings: ConsultSettings = QUICK, **options: Any) -> SecondOpinion:
        return SecondOpinion(material, masker, settings, **options)

    return made


def test_a_preview_sends_nothing_and_tells_what_would_be_sent(
    make: Make, server: MessagesServer
) -> None:
    opinion = make()
    preview = opinion.preview()
    assert server.requests == []
    assert preview.host == server.url.removeprefix("http://")
    assert preview.model == "claude-sonnet-5-5"
    assert preview.characters == len(opinion.pack.text)
    assert preview.tokens > opinion.pack.tokens
    assert preview.dollars is not None
    assert 0 < preview.dollars < 1
    assert sum(preview.masked.values()) >= len(SECRETS)
    assert [title for title, _ in preview.sections][:2] == [
        "Task and constraints",
        "Runs and files",
    ]


def test_the_price_of_an_unknown_model_is_not_guessed(make: Make) -> None:
    assert make(ConsultSettings(model="claude-future-9")).preview().dollars is None


def test_what_does_not_fit_is_told(make: Make) -> None:
    small = make(ConsultSettings(model="claude-sonnet-5-5", pack_tokens=1000)).preview()
    assert small.left_out
    assert small.characters <= 3500


def test_the_estimate_is_near_what_is_sent(make: Make, server: MessagesServer) -> None:
    server.script = [answer(submission())]
    opinion = make()
    asyncio.run(opinion.ask(lambda event: None))
    characters = len(server.requests[0].raw)
    assert 0.6 < opinion.preview().tokens * 3.5 / characters < 1.4


def test_an_opinion_is_checked_against_the_log(make: Make, server: MessagesServer) -> None:
    server.script = [answer(text("Let me look."), submission())]
    opinion = make()
    checked = opinion.checked(asyncio.run(opinion.ask(lambda event: None)))
    assert checked is not None
    true, false = checked.causes[0].evidence
    assert true.is_confirmed
    assert false.is_struck


def test_without_an_opinion_nothing_is_checked(make: Make, server: MessagesServer) -> None:
    opinion = make()
    result = asyncio.run(opinion.ask(lambda event: None))
    assert result.error is not None
    assert opinion.checked(result) is None


def test_the_model_reads_the_log_and_never_a_secret(make: Make, server: MessagesServer) -> None:
    server.script = [
        answer(
            tool("read_lines", "a", artifact="run1/train.log", first=101, last=123),
            tool("grep", "b", artifact="run1/train.log", pattern="API_KEY"),
        ),
        answer(submission()),
    ]
    events: list[Event] = []
    opinion = make()
    asyncio.run(opinion.ask(events.append))
    said = texts_of(server.messages[-1][-1:])
    assert BAD_LINE in said, "what it asked for came back"
    assert "[masked: " in said
    assert not [secret for secret in SECRETS for sent in server.requests if secret in sent.raw]
    assert [event.name for event in events if isinstance(event, ToolCalled)] == [
        "read_lines",
        "grep",
    ]
    assert INVENTED not in said


def test_a_question_of_the_person_is_masked_too(make: Make, server: MessagesServer) -> None:
    server.script = [answer(submission()), answer(text("It does not."))]
    opinion = make()
    asyncio.run(opinion.ask(lambda event: None))
    asyncio.run(opinion.follow_up(f"does TOKEN={SECRETS[0]} matter?", lambda event: None))
    assert SECRETS[0] not in server.requests[-1].raw
    assert "[masked: " in texts_of(server.messages[-1][-1:])


def test_looks_can_be_left_to_whoever_owns_the_runs(make: Make, server: MessagesServer) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    async def call(name: str, arguments: dict[str, Any]) -> ToolResult:
        asked.append((name, arguments))
        return ToolResult("mine", False, "mine")

    server.script = [answer(tool("list_artifacts")), answer(submission())]
    asyncio.run(make(call_tool=call).ask(lambda event: None))
    assert asked == [("list_artifacts", {})]


def test_cancelling_does_not_wait_for_a_look_that_hangs(
    make: Make, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [answer(tool("list_artifacts")), answer(submission())]
    opinion = make()
    let_go, has_begun = threading.Event(), threading.Event()

    def hang(name: str, arguments: object) -> ToolResult:
        has_begun.set()
        let_go.wait(2 * PATIENCE)
        return ToolResult("late", False, "late")

    monkeypatch.setattr(opinion.box, "call", hang)

    async def go() -> bool:
        cancel = asyncio.Event()
        asking = asyncio.create_task(opinion.ask(lambda event: None, cancel))
        await asyncio.to_thread(has_begun.wait, PATIENCE)
        cancel.set()
        return (await asking).is_cancelled

    try:
        assert asyncio.run(go())
        assert not let_go.is_set()
    finally:
        let_go.set()
