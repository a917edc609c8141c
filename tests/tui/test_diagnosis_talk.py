"""What the screen knows of a conversation with Claude."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from pydantic import JsonValue

from mltd.diagnosis.events import (
    Answered,
    Cancelled,
    Failed,
    Replied,
    Retrying,
    Text,
    Thinking,
    ToolCalled,
    ToolDone,
    Usage,
    Wrapping,
)
from mltd.tui.claude.talk import Stage, Talk
from mltd.tui.claude.turn import Look, Notice, State, Words
from mltd.tui.engine.consult_protocol import Packed

from .opinions import DONE, EVENTS, MODEL, PAGE, USED, consulted, packed

AT = datetime(2026, 5, 12, 14, 2, tzinfo=UTC)


def asked(question: str = "", clock: list[float] | None = None) -> Talk:
    """A conversation whose question is under way."""
    times = clock or [0.0]
    talk = Talk(1, 0, "run1", lambda: times[0])
    talk.pack()
    talk.packed(packed())
    talk.begin(question)
    return talk


def answered() -> Talk:
    talk = asked()
    talk.take(DONE)
    talk.end(consulted())
    return talk


# -- before anything is sent -----------------------------------------------------------------


def test_evidence_is_got_ready_before_anything_is_asked() -> None:
    talk = Talk(1, 0, "run1")
    talk.pack()
    assert talk.is_packing
    assert talk.is_busy
    assert not talk.is_asking
    talk.packed(packed())
    assert not talk.is_packing
    assert talk.model == MODEL
    talk.begin()
    assert talk.is_asking
    assert talk.is_live


def test_evidence_that_cannot_be_got_ready_says_why() -> None:
    talk = Talk(1, 0, "run1")
    talk.pack()
    talk.packed(Packed(1, problem="There is no key", hint="set ANTHROPIC_API_KEY"))
    assert talk.stage is Stage.REFUSED
    assert (talk.problem, talk.hint) == ("There is no key", "set ANTHROPIC_API_KEY")
    assert not talk.is_busy
    talk.pack()
    assert (talk.problem, talk.hint) == ("", "")


def test_what_was_declined_or_left_while_it_was_packed_is_not_busy() -> None:
    for leave in (Talk.decline, Talk.stop):
        talk = Talk(1, 0, "run1")
        talk.pack()
        leave(talk)
        assert talk.stage is Stage.DECLINED
        assert not talk.is_busy


# -- what happens ------------------------------------------------------------------------------


def test_everything_is_kept_in_its_order() -> None:
    talk = asked()
    talk.take((Thinking("a"), Thinking("b"), Text("c"), Text("d")))
    talk.take((ToolCalled("1", "grep", "nan"), ToolDone("1", "3 lines"), Thinking("e")))
    talk.take((Retrying(12.4, "overloaded"), Wrapping("time is up")))
    thought, said, look, again, waits, told = talk.turns[0].items
    assert isinstance(thought, Words)
    assert isinstance(said, Words)
    assert isinstance(again, Words)
    assert (thought.is_thought, thought.flow.text) == (True, "ab")
    assert (said.is_thought, said.flow.text) == (False, "cd")
    assert look == Look("1", "grep", "nan", "3 lines", is_done=True)
    assert again.flow.text == "e"
    assert waits == Notice("waits", "12 s, then asks again: overloaded")
    assert told == Notice("told", "to answer now with what it has: time is up")
    assert talk.turns[0].said == "cd"


def test_looks_that_overlap_get_their_own_results() -> None:
    talk = asked()
    talk.take((ToolCalled("1", "grep", "a"), ToolCalled("2", "grep", "b")))
    talk.take((ToolDone("2", "two"), ToolDone("1", "one", True), ToolDone("9", "stray")))
    assert [(look.result, look.is_error) for look in talk.turns[0].looks] == [
        ("one", True),
        ("two", False),
        ("stray", False),
    ]


def test_an_answer_is_checked_before_it_is_an_opinion() -> None:
    talk = asked()
    talk.take((Answered("{}"),))
    assert talk.turns[0].state == "checking"
    assert talk.is_asking
    assert not talk.can_follow_up
    talk.end(consulted())
    assert talk.turns[0].state is State.OPINION
    assert talk.page is PAGE
    assert talk.can_follow_up
    assert not talk.is_asking


def test_a_follow_up_in_words_leaves_the_opinion_as_it_was() -> None:
    talk = answered()
    talk.begin("why?")
    assert not talk.can_follow_up
    talk.take((Text("Because."), Replied("Because.")))
    talk.end(consulted(None, question="why?", text="Because."))
    assert talk.turns[1].state is State.REPLIED
    assert talk.turns[1].said == "Because."
    assert talk.page is PAGE
    assert talk.can_follow_up


def test_words_that_were_not_streamed_are_taken_from_the_end() -> None:
    for event in ((Replied("Because."),), ()):
        talk = answered()
        talk.begin("why?")
        talk.take(event)
        talk.end(consulted(None, text="Because."))
        assert talk.turns[1].said == "Because."


def test_stopping_shows_at_once_and_the_answer_no_longer_changes_that() -> None:
    talk = asked()
    talk.take(EVENTS)
    talk.stop()
    assert talk.is_stopping
    talk.take((Answered("{}"),))
    assert talk.is_stopping
    talk.take((Cancelled(),))
    talk.end(consulted(None, is_cancelled=True))
    assert talk.turns[0].state is State.CANCELLED
    assert talk.turns[0].said
    assert not talk.can_follow_up


def test_a_failure_keeps_what_was_said() -> None:
    talk = asked()
    talk.take((Text("half a sen"), Failed("The stream was cut", "ask again")))
    assert talk.turns[0].problem == "The stream was cut"
    talk.end(consulted(None, problem="The stream was cut", hint="ask again"))
    turn = talk.turns[0]
    assert (turn.state, turn.problem, turn.hint) == (
        State.FAILED,
        "The stream was cut",
        "ask again",
    )
    assert turn.said == "half a sen"
    assert not talk.can_follow_up


def test_a_follow_up_that_failed_can_be_asked_again() -> None:
    talk = answered()
    talk.begin("why?")
    talk.end(consulted(None, problem="No connection"))
    assert talk.can_follow_up


def test_what_came_stays_when_the_engine_ends() -> None:
    talk = asked()
    talk.take((Text("half"),))
    talk.lose("The engine has ended")
    assert talk.turns[0].state is State.LOST
    assert talk.turns[0].said == "half"
    assert not talk.is_live
    assert not talk.is_asking
    done = answered()
    done.lose("The engine has ended")
    assert done.turns[0].state is State.OPINION
    assert not done.can_follow_up
    packing = Talk(1, 0, "run1")
    packing.pack()
    packing.lose("The engine has ended")
    assert packing.problem == "The engine has ended"
    assert not packing.is_busy


def test_what_comes_after_the_end_is_not_heard() -> None:
    talk = answered()
    version = talk.version
    talk.take((Text("late"),))
    talk.end(consulted(None, problem="late"))
    assert talk.turns[0].page is PAGE
    assert talk.version == version
    Talk(1, 0, "run1").take((Text("early"),))


def test_every_change_is_counted() -> None:
    talk = asked()
    seen = [talk.version]
    talk.take((Text("a"),))
    seen.append(talk.version)
    talk.stop()
    seen.append(talk.version)
    talk.end(consulted(None))
    seen.append(talk.version)
    talk.lose("gone")
    seen.append(talk.version)
    assert sorted(set(seen)) == seen


# -- what it costs -----------------------------------------------------------------------------


def test_time_goes_on_while_it_is_asked_and_is_added_up() -> None:
    clock = [100.0]
    talk = asked(clock=clock)
    clock[0] = 107.0
    assert talk.seconds == 7.0
    talk.take((Usage(10, 2, 0, None, 6.5),))
    assert talk.usage == Usage(10, 2, 0, None, 6.5)
    assert talk.seconds == 7.0
    talk.end(consulted())
    assert talk.usage == USED
    assert talk.seconds == USED.seconds
    clock[0] = 200.0
    talk.begin("why?")
    clock[0] = 203.0
    assert talk.seconds == USED.seconds + 3.0


def test_a_question_that_was_never_sent_has_used_nothing() -> None:
    talk = asked()
    talk.end(consulted(None, problem="No key")._replace(usage=Usage(0, 0, 0, None, 0.0)))
    assert talk.usage is None
    assert talk.seconds == 0.0


def test_the_model_is_known_from_the_record_if_nobody_told_it_before() -> None:
    talk = Talk(1, 0, "run1")
    talk.begin()
    talk.end(consulted()._replace(body=json.dumps({"model": MODEL})))
    assert talk.model == MODEL
    for body in ("{", "[]", '{"model": 3}'):
        talk = Talk(1, 0, "run1")
        talk.begin()
        talk.end(consulted()._replace(body=body))
        assert talk.model == ""


# -- of an earlier day -------------------------------------------------------------------------


def test_kept_opinions_are_shown_and_nobody_goes_on_with_them() -> None:
    body: dict[str, JsonValue] = {
        "root_causes": [{"id": "lr_too_high"}],
        "model": MODEL,
        "text": "I looked.",
        "looks": ["grep nan a.log -> 3 lines", "read_source /etc -> refused: no", {"name": "x"}, 3],
        "usage": {"input": 10, "output": 2, "cached": 3, "dollars": 0.1, "seconds": 4.5},
    }
    reply: dict[str, JsonValue] = {"question": "why?", "text": "Because."}
    failure: dict[str, JsonValue] = {
        "question": "and?",
        "error": {"kind": "http", "message": "No key", "hint": "set it"},
    }
    talk = Talk.kept(1, 0, "run1", [(AT, body), (AT, reply), (AT, failure), (AT, {})])
    opinion, replied, failed, stopped = talk.turns
    assert opinion.is_pending
    assert opinion.at == AT
    assert opinion.looks == [
        Look("", "grep", "nan a.log", "3 lines", is_done=True),
        Look("", "read_source", "/etc", "no", True, is_done=True),
        Look("", "x", is_done=True),
        Look("", "a look", is_done=True),
    ]
    assert opinion.usage == Usage(10, 2, 3, 0.1, 4.5)
    assert (replied.state, replied.question, replied.said) == (State.REPLIED, "why?", "Because.")
    assert (failed.state, failed.problem, failed.hint) == (State.FAILED, "No key", "set it")
    assert stopped.state is State.CANCELLED
    assert talk.model == MODEL
    assert not talk.is_live
    assert not talk.can_follow_up
    assert not talk.is_busy
    talk.lay_out((PAGE, None, None, None))
    assert talk.page is PAGE
    assert not opinion.is_pending
    assert replied.problem == ""


def test_a_kept_opinion_that_cannot_be_read_says_so() -> None:
    talk = Talk.kept(1, 0, "run1", [(AT, {"opinion": {"status": 3}})])
    talk.lay_out((None,))
    assert not talk.turns[0].is_pending
    assert "cannot be read" in talk.turns[0].problem


def test_records_of_any_shape_are_read() -> None:
    values: list[JsonValue] = [None, 3, "x", [], [None], {}, {"name": 3}, True, -1.0, float("nan")]
    for value in values:
        names = ("question", "text", "looks", "usage", "error", "model", "root_causes")
        body: dict[str, JsonValue] = dict.fromkeys(names, value)
        Talk.kept(1, 0, "run1", [(AT, body)])
        body["usage"] = {"input": value, "dollars": value, "seconds": value}
        Talk.kept(1, 0, "run1", [(AT, body)])
