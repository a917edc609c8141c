"""Every key of the checklist, for every kind of row: an action, a form, or a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.actions.hypotheses import AddEvidence, SetConfidence
from mltd.sessions.model.checklist import CHECKS, CheckMark, MarkState, Phase
from mltd.sessions.model.constraints import Topic
from mltd.sessions.model.experiment import Purpose, Variable
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.session import Session
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import Triage
from mltd.tui.checklist.bindings import BINDINGS
from mltd.tui.desk.desk import Desk
from mltd.tui.desk.hand import Hand
from mltd.tui.forms.form import problems_of
from tests.tui.desk.room import Room
from tests.tui.triages import E1, H1, TRIAGE, log


def at_work(tmp_path: Path, session: Session = TRIAGE) -> tuple[Room, Hand]:
    """A hand over a session that is only a draft: nothing needs the disk."""
    desk = Desk(SessionStore(tmp_path / "sessions"))
    desk._draft = Triage(session)
    desk._create = lambda: None  # type: ignore[method-assign]
    room = Room(desk)
    return room, Hand(room, desk)


def done(tmp_path: Path, verb: str, kind: str, row: str, amount: int = 0) -> list[str]:
    room, hand = at_work(tmp_path)
    hand.carry_out(verb, kind, row, amount)
    return room.said


TABLE = [
    # Phases and items.
    ("advance", "phase", "fix", 0, ["set_phase"]),
    ("advance", "check", "seeds", 0, ["mark_check"]),
    ("waive", "check", "seeds", 0, ["form: Waive: Seeds known"]),
    ("waive", "check", "no_regression", 0, ["mark_check"]),
    ("edit", "check", "seeds", 0, ["form: Seeds"]),
    ("edit", "check", "hardware", 0, ["form: Hardware"]),
    ("edit", "check", "revision", 0, ["form: Code revision"]),
    ("edit", "check", "baseline", 0, ["form: Metric targets"]),
    ("edit", "check", "hypotheses", 0, ["form: New hypothesis H6"]),
    ("edit", "check", "monitors", 0, ["form: Prevention"]),
    ("edit", "check", "reproduced", 0, ["form: Plan E7, a test of H3"]),
    ("edit", "check", "isolate_model", 0, ["form: Plan E7, a test of H3"]),
    ("edit", "check", "logs", 0, ["complaint: space ticks it off, w waives it with a reason"]),
    # Circumstances.
    ("answer", "fact", "seeds", 0, ["form: Seeds"]),
    ("answer", "fact", "", 0, ["form: Data provenance"]),
    ("edit", "fact", "hardware", 0, ["form: Hardware"]),
    ("advance", "fact", "hardware", 0, ["set_fact"]),
    ("advance", "fact", "seeds", 0, ["form: Seeds"]),
    ("advance", "fact", "targets", 0, ["form: Metric targets"]),
    ("remove", "fact", "hardware", 0, ["set_fact"]),
    # Hypotheses.
    ("add_hypothesis", "session", "", 0, ["form: New hypothesis H6"]),
    ("add_hypothesis", "experiment", "E1", 0, ["form: New hypothesis H6"]),
    ("edit", "hypothesis", "H1", 0, ["form: Reword H1"]),
    ("advance", "hypothesis", "H5", 0, ["set_hypothesis_status"]),
    ("advance", "hypothesis", "H3", 0, ["form: Decide H3"]),
    ("advance", "hypothesis", "H1", 0, ["form: Decide H1"]),
    ("advance", "hypothesis", "H2", 0, ["form: Decide H2"]),
    ("advance", "hypothesis", "H4", 0, ["set_hypothesis_status"]),
    ("waive", "hypothesis", "H5", 0, ["form: H5 is parked"]),
    ("waive", "hypothesis", "H4", 0, ["set_hypothesis_status"]),
    ("confidence", "hypothesis", "H3", 1, ["form: How sure is H3?"]),
    ("confidence", "experiment", "E3", -1, ["form: How sure is H3?"]),
    ("add_evidence", "hypothesis", "H3", 0, ["form: Evidence on H3"]),
    ("add_evidence", "experiment", "E3", 0, ["form: Evidence on H3"]),
    ("move", "hypothesis", "H1", 1, ["move_hypothesis"]),
    ("remove", "hypothesis", "H5", 0,
     ["confirm: Remove H5? It is taken off the list; u brings it back."]),
    # Experiments.
    ("plan", "hypothesis", "H1", 0, ["form: Plan E7, a test of H1"]),
    ("plan", "experiment", "E3", 0, ["form: Plan E7, a test of H3"]),
    ("edit", "experiment", "E4", 0, ["form: Change E4, a test of H3"]),
    ("advance", "experiment", "E4", 0, ["start_experiment"]),
    ("advance", "experiment", "E3", 0, ["verdict of E3"]),
    ("waive", "experiment", "E3", 0, ["cancel_experiment"]),
    ("waive", "experiment", "E5", 0, ["cancel_experiment"]),
    ("link_run", "experiment", "E4", 0, ["pick a run for E4"]),
    ("verdict", "experiment", "E1", 0, ["verdict of E1"]),
    ("end_run", "experiment", "E3", 0, ["end_run"]),
    ("move", "experiment", "E3", 1, ["move_experiment"]),
    ("remove", "experiment", "E4", 0,
     ["confirm: Remove E4? What it did to its hypothesis stays in the history; u brings it back."]),
    # Records.
    ("note", "hypothesis", "H1", 0, ["form: Note"]),
    ("edit", "note", "N1", 0, ["form: Note N1"]),
    ("remove", "note", "N1", 0, ["put_note", "at N1"]),
    ("decision", "session", "", 0, ["form: Decision"]),
    ("edit", "decision", "D1", 0, ["form: Decision D1"]),
    ("remove", "decision", "D1", 0, ["put_decision", "at D1"]),
    ("prevention", "phase", "handoff", 0, ["form: Prevention"]),
    ("edit", "prevention", "P1", 0, ["form: Prevention P1"]),
    ("advance", "prevention", "P1", 0, ["put_prevention", "at P1"]),
    ("remove", "prevention", "P1", 0, ["remove_prevention"]),
    # The session.
    ("rename", "session", "", 0, ["form: Rename the session"]),
    ("timeline", "session", "", 0, ["form: Timeline"]),
    ("baseline", "session", "", 0, ["pick a baseline"]),
    ("owner", "session", "", 0, ["form: Owner"]),
    # What makes no sense there.
    ("verdict", "hypothesis", "H1", 0, ["complaint: there is nothing to verdict here"]),
    ("link_run", "check", "seeds", 0, ["complaint: there is nothing to link run here"]),
    ("move", "check", "seeds", 1, ["complaint: there is nothing to move here"]),
    ("remove", "phase", "fix", 0, ["complaint: there is nothing to remove here"]),
    ("waive", "note", "N1", 0, ["complaint: there is nothing to waive here"]),
    ("advance", "decision", "D1", 0, ["complaint: there is nothing to advance here"]),
    ("edit", "phase", "fix", 0, ["complaint: there is nothing to edit here"]),
    ("plan", "check", "seeds", 0,
     ["complaint: point at a hypothesis to plan an experiment for it"]),
    ("confidence", "fact", "seeds", 1,
     ["complaint: point at a hypothesis to be surer of it, or less sure"]),
    ("add_evidence", "note", "N1", 0,
     ["complaint: point at a hypothesis to add evidence to it"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "kind", "row", "amount", "said"), TABLE, ids=[f"{v} {k} {r}" for v, k, r, *_ in TABLE]
)
def test_what_a_key_means(
    tmp_path: Path, verb: str, kind: str, row: str, amount: int, said: list[str]
) -> None:
    assert done(tmp_path, verb, kind, row, amount) == said


def test_no_key_is_left_out_and_none_breaks_on_any_row(tmp_path: Path) -> None:
    commands = {str(key.id).partition(".")[2] for key in BINDINGS if key.action.startswith("wish")}
    one_verb = {"surer": "confidence", "less_sure": "confidence", "move_down": "move"}
    elsewhere = {"save_elsewhere", "take_over", "move_up"}
    verbs = {one_verb.get(name, name) for name in commands - elsewhere}
    assert verbs - {"undo", "redo"} <= {verb for verb, *_ in TABLE}
    rows = {
        "phase": "fix", "check": "seeds", "fact": "hardware", "hypothesis": "H3",
        "experiment": "E3", "note": "N1", "decision": "D1", "prevention": "P1", "session": "s",
    }  # fmt: skip
    for verb in verbs | {"edit"}:
        for kind, row in rows.items():
            said = done(tmp_path, verb, kind, row, 1)
            assert said or verb in ("undo", "redo"), (verb, kind)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_every_item_can_be_edited_or_says_what_to_do(tmp_path: Path, check: Any) -> None:
    (said,) = done(tmp_path, "edit", "check", check.id)
    assert said.startswith(("form:", "complaint: space ticks it off"))


# -- what comes out of it ----------------------------------------------------------------------


def test_a_tick_is_set_and_taken_back(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    for state in (MarkState.DONE, MarkState.OPEN):
        hand.carry_out("advance", "check", "seeds")
        mark = room.desk.session.marks.get("seeds", CheckMark(item="seeds", state=MarkState.OPEN))
        assert mark.state is state
    hand.carry_out("waive", "check", "no_regression")
    reopened = room.desk.session.marks.get("no_regression")
    assert reopened is None or reopened.state is MarkState.OPEN
    hand.carry_out("advance", "phase", "handoff")
    assert room.desk.session.phase is Phase.HANDOFF


def test_a_fact_that_was_read_is_confirmed_and_not_given_back(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("advance", "fact", "hardware")
    fact = room.desk.session.constraints.facts[Topic.HARDWARE]
    assert (fact.value, fact.source) == ("8x A100 80GB on gpu-17", "person")
    hand.carry_out("advance", "fact", "hardware")
    assert room.said[-1] == "form: Hardware"
    assert room.desk.session.constraints.facts[Topic.HARDWARE].source == "person"


def test_a_hypothesis_of_ones_own_is_about_the_run_of_the_incident(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("add_hypothesis", "session", "")
    room.fill_in(statement="the moon is full")
    (new,) = [one for one in room.desk.session.hypotheses if one.id == "H6"]
    assert (new.statement, new.run) == ("the moon is full", "R1")
    assert room.said[-2:] == ["add_hypothesis", "at H6"]


def test_being_surer_moves_by_one_step_within_the_ceiling_and_needs_a_reason(
    tmp_path: Path,
) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("confidence", "hypothesis", "H3", 1)
    assert room.form is not None
    values = {field.key: field.first_value for field in room.form.fields}
    assert values["confidence"] == "0.50"
    assert problems_of(room.form, values, room.attempt).keys() == {"reason"}
    room.fill_in(reason="two more logs say so")
    hypothesis = room.desk.session.hypothesis("H3")
    assert hypothesis is not None
    assert hypothesis.confidence.value == pytest.approx(0.5)
    assert hypothesis.history[-1].reason == "two more logs say so"
    hand.carry_out("confidence", "hypothesis", "H1", 1)
    assert room.form is not None
    action = room.form.read({"confidence": "0.95", "basis": "observation", "reason": "so"})
    assert isinstance(action, SetConfidence)


def test_a_plan_is_the_first_fix_that_was_not_tried(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("plan", "hypothesis", "H1")
    assert room.asked_for == [H1.run]
    room.fill_in()
    first = room.desk.session.experiments[-1]
    assert (first.id, first.change, first.command) == (
        "E7", H1.fixes[0].change, H1.fixes[0].example,
    )  # fmt: skip
    assert [one.metric for one in first.guards] == ["throughput"]
    assert room.said[-1] == "at E7"
    hand.carry_out("plan", "experiment", "E1")
    room.fill_in()
    assert room.desk.session.experiments[-1].change == H1.fixes[1].change
    hand.carry_out("plan", "hypothesis", "H1")
    assert room.form is not None
    values = {field.key: field.first_value for field in room.form.fields}
    assert values["change"] == ""
    assert "change" in problems_of(room.form, values, room.attempt)


@pytest.mark.parametrize(
    ("item", "variable", "purpose"),
    [
        ("isolate_data", Variable.DATA, Purpose.FIX),
        ("isolate_model", Variable.MODEL, Purpose.FIX),
        ("isolate_optimiser", Variable.OPTIMISER, Purpose.FIX),
        ("reproduced", Variable.DATA, Purpose.REPRODUCTION),
    ],
)
def test_an_item_that_asks_for_an_experiment_plans_it(
    tmp_path: Path, item: str, variable: Variable, purpose: Purpose
) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("edit", "check", item)
    room.fill_in(change="half of it")
    new = room.desk.session.experiments[-1]
    assert (new.hypothesis, new.variable, new.purpose) == ("H3", variable, purpose)


def test_an_item_that_asks_for_an_experiment_needs_a_hypothesis(tmp_path: Path) -> None:
    decided = [
        one.model_copy(update={"status": HypothesisStatus.REFUTED}) for one in TRIAGE.hypotheses
    ]
    session = TRIAGE.model_copy(update={"hypotheses": tuple(decided)})
    room, hand = at_work(tmp_path, session)
    hand.carry_out("edit", "check", "isolate_data")
    assert room.said == ["complaint: there is no open hypothesis to test: a adds one"]


def test_an_experiment_goes_from_its_start_over_its_run_to_its_verdict(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    for _ in range(2):
        hand.carry_out("advance", "experiment", "E4")
    assert room.said == ["start_experiment", "pick a run for E4"]
    hand.carry_out("waive", "experiment", "E5")
    found = room.desk.session.experiment("E5")
    assert found is not None
    assert found.status.value == "planned"


def test_evidence_is_added_to_the_hypothesis_and_taken_back(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("add_evidence", "experiment", "E3")
    assert room.form is not None
    runs = next(field for field in room.form.fields if field.key == "run")
    assert [value for value, _ in runs.choices] == ["R1", "R2", "R3", "R4", "R5"]
    action = room.form.read({"side": "against", "kind": "log", "ref": "a.log:3", "run": "R2"})
    assert isinstance(action, AddEvidence)
    assert (action.id, action.is_against, action.evidence.run) == ("H3", True, "R2")
    against = log("train.err:812", "loss scale 1.0: the scaler had collapsed already")
    hand.carry_out("remove", "evidence", "H1", -1, against)
    assert room.said[-1] == "remove_evidence"
    hypothesis = room.desk.session.hypothesis("H1")
    assert hypothesis is not None
    assert hypothesis.against == ()
    assert len(hypothesis.evidence) == len(H1.evidence)


def test_what_is_removed_is_asked_for_first_with_what_goes_with_it(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("remove", "hypothesis", "H1")
    assert "and its 2 experiments" in room.said[0]
    assert room.desk.session.hypothesis("H1") is not None
    assert room.agree is not None
    room.agree()
    assert room.desk.session.hypothesis("H1") is None
    hand.carry_out("undo", "session", "")
    assert room.said[-1] == "undo"
    assert room.desk.session.hypothesis("H1") is not None
    assert room.desk.session.experiment("E1") == E1
    hand.carry_out("redo", "session", "")
    assert room.desk.session.hypothesis("H1") is None


def test_the_rules_are_asked_while_the_form_is_still_open(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("add_hypothesis", "session", "")
    assert room.form is not None
    values = {field.key: field.first_value for field in room.form.fields}
    values["statement"] = H1.statement
    (problem,) = problems_of(room.form, values, room.attempt).values()
    assert problem.startswith("that is H1 already")


def test_what_the_rules_do_not_allow_leaves_the_cursor_alone(tmp_path: Path) -> None:
    done_once = done(tmp_path, "waive", "experiment", "E1")
    assert [said.partition(":")[0] for said in done_once] == ["refused"]


def test_records_are_written_and_kept_in_place(tmp_path: Path) -> None:
    room, hand = at_work(tmp_path)
    hand.carry_out("prevention", "session", "")
    room.fill_in(text="watch it")
    new = room.desk.session.prevention[-1]
    assert (new.id, new.owner) == ("P4", "ada")
    hand.carry_out("advance", "prevention", "P4")
    assert room.desk.session.prevention[-1].is_done
    hand.carry_out("edit", "note", "N1")
    room.fill_in(text="otherwise")
    assert [note.text for note in room.desk.session.notes] == ["otherwise"]
    hand.carry_out("owner", "session", "")
    room.fill_in(owner="lin")
    assert room.desk.session.owner == "lin"
    for verb in ("note", "decision"):
        hand.carry_out(verb, "session", "")
        room.fill_in(text="so be it")
    assert [one.id for one in room.desk.session.notes] == ["N1", "N2"]
    assert [one.id for one in room.desk.session.decisions] == ["D1", "D2"]
