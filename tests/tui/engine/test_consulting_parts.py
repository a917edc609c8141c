"""Parts of the second opinion that stand on their own: letters, errands, files read ahead."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.artifacts import ArtifactError
from mltd.diagnosis.events import Answered, Event, Text, Thinking, ToolCalled, ToolDone, Usage
from mltd.diagnosis.tools import ToolBox, ToolResult
from mltd.tui.engine.consulting import tool_calls
from mltd.tui.engine.consulting.coalescing import Coalescer
from mltd.tui.engine.consulting.errands import Patience, handed
from mltd.tui.engine.consulting.read_ahead import ReadAheadBook
from mltd.tui.engine.consulting.record import Looks
from mltd.tui.engine.consulting.shared_masker import SharedMasker
from mltd.tui.engine.consulting.tool_calls import ToolCalls
from mltd.tui.engine.followed_run import FollowedRun
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.protocol import FactsRequest, Open
from tests.diagnosis.artifacts.making import run_in
from tests.tui.engine.test_service import Desk

WORDS = st.text(max_size=4)
EVENTS = st.one_of(
    st.builds(Text, WORDS),
    st.builds(Thinking, WORDS),
    st.builds(ToolCalled, WORDS, WORDS, WORDS),
    st.builds(ToolDone, WORDS, WORDS, st.booleans()),
    st.builds(Usage, *[st.integers(0, 9)] * 3, st.none(), st.just(1.0)),
    st.builds(Answered, WORDS),
)


def joined(events: list[Event]) -> list[Event]:
    """The same with neighbouring words in one piece."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, Text | Thinking) and type(last) is type(event):
            assert isinstance(last, Text | Thinking)
            found[-1] = type(event)(last.text + event.text)
        else:
            found.append(event)
    return found


@given(st.lists(st.one_of(EVENTS, st.none()), max_size=30))
def test_letters_lose_nothing_and_change_no_order(events: list[Event | None]) -> None:
    sent: list[tuple[Event, ...]] = []
    timers: list[Callable[[], None]] = []
    letters = Coalescer(sent.append, lambda _, flush: timers.append(flush))
    for event in events:
        if event is not None:
            letters.take(event)
        elif timers:
            timers.pop(0)()  # the time is over
    letters.flush()
    for late in timers:
        late()
    told = [event for letter in sent for event in letter]
    assert joined(told) == joined([event for event in events if event is not None])
    assert all(letter and joined(list(letter)) == list(letter) for letter in sent)


def test_words_that_come_together_are_sent_together() -> None:
    sent: list[tuple[Event, ...]] = []
    timers: list[Callable[[], None]] = []
    letters = Coalescer(sent.append, lambda _, flush: timers.append(flush))
    for word in "so it is":
        letters.take(Text(word))
    assert len(timers) == 1
    timers[0]()
    assert sent == [(Text("so it is"),)]


def test_an_errand_wakes_the_loop_and_brings_back_what_came_of_it() -> None:
    inbox = Inbox()
    done = handed(inbox.errand, lambda: 6 * 7)
    inbox.wait(1e6)
    (errand,) = inbox.take_errands()
    errand()
    assert done.result() == 42
    assert inbox.take_errands() == []


def test_an_errand_that_fails_is_the_problem_of_whoever_sent_it() -> None:
    errands: list[Callable[[], None]] = []
    done = handed(errands.append, lambda: 1 // 0)
    errands[0]()
    with pytest.raises(ZeroDivisionError):
        done.result()


def test_an_errand_that_nobody_waits_for_any_more_is_not_run() -> None:
    errands: list[Callable[[], None]] = []
    ran: list[int] = []
    with pytest.raises(TimeoutError):
        Patience(errands.append, 0.0).have(lambda: ran.append(1))
    errands[0]()
    assert ran == []


def test_errands_are_run_while_a_big_log_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"".join(b"step %07d loss: 1.5\n" % step for step in range(200_000)))
    desk = Desk()
    done: list[str] = []
    read_some = FollowedRun.read_some

    def read(followed: FollowedRun, now: float) -> bool:
        if not done:
            desk.inbox.errand(lambda: done.append("errand"))
        done.append("read")
        return read_some(followed, now)

    monkeypatch.setattr(FollowedRun, "read_some", read)
    try:
        desk.inbox.wish(Open((str(log),)))
        desk.inbox.wish(FactsRequest(0))
        desk.service.step()
    finally:
        desk.watcher.close()
    assert done[:2] == ["read", "errand"]
    assert done.count("read") > 2


