"""What can be done to hypotheses, and what is refused."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import MoveExperiment
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
from mltd.sessions.errors import Refused
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.hypothesis import HypothesisStatus

from .acting import AT, HALF, LATER, add, after, plan

SEEN = EvidenceRef(kind=RefKind.SERIES, ref="train/loss@5", quote="9.4")
SURER = Confidence(value=0.8, basis=Basis.RESEARCH)


def test_the_history_begins_with_the_first_statement() -> None:
    action = add()
    (first,) = after(action.model_copy(update={"reason": "the loss rose"})).hypotheses[0].history
    assert (first.at, first.confidence, first.reason, first.source) == (
        AT, HALF, "the loss rose", "person",
    )  # fmt: skip
    assert after(action).hypotheses[0].history[0].reason == "as first stated"


def test_the_same_statement_is_one_hypothesis() -> None:
    with pytest.raises(Refused, match="that is H1 already: LR too high"):
        after(add("H1", "LR too high"), add("H2", "  lr   TOO high "))
    with pytest.raises(Refused, match="there is a hypothesis H1 already"):
        after(add("H1"), add("H1", "another"))


def test_it_can_be_said_better() -> None:
    edited = after(add(), EditHypothesis(id="H1", statement="bad batch", cause="bad_data"))
    assert edited.hypotheses[0].statement == "bad batch"
    assert edited.hypotheses[0].cause == "bad_data"
    with pytest.raises(Refused, match="needs a statement"):
        after(add(), EditHypothesis(id="H1", statement="  "))


def test_it_cannot_be_said_like_another() -> None:
    with pytest.raises(Refused, match="that is H1 already"):
        after(add("H1", "LR too high"), add("H2"), EditHypothesis(id="H2", statement="lr too high"))
    same = after(add("H1", "LR too high"), EditHypothesis(id="H1", statement="lr too high"))
    assert same.hypotheses[0].statement == "lr too high"


def test_none_begins_confirmed_without_evidence() -> None:
    sure = add().hypothesis.model_copy(update={"status": HypothesisStatus.CONFIRMED})
    with pytest.raises(Refused, match="no evidence"):
        after(AddHypothesis(hypothesis=sure))


def test_it_goes_with_its_experiments() -> None:
    session = after(add(), add("H2"), plan(), plan("E2", "H2"), RemoveHypothesis(id="H1"))
    assert [h.id for h in session.hypotheses] == ["H2"]
    assert [e.id for e in session.experiments] == ["E2"]


def test_a_change_of_confidence_is_recorded_with_its_reason() -> None:
    change = SetConfidence(id="H1", confidence=SURER, reason="documented in the manual")
    session = change.apply(after(add()), LATER)
    hypothesis = session.hypotheses[0]
    assert hypothesis.confidence == SURER
    assert [step.reason for step in hypothesis.history] == [
        "as first stated", "documented in the manual",
    ]  # fmt: skip
    assert hypothesis.history[-1].at == LATER
    with pytest.raises(Refused, match="needs a reason"):
        after(add(), SetConfidence(id="H1", confidence=SURER, reason=" "))


def test_nothing_is_confirmed_without_evidence() -> None:
    confirm = SetHypothesisStatus(id="H1", status=HypothesisStatus.CONFIRMED, reason="seen")
    with pytest.raises(Refused, match="not confirmed without"):
        after(add(), confirm)
    put = AddEvidence(id="H1", evidence=SEEN)
    with pytest.raises(Refused, match="H1 rests on inference, and only what was seen"):
        after(add(), put, confirm)
    seen = SetConfidence(
        id="H1", confidence=Confidence(value=0.9, basis=Basis.OBSERVATION), reason="it is there"
    )
    session = after(add(), put, seen, confirm)
    assert session.hypotheses[0].status is HypothesisStatus.CONFIRMED
    assert session.hypotheses[0].history[-1].reason == "confirmed: seen"


@pytest.mark.parametrize(
    "status", [HypothesisStatus.PARKED, HypothesisStatus.REFUTED, HypothesisStatus.TESTING]
)
def test_every_other_status_can_be_set(status: HypothesisStatus) -> None:
    hypothesis = after(add(), SetHypothesisStatus(id="H1", status=status)).hypotheses[0]
    assert hypothesis.status is status
    assert hypothesis.history[-1].reason == status.value
    assert hypothesis.history[-1].confidence == HALF


@pytest.mark.parametrize(("is_against", "side"), [(False, "evidence"), (True, "against")])
def test_evidence_is_added_once_and_taken_back(is_against: bool, side: str) -> None:
    put = AddEvidence(id="H1", evidence=SEEN, is_against=is_against)
    assert getattr(after(add(), put).hypotheses[0], side) == (SEEN,)
    with pytest.raises(Refused, match=r"has this evidence already: train/loss@5"):
        after(add(), put, put)
    back = RemoveEvidence(id="H1", ref=SEEN.ref, is_against=is_against)
    assert getattr(after(add(), put, back).hypotheses[0], side) == ()


@pytest.mark.parametrize(
    ("id", "by", "order"),
    [("H1", 1, "H2 H1 H3"), ("H1", 99, "H2 H3 H1"), ("H3", -1, "H1 H3 H2"), ("H2", -9, "H2 H1 H3")],
)  # fmt: skip
def test_it_is_moved_as_far_as_it_goes(id: str, by: int, order: str) -> None:  # noqa: A002 - what it is
    session = after(add("H1"), add("H2"), add("H3"), MoveHypothesis(id=id, by=by))
    assert " ".join(h.id for h in session.hypotheses) == order


def test_what_is_at_the_end_already_is_not_moved() -> None:
    with pytest.raises(Refused, match="it is the last one already"):
        after(add(), add("H2"), MoveHypothesis(id="H2", by=1))
    with pytest.raises(Refused, match="it is the first one already"):
        after(add(), plan(), MoveExperiment(id="E1", by=-1))


@pytest.mark.parametrize(
    "action",
    [
        EditHypothesis(id="H9", statement="x"),
        RemoveHypothesis(id="H9"),
        SetHypothesisStatus(id="H9", status=HypothesisStatus.OPEN),
        SetConfidence(id="H9", confidence=HALF, reason="x"),
        AddEvidence(id="H9", evidence=SEEN),
        RemoveEvidence(id="H9", ref="x"),
        MoveHypothesis(id="H9", by=1),
        plan("E1", "H9"),
    ],
    ids=lambda action: action.op,
)
def test_what_is_not_there_cannot_be_acted_upon(action: AnyAction) -> None:
    with pytest.raises(Refused, match="there is no hypothesis H9"):
        after(add(), action)
