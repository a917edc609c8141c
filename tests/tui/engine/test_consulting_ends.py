"""Questions are stopped at any moment, and the rest of the engine goes on beside them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError, Excerpt
from mltd.diagnosis.citations import Check
from mltd.diagnosis.events import Cancelled, Checking, Text, ToolCalled, ToolDone
from mltd.diagnosis.tools import ToolBox, ToolResult
from mltd.runs.remote.names import VARIABLE
from mltd.tui.bridge import start_process
from mltd.tui.engine.channel import pack, receive
from mltd.tui.engine.consult_protocol import (
    Consult,
    Consulted,
    Consulting,
    FollowUp,
    Packed,
    PackRequest,
    StopConsult,
)
from mltd.tui.engine.consulting.read_ahead import ReadAheadBook
from mltd.tui.engine.protocol import Open
from tests.diagnosis.messages_server import (
    Forever,
    Hold,
    MessagesServer,
    Reply,
    answer,
    sse,
    start,
    stream,
    text,
    tool,
)
from tests.diagnosis.second_opinions import submission, write_log
from tests.waiting import PATIENCE

from .consult_scene import Scene

DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "so "}}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}


def cancelled(scene: Scene) -> Consulted:
    """The end that a stop leads to."""
    scene.wish(StopConsult(1))
    scene.until(lambda: scene.of(Consulted))
    (ended,) = scene.of(Consulted)
    assert ended.is_cancelled
    assert (ended.status, ended.page, ended.problem) == ("cancelled", None, "")
    assert json.loads(ended.body)["is_cancelled"] is True
    return ended


# -- stopping ----------------------------------------------------------------------------------


def test_a_stop_in_the_middle_of_a_sentence_keeps_what_was_said(
    scene: Scene, server: MessagesServer
) -> None:
    server.script = [stream(start(), BLOCK, Forever(sse(DELTA))), answer(text("Yes."))]
    scene.pack()
    scene.wish(Consult(1))
    scene.until(lambda: scene.has_event(Text))
    ended = cancelled(scene)
    assert ended.text.startswith("so ")
    assert json.loads(ended.body)["text"] == ended.text
    assert isinstance(scene.events()[-1], Cancelled)
    assert scene.consult(FollowUp(1, "so what?")).text == "Yes.", "the conversation goes on"


def test_a_stop_does_not_wait_for_a_look_that_hangs(
    scene: Scene, server: MessagesServer, let_go: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(box: ToolBox, name: str, arguments: object) -> ToolResult:
        let_go.wait(PATIENCE)
        return ToolResult("late", False, "late")

    monkeypatch.setattr(ToolBox, "call", hang)
    server.script = [answer(tool("grep", artifact="run1/train.log", pattern="x"))]
    scene.pack()
    scene.wish(Consult(1))
    scene.until(lambda: scene.has_event(ToolCalled))
    ended = cancelled(scene)
    assert not let_go.is_set()
    assert json.loads(ended.body)["looks"] == ["grep artifact=run1/train.log pattern=x"]
    assert not scene.has_event(ToolDone)


def test_a_stop_while_citations_are_looked_up_keeps_the_answer_and_what_is_known_of_it(
    scene: Scene, server: MessagesServer, let_go: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    look_up = ArtifactBook.lines

    def hang(book: ArtifactBook, name: str, first: int, last: int, **more: float) -> Excerpt:
        if first > 1:
            return look_up(book, name, first, last, **more)  # type: ignore[arg-type]
        begun.set()
        let_go.wait(PATIENCE)
        raise ArtifactError("late")

    server.script = [answer(text("Look here."), submission())]
    scene.pack()
    monkeypatch.setattr(ArtifactBook, "lines", hang)
    scene.wish(Consult(1))
    assert begun.wait(PATIENCE)
    scene.until(lambda: scene.has_event(Checking))
    scene.wish(StopConsult(1))
    scene.until(lambda: scene.of(Consulted))
    (ended,) = scene.of(Consulted)
    assert not let_go.is_set()
    assert (ended.is_cancelled, ended.problem, ended.text) == (False, "", "Look here.")
    assert ended.page is not None
    assert ended.status == ended.page.status
    assert ended.page.tally == "1 of 2 citations confirmed, 1 could not be checked"
    assert "the check was stopped: 1 of 2 citations were not looked up" in ended.page.notes
    (cause,) = ended.page.causes
    known, unknown = cause.evidence
    assert (known.verdict, unknown.verdict) == ("confirmed", "unreadable")
    assert unknown.reason == "the check was stopped"
    kept = json.loads(ended.body)
    assert kept["opinion"]["causes"]
    assert kept["is_cancelled"] is False
    assert [event for event in scene.events() if isinstance(event, Checking)] == [Checking(1, 2)]


def test_a_stop_before_anything_was_looked_up_leaves_no_cause_above_the_unsupported(
    scene: Scene, server: MessagesServer, let_go: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def hang(check: Check) -> None:
        begun.set()
        let_go.wait(PATIENCE)

    monkeypatch.setattr(Check, "run", hang)
    server.script = [answer(submission())]
    scene.pack()
    scene.wish(Consult(1))
    assert begun.wait(PATIENCE)
    scene.wish(StopConsult(1))
    scene.until(lambda: scene.of(Consulted))
    (ended,) = scene.of(Consulted)
    assert ended.page is not None
    (cause,) = ended.page.causes
    assert (cause.said, cause.confidence) == (0.9, 0.5)
    assert {one.reason for one in cause.evidence} == {"the check was stopped"}


def test_a_stop_while_the_pack_is_made_is_answered_and_nothing_can_be_sent(
    scene: Scene, server: MessagesServer, let_go: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def hang(book: ReadAheadBook) -> None:
        begun.set()
        let_go.wait(PATIENCE)

    monkeypatch.setattr(ReadAheadBook, "read_ahead", hang)
    scene.wish(PackRequest(1, 0))
    assert begun.wait(PATIENCE)
    scene.wish(StopConsult(1))
    scene.until(lambda: scene.of(Packed))
    (packed,) = scene.of(Packed)
    assert packed == Packed(1, problem="Stopped before anything was sent")
    let_go.set()
    assert "press c" in scene.consult(Consult(1)).hint
    assert server.requests == []


def test_a_stop_that_comes_too_late_or_for_nobody_does_nothing(
    scene: Scene, server: MessagesServer
) -> None:
    server.script = [answer(submission())]
    scene.ask()
    scene.wish(StopConsult(1), StopConsult(77))
    scene.pack(2)
    assert len(scene.of(Consulted)) == 1


# -- beside the rest ---------------------------------------------------------------------------


def test_logs_are_followed_while_claude_is_asked(
    scene: Scene, server: MessagesServer, let_go: threading.Event, log: Path
) -> None:
    whole = answer(submission())
    server.script = [Reply((Hold(let_go), *whole.steps), whole.whole)]
    scene.pack()
    scene.wish(Consult(1))
    assert server.has_request.wait(PATIENCE)
    scene.grow(log, *(f"step {step} loss nan lr 0.003" for step in range(121, 200)))
    scene.until(lambda: scene.step_of() == 199)
    assert not scene.of(Consulted)
    let_go.set()
    scene.until(lambda: scene.of(Consulted))


def test_logs_are_followed_while_a_look_at_a_file_hangs(
    scene: Scene,
    server: MessagesServer,
    let_go: threading.Event,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = ToolBox.call

    def slow(box: ToolBox, name: str, arguments: dict[str, object]) -> ToolResult:
        if name == "grep":
            let_go.wait(PATIENCE)
        return call(box, name, arguments)

    monkeypatch.setattr(ToolBox, "call", slow)
    server.script = [
        answer(
            tool("grep", "a", artifact="run1/train.log", pattern="nan"),
            tool("query_series", "b", name="loss"),
        ),
        answer(submission()),
    ]
    scene.pack()
    scene.wish(Consult(1))
    scene.until(lambda: scene.has_event(ToolDone))
    assert [event.id for event in scene.events() if isinstance(event, ToolDone)] == ["b"]
    scene.grow(log, "step 121 loss nan lr 0.003")
    scene.until(lambda: scene.step_of() == 121)
    let_go.set()
    scene.until(lambda: scene.of(Consulted))


def test_runs_are_looked_at_by_the_main_loop_alone(
    scene: Scene, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, str] = {}
    call = ToolBox.call

    def noted(box: ToolBox, name: str, arguments: dict[str, object]) -> ToolResult:
        seen[name] = threading.current_thread().name
        return call(box, name, arguments)

    monkeypatch.setattr(ToolBox, "call", noted)
    server.script = [
        answer(*(tool(name) for name in ("list_artifacts", "read_config", "query_series"))),
        answer(tool("findings"), tool("grep", artifact="run1/train.log", pattern="x")),
        answer(submission()),
    ]
    scene.ask()
    main = {seen[name] for name in ("list_artifacts", "read_config", "query_series")}
    assert main == {scene.thread_name}
    assert scene.thread_name not in {seen["findings"], seen["grep"]}


def test_a_pack_waits_for_a_remote_log_and_the_loop_goes_on(
    server: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mltd-ssh-1"))
    log = write_log(tmp_path / "train.log")
    scene = Scene()
    try:
        scene.open(log)
        followed = scene.service._followed[0]
        followed._is_awaited = True
        scene.wish(PackRequest(1, 0, model="claude-sonnet-5-5"))
        scene.pack(2, run=99)
        assert [one.ticket for one in scene.of(Packed)] == [2]
        followed._is_awaited = False
        scene.inbox.changed({log})
        scene.until(lambda: len(scene.of(Packed)) == 2)
        assert scene.of(Packed)[-1].preview is not None
    finally:
        scene.close()


def test_an_engine_ends_at_once_while_a_question_is_under_way(
    server: MessagesServer, log: Path
) -> None:
    server.script = [stream(start(), BLOCK, Forever(sse(DELTA)))]
    process = start_process(Open((str(log),), has_jobs=False))
    assert process.stdin is not None
    heard = cast(BinaryIO, process.stdout)
    process.stdin.write(pack(PackRequest(1, 0)))
    process.stdin.flush()
    while not isinstance(packed := receive(heard), Packed):
        assert packed is not None
    assert not packed.problem
    process.stdin.write(pack(Consult(1)))
    process.stdin.flush()
    while not isinstance(said := receive(heard), Consulting):
        assert said is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    heard.close()


def test_nothing_of_it_is_imported_before_it_is_wanted() -> None:
    code = (
        "import sys, mltd.tui.engine.service, mltd.tui.engine.__main__\n"
        "print(*(name for name in sys.modules if name.startswith(('anthropic', 'mltd.diag'))))"
    )
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "\n")
