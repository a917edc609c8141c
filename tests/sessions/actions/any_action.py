"""Any action there could be, about things that mostly exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.checks import MarkCheck, ObserveChecks, SetPhase
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import (
    CancelExperiment,
    EditExperiment,
    EndRun,
    LinkRun,
    MoveExperiment,
    RecordResult,
    RemoveExperiment,
    StartExperiment,
)
from mltd.sessions.actions.hypotheses import (
    AddEvidence,
    AddHypothesis,
    EditHypothesis,
    MoveHypothesis,
    RemoveEvidence,
    RemoveHypothesis,
    SetConfidence,
    SetHypothesisStatus,
)
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
from mltd.sessions.model.checklist import CHECKS, CheckMark, MarkState, Phase
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.constraints import Fact, TimelineEntry, Topic
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import Purpose
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.records import DiagnosisRecord, Prevention
from mltd.sessions.model.result import BeforeAfter, MetricChange, Outcome
from mltd.sessions.model.run_ref import RunPart, RunRef

from .acting import AT, add, plan

KINDS: tuple[type, ...] = get_args(get_args(AnyAction)[0])
NewId = Callable[[str], str]
TEXT = st.text("ab \n<é", max_size=6)
WORDS = st.sampled_from(["lr too high", "bad batch", "LR too high", "overflow", ""])
FACTS = st.builds(Fact, value=st.just("42"), source=st.sampled_from(["person", "log", "config"]))
ENTRIES = st.builds(
    TimelineEntry,
    text=st.just("it broke"),
    at=st.none() | st.just(AT),
    step=st.none() | st.floats(allow_nan=False),
    source=st.sampled_from(["person", "log"]),
)
RESULTS = st.builds(
    BeforeAfter,
    at=st.just(AT),
    before=st.just("R1"),
    after=st.just("R2"),
    outcome=st.sampled_from(Outcome),
    summary=st.just("3.1 -> 2.2"),
    excludes_success=st.booleans(),
    is_preliminary=st.booleans(),
    changes=st.lists(
        st.builds(MetricChange, name=st.just("loss"), after=st.none() | st.floats(allow_nan=False)),
        max_size=1,
    ).map(tuple),
)
EVIDENCE = st.builds(
    EvidenceRef, kind=st.sampled_from(RefKind), ref=st.sampled_from(["a@1", "b:2"])
)
CONFIDENCE = st.builds(Confidence, value=st.floats(0, 0.7), basis=st.sampled_from(Basis))


def _id(letter: str) -> st.SearchStrategy[str]:
    return st.integers(1, 4).map(lambda number: f"{letter}{number}")


def any_action(new_id: NewId) -> st.SearchStrategy[AnyAction]:
    """Every kind of action; what is new gets an id that nothing had."""
    H, E, R = _id("H"), _id("E"), _id("R")
    items = st.sampled_from([check.id for check in CHECKS[:4]])
    marks = st.builds(CheckMark, item=items, state=st.sampled_from(MarkState), by=st.just("app"))
    plans = st.builds(lambda h, purpose: plan(new_id("E"), h, purpose), H, st.sampled_from(Purpose))
    made: tuple[st.SearchStrategy[AnyAction], ...] = (
        st.builds(lambda text: _added(new_id("H"), text), WORDS),
        st.builds(EditHypothesis, id=H, statement=WORDS),
        st.builds(RemoveHypothesis, id=H),
        st.builds(SetHypothesisStatus, id=H, status=st.sampled_from(HypothesisStatus)),
        st.builds(SetConfidence, id=H, confidence=CONFIDENCE, reason=TEXT),
        st.builds(AddEvidence, id=H, evidence=EVIDENCE, is_against=st.booleans()),
        st.builds(RemoveEvidence, id=H, ref=st.just("a@1"), is_against=st.booleans()),
        st.builds(MoveHypothesis, id=H, by=st.integers(-3, 3)),
        plans,
        st.builds(EditExperiment, experiment=st.builds(
            lambda e, change: plan(e).experiment.model_copy(update={"change": change}),
            E, st.sampled_from(["halve the learning rate", "clip"]))),
        st.builds(StartExperiment, id=E),
        st.builds(LinkRun, id=E, run=R),
        st.builds(EndRun, id=E, run=R),
        st.builds(RecordResult, id=E, result=RESULTS),
        st.builds(CancelExperiment, id=E, is_cancelled=st.booleans()),
        st.builds(RemoveExperiment, id=E),
        st.builds(MoveExperiment, id=E, by=st.integers(-3, 3)),
        st.builds(Rename, title=TEXT),
        st.builds(Archive, is_archived=st.booleans()),
        st.builds(SetOwner, owner=TEXT),
        st.builds(SetRunPart, id=R, part=st.sampled_from(RunPart)),
        st.builds(SetPhase, phase=st.sampled_from(Phase)),
        st.builds(MarkCheck, item=items, state=st.sampled_from(MarkState), reason=TEXT),
        st.builds(ObserveChecks, marks=st.lists(marks, max_size=3).map(tuple)),
        st.builds(SetFact, topic=st.sampled_from(Topic), fact=st.none() | FACTS),
        st.builds(Prefill, facts=st.dictionaries(st.sampled_from(Topic), FACTS, max_size=2),
                  timeline=st.lists(ENTRIES, max_size=2).map(tuple)),
        st.builds(AddTimelineEntry, entry=ENTRIES),
        st.builds(lambda text: PutNote(id=new_id("N"), text=text), TEXT),
        st.builds(PutNote, id=_id("N"), text=TEXT),
        st.builds(lambda text: PutDecision(id=new_id("D"), text=text), TEXT),
        st.builds(lambda: PutPrevention(prevention=Prevention(id=new_id("P"), text="alert"))),
        st.builds(RemovePrevention, id=_id("P")),
        st.builds(AddRun, run=st.builds(
            RunRef, id=st.builds(lambda: new_id("R")) | R, location=st.just("/x.log"),
            part=st.sampled_from(RunPart), added=st.just(AT))),
        st.builds(RecordDiagnosis, diagnosis=st.builds(
            DiagnosisRecord, at=st.just(AT), source=st.sampled_from(["analyzers", "claude"]),
            run=R, body=st.just({"a": [1, None, "x"]}))),
    )  # fmt: skip
    return st.one_of(*made)


def _added(id: str, statement: str) -> AddHypothesis:  # noqa: A002 - what it is
    return add(id, statement or f"{id} is to blame")