def test_a_look_that_the_loop_does_not_come_to_is_given_up_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tool_calls, "SECONDS", 0.01)
    run = run_in(tmp_path, {"train.log": "step 1 loss 2.0\n"})
    calls = ToolCalls(lambda work: None)
    calls.box = ToolBox(ReadAheadBook({"run1": run}), {"run1": run}, {})
    result = asyncio.run(calls("query_series", {}))
    assert result.is_error
    assert "try again" in result.text
    assert not asyncio.run(calls("grep", {"artifact": "train.log", "pattern": "x"})).is_error


def test_lines_are_noted_read_and_then_at_hand(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    book = ReadAheadBook({"run1": run_in(tmp_path, {"train.log": "one\ntwo\nthree\n"})})
    with book.noting():
        for first, last in ((1, 2), (9, 9)):
            with pytest.raises(ArtifactError, match="not read yet"):
                book.lines("train.log", first, last)
    book.read_ahead()
    log.write_text("another\nlog\n")
    with book.at_hand():
        assert [line.text for line in book.lines("train.log", 1, 2).lines] == ["one", "two"]
        with pytest.raises(ArtifactError, match="3 lines"):
            book.lines("train.log", 9, 9)
        assert [line.text for line in book.lines("train.log", 2, 2).lines] == ["log"]
    assert [line.text for line in book.lines("train.log", 1, 2).lines] == ["another", "log"]


def test_a_masker_in_use_is_waited_for() -> None:
    masker = SharedMasker(True, [], ["gwendolyn"])
    begun, cleaned = threading.Event(), list[str]()

    def clean() -> None:
        begun.set()
        cleaned.append(masker.clean("by gwendolyn"))

    with masker._turn:
        thread = threading.Thread(target=clean)
        thread.start()
        assert begun.wait(20)
        thread.join(0.01)
        assert cleaned == []
    thread.join(20)
    assert "gwendolyn" not in cleaned[0]
    assert masker.clean("by gwendolyn") == cleaned[0]
    assert masker.clean_value({"who": ["by gwendolyn"]}) == {"who": cleaned}


def test_looks_are_told_in_a_line_each() -> None:
    looks = Looks()
    for event in (
        ToolCalled("a", "grep", "pattern=x"),
        ToolCalled("b", "findings", ""),
        ToolDone("b", "no such run", True),
        ToolDone("a", "3 lines"),
        ToolDone("zzz", "nobody asked"),
    ):
        looks.take(event)
    assert looks.lines == ["grep pattern=x -> 3 lines", "findings -> refused: no such run"]


class _Untouchable:
    """A run that nobody may look at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"somebody looked at {name}")


def test_tools_that_are_called_beside_the_loop_look_at_no_run(tmp_path: Path) -> None:
    code = tmp_path / "train.py"
    code.write_text("import torch\n")
    log = (
        "step 1 loss 2.0\nTraceback (most recent call last):\n"
        f'  File "{code}", line 1, in <module>\n'
        "    import torch\nImportError: no torch\nbye\n"
    )
    run = run_in(tmp_path, {"train.log": log})
    box = ToolBox(ReadAheadBook({"run1": run}), {"run1": run}, {})
    box._bench.runs = {"run1": _Untouchable()}  # type: ignore[dict-item]
    box._bench.book.runs = {"run1": _Untouchable()}  # type: ignore[dict-item]
    asked: dict[str, dict[str, object]] = {
        "grep": {"artifact": "run1/train.log", "pattern": "loss"},
        "read_lines": {"artifact": "run1/train.log"},
        "read_source": {"path": "train.py:1"},
        "findings": {},
        "checkpoint_summary": {"artifact": "run1/model.pt"},
    }
    assert set(asked) == {spec.name for spec in box.specs if not box.reads_runs(spec.name)}
    results: dict[str, ToolResult] = {name: box.call(name, args) for name, args in asked.items()}
    assert not [one.text for one in results.values() if "somebody looked" in one.text]
    assert [name for name, one in results.items() if one.is_error] == [
        "findings",  # nobody has judged the run
        "checkpoint_summary",  # there is none
    ]
