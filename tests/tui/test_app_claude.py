"""Claude in the app: evidence, consent, the stream, the answer, and what is kept of it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from mltd.runs.sources.watcher import Watcher
from mltd.sessions.model.session import Session
from mltd.tui.bridge import Bridge
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.protocol import Open, Wish
from mltd.tui.engine.service import Service
from mltd.tui.screens.consent import ConsentScreen
from tests.diagnosis.messages_server import (
    Hold,
    MessagesServer,
    answer,
    block_events,
    fault,
    start,
    stream,
    text,
    tool,
)
from tests.diagnosis.second_opinions import BAD_LINE, SECRETS, submission, write_log
from tests.tui.app_scene import Stage, StandIn, piloted, staged
from tests.tui.session_scene import quiet, saved

ARTIFACT = "R1/train.log"
WIDE = (120, 50)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        running.point(monkeypatch)
        monkeypatch.setenv("MLTD_MODEL", "claude-sonnet-5-5")
        yield running


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "train.log")


class Beside(StandIn):
    """The real engine in a thread: what it imports is there for the next test as well."""

    def __init__(self, wish: Open) -> None:
        super().__init__()
        self._inbox = Inbox()
        self._watcher = Watcher(poll_seconds=1.0)
        self._inbox.wish(wish)
        service = Service(self.tell, self._inbox, self._watcher)
        self._thread = threading.Thread(target=service.run, daemon=True)
        self._thread.start()

    def send(self, wish: Wish) -> None:
        super().send(wish)
        self._inbox.wish(wish)

    def close(self) -> None:
        super().close()
        self._inbox.close()
        self._thread.join()
        self._watcher.close()


@asynccontextmanager
async def opened(log: Path, kind: type[Bridge] = Beside, **options: Any) -> AsyncIterator[Stage]:
    """The app, when it knows the session of the run."""
    bridge = kind(Open((str(log),), has_jobs=False))
    options = {"size": WIDE} | options
    try:
        with mock.patch("mltd.tui.triaging.LOAD_AFTER", 0.001):
            async with staged(bridge, log, **options) as stage:
                await stage.until(lambda: stage.app.desk is not None)
                yield stage
    finally:
        bridge.close()


async def agree(stage: Stage) -> None:
    """Ask, look at what would be sent, and say yes."""
    await stage.press("c")
    await asked_for_consent(stage)
    await stage.press("y")
    await stage.until(lambda: stage.is_main)


async def asked_for_consent(stage: Stage) -> None:
    await stage.until(lambda: isinstance(stage.app.screen, ConsentScreen))
    await stage.shows("127.0.0.1", "claude-sonnet-5-5", "tokens")


def opinion() -> Any:
    """One citation that holds, one that is invented."""
    said = submission()
    for cause in said["input"]["root_causes"]:
        for cited in cause["evidence"]:
            cited["artifact"] = ARTIFACT
    return answer(said)


def session_of(stage: Stage) -> Session:
    assert stage.app.desk is not None
    return stage.app.desk.session


def records(stage: Stage) -> list[Any]:
    return [one for one in session_of(stage).diagnoses if one.source == "claude"]


@piloted
async def test_nothing_is_sent_before_somebody_has_seen_it_and_agreed(
    log: Path, server: MessagesServer
) -> None:
    async with opened(log) as stage:
        await stage.press("c")
        await asked_for_consent(stage)
        await stage.press("n")
        await stage.shows("othing was sent")
        assert stage.view == "diagnosis"
        assert not session_of(stage).hypotheses
        assert records(stage) == []
    assert server.requests == []
    assert saved() == []


@piloted
async def test_an_answer_is_streamed_checked_shown_kept_and_adopted(
    log: Path, server: MessagesServer
) -> None:
    server.script = [
        answer(
            text("I look at the log first."),
            tool("grep", artifact=ARTIFACT, pattern="nan"),
            tool("query_series", name="loss", around=100),
        ),
        opinion(),
    ]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("1 of 2 citations confirmed, 1 wrong")
        await stage.shows("0.90", "agree")
        (record,) = records(stage)
        assert record.status
        assert record.body["host"] == server.url.removeprefix("http://")
        assert len(record.body["looks"]) == 2
        quiet(stage)
        await stage.press("h")
        await stage.until(lambda: session_of(stage).hypotheses)
        (hypothesis,) = session_of(stage).hypotheses
        assert (hypothesis.source, hypothesis.cause) == ("claude", "lr_too_high")
        assert [one.ref for one in hypothesis.evidence] == ["train.log:101"]
        await stage.press("down", "enter")
        await stage.until(lambda: stage.focused == "log")
        await stage.shows(BAD_LINE)
    (session,) = saved()
    assert [one.source for one in session.diagnoses].count("claude") == 1
    assert not any(secret in request.raw for request in server.requests for secret in SECRETS)


@piloted
async def test_consent_is_asked_once_per_session_and_host(
    log: Path, server: MessagesServer
) -> None:
    server.script = [opinion(), opinion(), opinion()]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("1 of 2 citations")
        await stage.press("c")
        await stage.until(lambda: len(records(stage)) == 2)
        assert stage.is_main
    async with opened(log) as stage:
        await stage.until(lambda: len(records(stage)) == 2)
        await stage.press("c")
        await stage.until(lambda: len(records(stage)) == 3)
    assert len(server.messages) == 3


@piloted
async def test_the_next_day_the_opinion_is_there_and_the_thread_is_over(
    log: Path, server: MessagesServer
) -> None:
    server.script = [opinion()]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("1 of 2 citations")
    async with opened(log) as stage:
        await stage.until(lambda: records(stage))
        await stage.press("7")
        await stage.shows("1 of 2 citations confirmed, 1 wrong", "too high")
        await stage.press("h")
        await stage.until(lambda: session_of(stage).hypotheses)
    assert len(server.requests) == 1


@piloted
async def test_escape_stops_it_at_once_and_what_came_is_kept(
    log: Path, server: MessagesServer
) -> None:
    hold = threading.Event()
    words = list(block_events(0, text("The loss is lost at step 100 because")))
    server.script = [stream(start(), *words[:-1], Hold(hold))]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("The loss is lost at step 100 because")
        await stage.press("escape")
        await stage.until(lambda: records(stage))
        assert not hold.is_set()
        (record,) = records(stage)
        assert record.status == "cancelled"
        assert "because" in record.body["text"]
        await stage.shows("The loss is lost at step 100 because", "stopped")
        hold.set()


@piloted
async def test_questions_go_on_in_the_same_conversation(log: Path, server: MessagesServer) -> None:
    server.script = [opinion(), answer(text("Because it rose over three records."))]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("1 of 2 citations")
        quiet(stage)
        await stage.press("a", *"why not a bad batch", "enter")
        await stage.shows("why not a bad batch", "Because it rose over three records.")
        await stage.until(lambda: len(records(stage)) == 2)
        reply = records(stage)[-1]
        assert (reply.status, reply.body["question"]) == ("replied", "why not a bad batch")
        # The newest answer to "h" is still the opinion.
        await stage.press("h")
        await stage.until(lambda: session_of(stage).hypotheses)
    assert len(server.messages[1]) > len(server.messages[0])


@piloted
async def test_a_failure_is_a_sentence_and_the_rest_goes_on(
    log: Path, server: MessagesServer
) -> None:
    server.script = [fault(401, "authentication_error", "invalid x-api-key")]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("ANTHROPIC_API_KEY")
        await stage.press("3")
        await stage.shows("NaN loss")
        # Nothing came that would be worth a place in the session.
        assert records(stage) == []


@piloted
async def test_without_a_key_the_pane_says_what_to_do(
    log: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    async with opened(log) as stage:
        await stage.press("c")
        await stage.shows("There is no key for Claude", "export ANTHROPIC_API_KEY")
    assert server.requests == []


@piloted
async def test_where_it_is_switched_off_nothing_is_even_packed(
    log: Path, server: MessagesServer, own_home: Path
) -> None:
    config = own_home / ".config" / "mltd" / "config.toml"
    config.parent.mkdir()
    config.write_text("[claude]\nenabled = false\n")
    async with opened(log) as stage:
        await stage.press("c")
        await stage.shows("switched off")
    assert server.requests == []


@piloted
async def test_names_can_be_masked_before_they_are_sent(log: Path, server: MessagesServer) -> None:
    server.script = [opinion()]
    async with opened(log) as stage:
        await stage.press("c")
        await asked_for_consent(stage)
        screen = stage.app.screen
        assert isinstance(screen, ConsentScreen)
        await stage.press("r")
        await stage.until(lambda: screen.preview.is_redacted)
        await stage.pilot.pause()
        await stage.press("y")
        await stage.until(lambda: records(stage))
        assert records(stage)[0].body["is_redacted"] is True
    assert str(log.parent) not in server.requests[0].raw


@piloted
async def test_an_engine_that_dies_under_a_question_leaves_what_came(
    log: Path, server: MessagesServer
) -> None:
    hold = threading.Event()
    words = list(block_events(0, text("Half of an answer")))
    server.script = [stream(start(), *words[:-1], Hold(hold)), opinion()]
    async with opened(log, Bridge) as stage:
        await agree(stage)
        await stage.shows("Half of an answer")
        os.kill(stage.bridge._process.pid, signal.SIGKILL)
        await stage.shows("engine has ended", "Half of an answer")
        (record,) = records(stage)
        assert (record.status, record.body["text"]) == ("failed", "Half of an answer")
        hold.set()
        quiet(stage)
        await stage.press("c")
        await stage.until(lambda: len(records(stage)) == 2)
        await stage.shows("1 of 2 citations")


@piloted
async def test_whoever_does_not_agree_a_second_time_keeps_the_conversation(
    log: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [opinion(), answer(text("Because."))]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("1 of 2 citations")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "")
        await stage.press("c")
        await stage.until(lambda: any("no key" in said for said in stage.notices))
        quiet(stage)
        await stage.shows("1 of 2 citations")
        server.point(monkeypatch)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.replace("127.0.0.1", "localhost"))
        await stage.press("c")
        # Another host: nobody has agreed to that.
        await stage.until(lambda: isinstance(stage.app.screen, ConsentScreen))
        await stage.press("n")
        await stage.until(lambda: any("Nothing was sent" in said for said in stage.notices))
        server.point(monkeypatch)
        quiet(stage)
        await stage.press("a", *"why", "enter")
        await stage.shows("Because.")


@piloted
async def test_what_came_before_the_app_was_left_is_kept(log: Path, server: MessagesServer) -> None:
    hold = threading.Event()
    words = list(block_events(0, text("Half of an answer")))
    server.script = [stream(start(), *words[:-1], Hold(hold))]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("Half of an answer")
    hold.set()
    (session,) = saved()
    (record,) = [one for one in session.diagnoses if one.source == "claude"]
    assert (record.status, record.body["text"]) == ("failed", "Half of an answer")


@piloted
async def test_an_opinion_that_is_undone_leaves_the_pane_and_comes_back(
    log: Path, server: MessagesServer
) -> None:
    server.script = [opinion()]
    async with opened(log) as stage:
        await agree(stage)
        await stage.shows("1 of 2 citations")
        await stage.press("6", "u")
        await stage.until(lambda: not records(stage))
        await stage.press("7")
        await stage.shows("was undone")
        assert "1 of 2 citations" not in stage.text
        await stage.press("h")
        assert not session_of(stage).hypotheses
        await stage.press("6", "U", "7")
        await stage.shows("1 of 2 citations")


@piloted
async def test_opinions_of_two_sessions_stay_with_their_runs(
    tmp_path: Path, server: MessagesServer
) -> None:
    first, second = (tmp_path / name / "train.log" for name in "ab")
    for log in (first, second):
        log.parent.mkdir()
        write_log(log)
        log.write_text(f"host: {log.parent.name}\n{log.read_text()[9:]}")
    server.script = [opinion(), opinion()]
    for log in (first, second):
        async with opened(log) as stage:
            await agree(stage)
            await stage.shows("1 of 2 citations")
    async with opened(first) as stage:
        await stage.until(lambda: records(stage))
        await stage.press("7")
        await stage.shows("1 of 2 citations")
        other = next(one for one in saved() if one.runs[0].location == str(second))
        assert stage.app._store is not None
        stage.app._open_session(stage.app._store, other.id)
        await stage.until(lambda: session_of(stage).id == other.id and stage.app.book.selected)
        await stage.press("7")
        await stage.shows("1 of 2 citations")
        assert stage.main.diagnosis is not None
        talk = stage.main.diagnosis.talk
        assert talk is not None
        assert talk.page is not None
        cited = [one for one in talk.page.causes[0].evidence if one.ref]
        assert {one.run for one in cited} == {stage.app.book.selected} == {talk.run}


@piloted
async def test_nothing_is_asked_where_nobody_could_see_it(
    log: Path, server: MessagesServer
) -> None:
    async with opened(log, size=(50, 12)) as stage:
        await stage.press("c")
        assert stage.app._talks == {}
    assert server.requests == []
