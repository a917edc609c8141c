"""A triage is what its entries add up to; undo and redo of anything, in any order."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.checks import ObserveChecks
from mltd.sessions.actions.every import AnyAction, is_automatic
from mltd.sessions.actions.experiments import RecordResult, RemoveExperiment, StartExperiment
from mltd.sessions.actions.hypotheses import RemoveHypothesis, SetConfidence
from mltd.sessions.actions.records import PutNote, Rename, SetFact
from mltd.sessions.errors import Refused
from mltd.sessions.model.checklist import CheckMark, MarkState
from mltd.sessions.model.constraints import Fact, Topic
from mltd.sessions.model.result import BeforeAfter, MetricChange, Outcome
from mltd.sessions.model.session import Session
from mltd.sessions.triage import Entry, Triage

from .actions.acting import AT, HALF, add, empty, plan, result, run, triage_of
from .actions.any_action import KINDS, any_action


class Clock:
    """A minute passes at each look."""

    def __init__(self) -> None:
        self.at = AT

    def __call__(self) -> datetime:
        self.at += timedelta(minutes=1)
        return self.at


class AnyTriage(RuleBasedStateMachine):
    """Compares a triage with a list of what is in force, added up anew each time."""

    def __init__(self) -> None:
        super().__init__()
        self.triage = Triage(empty(), clock=Clock())
        self.in_force: list[Entry] = []
        self.by_person: list[Entry] = []
        self.taken_back: list[Entry] = []
        self.given: set[str] = set()

    @initialize()
    def begin(self) -> None:
        """Something to act upon."""
        for action in (run(), run("R2"), add(), plan()):
            self.did(action)

    def did(self, action: AnyAction) -> None:
        before = self.triage.session
        try:
            entry = self.triage.do(action)
        except Refused:
            assert self.triage.session is before
            return
        self.in_force.append(entry)
        if not is_automatic(action):
            self.by_person.append(entry)
            self.taken_back.clear()
        self.given.add(action.makes)

    @rule(data=st.data())
    def do(self, data: st.DataObject) -> None:
        """Anything."""
        self.did(data.draw(any_action(self.triage.new_id)))

    @rule(times=st.integers(1, 4))
    def undo(self, times: int) -> None:
        """Take back what a person did last."""
        for _ in range(times):
            entry = self.triage.undo()
            if not self.by_person:
                assert entry is None
                return
            assert entry is not None
            last = self.by_person.pop()
            assert entry.of == last.n
            self.in_force.remove(last)
            self.taken_back.append(last)

    @rule(times=st.integers(1, 4))
    def redo(self, times: int) -> None:
        """Do again what was taken back last."""
        for _ in range(times):
            entry = self.triage.redo()
            if not self.taken_back:
                assert entry is None
                return
            assert entry is not None
            last = self.taken_back.pop()
            assert entry.of == last.n
            self.in_force.append(last)
            self.by_person.append(last)

    @invariant()
    def the_state_is_what_is_in_force(self) -> None:
        """In the order in which it was done first."""
        session = empty()
        for entry in sorted(self.in_force, key=lambda e: e.n):
            assert entry.action is not None
            try:
                session = entry.action.apply(session, entry.at)
            except (Refused, ValueError):
                continue
        assert self.triage.session == session

    @invariant()
    def it_can_be_read_back(self) -> None:
        """From its entries as they stand in a journal."""
        lines = [entry.model_dump_json() for entry in self.triage.entries]
        again = Triage(empty(), [Entry.model_validate_json(line) for line in lines])
        assert again.session == self.triage.session
        assert again.undoable == self.triage.undoable
        assert again.redoable == self.triage.redoable
        assert Session.model_validate_json(again.session.model_dump_json()) == again.session

    @invariant()
    def no_id_is_given_twice(self) -> None:
        """Not even one that was undone or removed."""
        for letter in "HERNDP":
            assert self.triage.new_id(letter) not in self.given


AnyTriage.TestCase.settings = settings(max_examples=25, stateful_step_count=25)
test_any_sequence_of_actions = AnyTriage.TestCase


@settings(max_examples=150)
@given(st.data())
def test_every_kind_of_action_can_be_kept_and_says_what_it_does(data: st.DataObject) -> None:
    triage = triage_of(run(), add(), plan())
    action = data.draw(any_action(triage.new_id))
    assert action.said(triage.session).strip()
    entry = Entry(n=1, at=AT, action=action)
    assert Entry.model_validate_json(entry.model_dump_json()) == entry


def test_every_kind_of_action_is_tried_here() -> None:
    made = {type(action) for action in _examples(any_action(lambda letter: f"{letter}7"))}
    assert made == set(KINDS)


def _examples(strategy: st.SearchStrategy[AnyAction]) -> list[AnyAction]:
    found: list[AnyAction] = []

    @settings(max_examples=1500, database=None)
    @given(strategy)
    def collect(action: AnyAction) -> None:
        found.append(action)

    collect()
    return found


def test_a_refusal_changes_nothing_and_is_a_sentence() -> None:
    triage = triage_of(add())
    before = triage.session
    with pytest.raises(Refused, match="there is no experiment E1"):
        triage.do(StartExperiment(id="E1"))
    assert triage.session is before
    assert len(triage.entries) == 1


def test_a_failed_check_is_told_without_decoration() -> None:
    triage = triage_of(add())
    # A model built without its checks, as a careless caller might hand it in.
    sure = HALF.model_construct(value=0.9, basis=Basis.INFERENCE)
    action = SetConfidence.model_construct(id="H1", confidence=sure, reason=" ", source="person")
    with pytest.raises(Refused) as refusal:
        triage.do(action)
    assert "pydantic" not in str(refusal.value)


def test_what_can_be_undone_is_told_in_words() -> None:
    triage = triage_of(Rename(title="spike"), PutNote(id="N1", text="look"))
    assert triage.undoable == "note: look"
    assert triage.redoable == ""
    triage.undo()
    assert (triage.undoable, triage.redoable) == ("renamed to spike", "note: look")


def test_what_the_app_did_survives_undo() -> None:
    seen = ObserveChecks(marks=(CheckMark(item="logs", state=MarkState.DONE, by="app"),))
    triage = triage_of(Rename(title="spike"), run(), seen)
    triage.undo()
    assert triage.session.title == "loss rose"
    assert triage.session.marks["logs"].state is MarkState.DONE
    assert triage.session.run("R1") is not None
    assert triage.undo() is None


def test_something_new_ends_what_could_be_done_again() -> None:
    triage = triage_of(Rename(title="a"))
    triage.undo()
    triage.do(run())
    assert triage.redoable, "what the app does by itself ends nothing"
    triage.do(Rename(title="b"))
    assert triage.redo() is None


def test_ids_are_never_given_twice() -> None:
    triage = triage_of(add("H1"), add("H2"), RemoveHypothesis(id="H2"))
    assert triage.new_id("H") == "H3"
    triage.do(add("H3"))
    triage.undo()
    assert triage.new_id("H") == "H4"
    assert triage.new_id("E") == "E1"
    assert Triage(triage.session, spent=("H3",)).new_id("H") == "H4"


def test_an_entry_that_does_not_fit_is_skipped_and_told() -> None:
    entries = [
        Entry(n=1, at=AT, action=add()),
        Entry(n=2, at=AT, action=RemoveExperiment(id="E5")),
        Entry(n=3, at=AT, action=Rename(title="goes on")),
    ]
    triage = Triage(empty(), entries)
    assert triage.session.title == "goes on"
    assert triage.skipped == [
        "entry 2 (remove_experiment) has no effect: there is no experiment E5"
    ]


@pytest.mark.parametrize("kind", ["undo", "redo"])
def test_an_undo_of_nothing_known_does_no_harm(kind: str) -> None:
    odd = Entry.model_validate({"n": 2, "at": AT, "kind": kind, "of": 77})
    triage = Triage(empty(), [Entry(n=1, at=AT, action=Rename(title="a")), odd])
    assert triage.session.title == "a"
    triage.undo()
    triage.redo()
    assert triage.session.title in ("a", "loss rose")


def test_what_a_newer_program_added_to_an_entry_is_skipped() -> None:
    line = Entry(n=1, at=AT, action=Rename(title="a")).model_dump(mode="json")
    line |= {"mood": "good", "action": {**line["action"], "colour": "red"}}
    assert Entry.model_validate(line) == Entry(n=1, at=AT, action=Rename(title="a"))


def test_numbers_that_are_none_survive_the_journal() -> None:
    changes = (MetricChange(name="loss", before=math.inf, after=math.nan, change=-math.inf),)
    odd: BeforeAfter = result(Outcome.FAILED).model_copy(update={"changes": changes})
    entry = Entry(n=1, at=AT, action=RecordResult(id="E1", result=odd))
    action = Entry.model_validate_json(entry.model_dump_json()).action
    assert isinstance(action, RecordResult)
    again = action.result.changes[0]
    assert (again.before, again.change) == (math.inf, -math.inf)
    assert again.after is not None
    assert math.isnan(again.after)


def test_a_verdict_is_taken_back_with_what_it_did() -> None:
    triage = triage_of(add(), plan())
    before = triage.session
    triage.do(RecordResult(id="E1", result=result(Outcome.PASSED)))
    assert triage.session.hypotheses[0].confidence.basis is Basis.OBSERVATION
    triage.undo()
    assert triage.session == before


def test_numbers_go_on_where_the_journal_stopped() -> None:
    triage = Triage(empty(), [Entry(n=41, at=AT, action=Rename(title="a"))])
    assert triage.do(SetFact(topic=Topic.SEEDS, fact=Fact(value="1"))).n == 42


def test_a_number_that_was_given_to_a_lost_entry_is_not_given_again() -> None:
    triage = Triage(empty(), [Entry(n=1, at=AT, action=Rename(title="a"))], last=7)
    assert triage.do(Rename(title="b")).n == 8
    undone = triage.undo()
    assert undone is not None
    assert (undone.n, undone.of) == (9, 8)
