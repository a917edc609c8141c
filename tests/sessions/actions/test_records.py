"""What can be done to the session itself, its runs, circumstances, records and checklist."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import JsonValue

from mltd.sessions.actions.checks import MarkCheck, ObserveChecks, SetPhase
from mltd.sessions.actions.diagnoses import MOST_DIAGNOSES
from mltd.sessions.actions.records import (
    AddRun,
    AddTimelineEntry,
    Archive,
    Prefill,
    PutDecision,
    PutNote,
    PutPrevention,
    RecordDiagnosis,
    RemovePrevention,
    Rename,
    SetFact,
    SetOwner,
    SetRunPart,
)
from mltd.sessions.errors import Refused
from mltd.sessions.model.checklist import CheckMark, MarkState, Phase
from mltd.sessions.model.constraints import Fact, TimelineEntry, Topic
from mltd.sessions.model.records import DiagnosisRecord, Prevention
from mltd.sessions.model.run_ref import RunPart, RunRef

from .acting import AT, LATER, after, empty, run, triage_of


def test_a_title_is_one_line_and_never_empty() -> None:
    assert after(Rename(title="  loss \n rose ")).title == "loss rose"
    with pytest.raises(Refused, match="needs a title"):
        after(Rename(title=" \t"))


def test_it_is_put_away_and_brought_back() -> None:
    assert after(Archive()).is_archived
    assert not after(Archive(), Archive(is_archived=False)).is_archived


def test_somebody_answers_for_it() -> None:
    assert after(SetOwner(owner=" jane  doe ")).owner == "jane doe"
    assert SetOwner(owner="").said(empty()) == "owner: nobody"


def test_what_is_newly_known_about_a_run_replaces_what_was_known() -> None:
    moved = AddRun(run=RunRef(id="R1", location="/new/place.log", added=LATER))
    session = after(run(), run("R2"), moved)
    assert [r.location for r in session.runs] == ["/new/place.log", "/runs/R2.log"]


def test_an_answer_is_given_and_taken_back() -> None:
    fact = Fact(value="8x A100")
    session = after(SetFact(topic=Topic.HARDWARE, fact=fact))
    assert session.constraints.facts == {Topic.HARDWARE: fact}
    none = SetFact(topic=Topic.HARDWARE, fact=None)
    assert none.apply(session, AT).constraints.facts == {}
    assert none.apply(empty(), AT) == empty()


def test_what_the_app_read_never_overrules_a_person() -> None:
    told = SetFact(topic=Topic.SEEDS, fact=Fact(value="42, I am sure"))
    read = Prefill(
        facts={
            Topic.SEEDS: Fact(value="1337", source="log"),
            Topic.HARDWARE: Fact(value="V100", source="log"),
        }
    )
    facts = after(told, read).constraints.facts
    assert facts[Topic.SEEDS].value == "42, I am sure"
    assert facts[Topic.HARDWARE].is_prefilled
    assert after(read, Prefill(facts={})).constraints.facts == {}


def test_what_the_app_read_again_replaces_only_what_it_read_before() -> None:
    mine = TimelineEntry(text="I looked", step=5)
    read = TimelineEntry(text="NaN", step=3, source="log")
    newer = TimelineEntry(text="NaN for good", step=4, source="log")
    session = after(
        AddTimelineEntry(entry=mine),
        Prefill(facts={}, timeline=(read,)),
        Prefill(facts={}, timeline=(newer,)),
    )
    assert session.constraints.timeline == (newer, mine)


def test_what_a_person_tells_goes_where_it_belongs_once() -> None:
    late = TimelineEntry(text="late", at=LATER)
    early = TimelineEntry(text="early", at=AT)
    by_time = after(*(AddTimelineEntry(entry=e) for e in (late, early, late)))
    assert by_time.constraints.timeline == (early, late)
    fifth, ninth = TimelineEntry(text="5", step=5), TimelineEntry(text="9", step=9)
    lost = TimelineEntry(text="some day")
    by_step = after(*(AddTimelineEntry(entry=e) for e in (ninth, lost, fifth)))
    assert by_step.constraints.timeline == (fifth, ninth, lost)


def test_what_the_app_read_stays_in_its_order() -> None:
    read = tuple(TimelineEntry(text=f"{n}", step=n, source="log") for n in (7, 3))
    mine = TimelineEntry(text="mine", step=4)
    session = after(Prefill(facts={}, timeline=read), AddTimelineEntry(entry=mine))
    assert session.constraints.timeline == (mine, *read)


def test_notes_and_decisions_are_written_rewritten_and_removed() -> None:
    session = after(
        PutNote(id="N1", text="a"), PutNote(id="N2", text="b"), PutNote(id="N1", text="c"),
        PutDecision(id="D1", text="stop", because="costs"), PutDecision(id="D2", text="go"),
        PutDecision(id="D2", text=" "),
    )  # fmt: skip
    assert [(note.id, note.text) for note in session.notes] == [("N2", "b"), ("N1", "c")]
    assert [(one.id, one.because) for one in session.decisions] == [("D1", "costs")]
    assert PutNote(id="N2", text="").apply(session, AT).notes == session.notes[1:]


def test_prevention_is_changed_where_it_stands() -> None:
    first, second = Prevention(id="P1", text="alert"), Prevention(id="P2", text="test")
    done = first.model_copy(update={"is_done": True, "owner": "jane"})
    session = after(*(PutPrevention(prevention=p) for p in (first, second, done)))
    assert session.prevention == (done, second)
    assert RemovePrevention(id="P1").apply(session, AT).prevention == (second,)


def test_of_the_analyzers_the_newest_diagnosis_of_a_run_is_kept() -> None:
    def received(source: str, number: int, of: str = "R1") -> RecordDiagnosis:
        at = AT + timedelta(minutes=number)
        return RecordDiagnosis(diagnosis=DiagnosisRecord(at=at, source=source, run=of))

    session = after(received("analyzers", 1), received("claude", 2), received("claude", 3),
                    received("analyzers", 4, "R2"), received("analyzers", 5))  # fmt: skip
    assert [d.at.minute for d in session.diagnoses] == [2, 3, 4, 5]
    found = session.diagnosis_of("R1")
    assert found is not None
    assert found.at.minute == 5
    many = after(*(received("claude", number) for number in range(MOST_DIAGNOSES + 5)))
    assert len(many.diagnoses) == MOST_DIAGNOSES
    assert many.diagnoses[-1].at.minute == MOST_DIAGNOSES + 4


def claudes(number: int, **body: JsonValue) -> RecordDiagnosis:
    at = AT + timedelta(minutes=number)
    record = DiagnosisRecord(at=at, source="claude", run="R1", status="replied", body=body)
    return RecordDiagnosis(diagnosis=record)


def test_neither_analyzers_nor_claude_push_out_the_others_diagnoses() -> None:
    def seen(number: int) -> RecordDiagnosis:
        record = DiagnosisRecord(at=AT, source="analyzers", run=f"R{number}")
        return RecordDiagnosis(diagnosis=record)

    many = range(MOST_DIAGNOSES + 5)
    session = after(seen(1), claudes(1), *map(seen, many), *map(claudes, many), *map(seen, many))
    by = [record.is_claudes for record in session.diagnoses]
    assert by.count(True) == by.count(False) == MOST_DIAGNOSES
    assert session.diagnosis_of(f"R{MOST_DIAGNOSES + 4}") is not None


def test_a_long_talk_does_not_push_out_the_opinion_it_is_about() -> None:
    opinion = claudes(0, opinion={"causes": []})
    talk = [claudes(number, question="why?") for number in range(1, MOST_DIAGNOSES + 5)]
    session = after(opinion, *talk)
    assert len(session.diagnoses) == MOST_DIAGNOSES
    assert session.diagnoses[0] == opinion.diagnosis
    assert session.diagnoses[-1] == talk[-1].diagnosis
    opinions = [claudes(number, root_causes=[{}]) for number in range(MOST_DIAGNOSES + 5)]
    kept = after(*opinions, claudes(99)).diagnoses
    assert kept[0] == opinions[6].diagnosis
    assert kept[-1].at == AT + timedelta(minutes=99)


def test_what_claude_was_asked_for_is_undone_like_anything_a_person_did() -> None:
    own = RecordDiagnosis(diagnosis=DiagnosisRecord(at=AT, source="analyzers", run="R1"))
    opinion = DiagnosisRecord(at=AT, source="claude", run="R1", status="needs_more_data")
    triage = triage_of(PutNote(id="N1", text="a"), RecordDiagnosis(diagnosis=opinion), own)
    assert triage.undoable == "second opinion by Claude: needs_more_data"
    triage.undo()
    assert [record.source for record in triage.session.diagnoses] == ["analyzers"]
    assert triage.undoable == "note: a"
    triage.redo()
    assert [record.source for record in triage.session.diagnoses] == ["claude", "analyzers"]
    triage.do(claudes(1, question="why\nnot?"))
    assert triage.undoable == "question to Claude: why not?"
    assert triage_of(own).undoable == ""


def test_an_item_is_ticked_begun_and_opened_again() -> None:
    for state in (MarkState.DONE, MarkState.IN_PROGRESS, MarkState.OPEN):
        mark = after(MarkCheck(item="seeds", state=state)).marks["seeds"]
        assert (mark.state, mark.by, mark.at) == (state, "person", AT)
    with pytest.raises(Refused, match="the checklist has no item 'tea'"):
        after(MarkCheck(item="tea", state=MarkState.DONE))


def test_a_tick_that_is_taken_back_leaves_the_item_to_the_app_again() -> None:
    tick, untick = (MarkCheck(item="logs", state=s) for s in (MarkState.DONE, MarkState.OPEN))
    seen = ObserveChecks(marks=(CheckMark(item="logs", state=MarkState.DONE),))
    assert after(tick, untick).marks == {}
    assert after(tick, untick, seen).marks["logs"].by == "app"
    assert after(seen, untick, seen).marks["logs"].state is MarkState.OPEN


def test_a_waiver_without_a_reason_is_none() -> None:
    with pytest.raises(Refused, match="a waiver needs a reason"):
        after(MarkCheck(item="seeds", state=MarkState.WAIVED, reason=" "))
    waiver = MarkCheck(item="seeds", state=MarkState.WAIVED, reason="it fails with all of them")
    assert after(waiver).marks["seeds"].reason == "it fails with all of them"


def test_what_the_app_sees_never_overrules_a_person() -> None:
    seen = ObserveChecks(
        marks=tuple(CheckMark(item=item, state=MarkState.DONE) for item in ("logs", "seeds"))
    )
    session = after(MarkCheck(item="seeds", state=MarkState.OPEN), seen)
    assert session.marks["seeds"].state is MarkState.OPEN
    assert session.marks["logs"].by == "app"
    assert "logs" not in ObserveChecks(marks=()).apply(session, AT).marks


def test_phases_can_be_gone_to_in_any_order() -> None:
    assert after(SetPhase(phase=Phase.FIX), SetPhase(phase=Phase.INTAKE)).phase is Phase.INTAKE
    assert SetPhase(phase=Phase.FIX).said(empty()) == "phase 4: Fix and validation"


def test_a_run_becomes_the_baseline_but_not_the_only_one_of_the_incident() -> None:
    runs = (run("R1"), run("R2"))
    session = after(*runs, SetRunPart(id="R2", part=RunPart.BASELINE))
    assert [one.part for one in session.runs] == [RunPart.INCIDENT, RunPart.BASELINE]
    with pytest.raises(Refused, match="is the run that the incident is about"):
        after(run("R1"), SetRunPart(id="R1", part=RunPart.BASELINE))
    with pytest.raises(Refused, match="there is no run R9"):
        after(run("R1"), SetRunPart(id="R9", part=RunPart.BASELINE))
