"""Questions that are refused or fail: each with a sentence that says what to do."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from mltd.diagnosis.client import access
from mltd.diagnosis.events import Failed
from mltd.diagnosis.second_opinion import SecondOpinion
from mltd.tui.engine.consult_protocol import (
    Consult,
    Consulted,
    FollowUp,
)
from mltd.tui.engine.consulting.desk import MOST_KEPT
from tests.diagnosis.messages_server import (
    Hold,
    MessagesServer,
    Reply,
    answer,
    fault,
    text,
)
from tests.diagnosis.second_opinions import submission
from tests.waiting import PATIENCE

from .consult_scene import Scene

# -- refusals ----------------------------------------------------------------------------------


def test_one_question_at_a_time(
    scene: Scene, server: MessagesServer, let_go: threading.Event
) -> None:
    whole = answer(submission())
    server.script = [Reply((Hold(let_go), *whole.steps), whole.whole)]
    scene.pack(1)
    scene.pack(2)
    scene.wish(Consult(1))
    assert server.has_request.wait(PATIENCE)
    for wish, question in ((Consult(2), ""), (FollowUp(1, "well?"), "well?")):
        refused = scene.consult(wish)
        assert (refused.ticket, refused.question) == (wish.ticket, question)
        assert "still busy" in refused.problem
        assert "Esc" in refused.hint
        assert refused.status == "failed"
        assert json.loads(refused.body)["error"]["message"] == refused.problem
    let_go.set()
    scene.until(lambda: len(scene.of(Consulted)) == 3)
    assert scene.of(Consulted)[-1].page is not None, "the first one was not disturbed"


def test_only_some_conversations_are_kept_and_the_oldest_goes_first(
    scene: Scene, server: MessagesServer
) -> None:
    server.script = [answer(submission()), *(answer(text("Yes.")) for _ in range(2))]
    scene.ask(1)
    for ticket in range(2, MOST_KEPT + 1):
        scene.pack(ticket)
    assert scene.consult(FollowUp(1, "still there?")).text == "Yes.", "and is the newest now"
    scene.pack(MOST_KEPT + 1)
    assert scene.consult(FollowUp(1, "still there?")).text == "Yes."
    gone = scene.consult(Consult(2))
    assert "does not know this conversation" in gone.problem
    assert gone.hint == "press c to ask anew"


@pytest.mark.parametrize("wish", [Consult(5), FollowUp(5, "hm?")])
def test_nothing_is_sent_for_an_unknown_conversation(
    scene: Scene, server: MessagesServer, wish: Consult | FollowUp
) -> None:
    assert "press c" in scene.consult(wish).hint
    assert server.requests == []


def test_nothing_is_sent_before_somebody_has_agreed(scene: Scene, server: MessagesServer) -> None:
    scene.pack(1)
    assert "press c" in scene.consult(FollowUp(1, "hm?")).hint
    assert server.requests == []


def test_a_pack_made_anew_needs_a_new_agreement(scene: Scene, server: MessagesServer) -> None:
    server.script = [answer(submission())]
    scene.ask(1)
    scene.pack(1)
    assert "press c" in scene.consult(FollowUp(1, "hm?")).hint
    assert len(server.requests) == 1


# -- failures ----------------------------------------------------------------------------------


def test_a_wrong_key_is_told_with_what_to_do(scene: Scene, server: MessagesServer) -> None:
    server.script = [fault(401, "authentication_error", "invalid x-api-key")]
    ended = scene.ask()
    assert (ended.status, ended.page, ended.is_cancelled) == ("failed", None, False)
    assert ended.problem
    assert ended.hint
    assert scene.events()[-1] == Failed(ended.problem, ended.hint)
    error = json.loads(ended.body)["error"]
    assert (error["kind"], error["message"], error["hint"]) == (
        "unauthorized", ended.problem, ended.hint,
    )  # fmt: skip


def test_without_a_key_there_is_no_pack(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    packed = scene.pack()
    assert (packed.preview, packed.text) == (None, "")
    assert "key" in packed.problem
    assert "ANTHROPIC_API_KEY" in packed.hint


def test_without_the_sdk_the_command_that_installs_it_is_told(
    scene: Scene, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "is_installed", lambda: False)
    packed = scene.pack()
    assert "not installed" in packed.problem
    assert "pip install" in packed.hint


def test_where_it_is_switched_off_nothing_is_packed(scene: Scene, server: MessagesServer) -> None:
    packed = scene.pack(is_disabled=True)
    assert "switched off" in packed.problem
    assert packed.preview is None


def test_broken_settings_are_told(scene: Scene, server: MessagesServer, own_home: Path) -> None:
    path = own_home / ".config" / "mltd" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[claude\nrounds = 3\n")
    packed = scene.pack()
    assert "config.toml" in packed.problem
    assert packed.hint


def test_a_session_that_cannot_be_read_is_told(scene: Scene, server: MessagesServer) -> None:
    assert "could not be put together" in scene.pack(session='{"id": 3}').problem


def test_there_must_be_a_run(scene: Scene, server: MessagesServer) -> None:
    assert scene.pack(run=99).problem == "There is no run to ask about"


def test_a_check_that_breaks_is_told_and_what_was_said_stays(
    scene: Scene, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(SecondOpinion, "checking", broken)
    server.script = [answer(text("Look here."), submission())]
    ended = scene.ask()
    assert "could not be checked: RuntimeError: the disk is gone" in ended.problem
    assert (ended.text, ended.status, ended.page) == ("Look here.", "failed", None)


def test_a_page_that_breaks_leaves_the_checked_opinion_in_the_record(
    scene: Scene, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such place")

    monkeypatch.setattr("mltd.tui.engine.consulting.recalling.lay_out", broken)
    server.script = [answer(submission())]
    ended = scene.ask()
    assert "could not be laid out" in ended.problem
    assert json.loads(ended.body)["opinion"]
