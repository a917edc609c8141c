"""How verdicts move hypotheses: lifted, lowered, refuted, or as they were; always recorded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import RecordResult
from mltd.sessions.actions.hypotheses import SetConfidence
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.evidence import RefKind
from mltd.sessions.model.experiment import Purpose
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus
from mltd.sessions.model.result import CriterionResult, Outcome

from .acting import HALF, add, after, plan, result

PASS = RecordResult(id="E1", result=result(Outcome.PASSED))
FAIL = RecordResult(id="E1", result=result(Outcome.FAILED))
REFUTE = RecordResult(id="E1", result=result(Outcome.FAILED, excludes_success=True))
UNDECIDED = RecordResult(id="E1", result=result(Outcome.INCONCLUSIVE))


def judged(*actions: AnyAction, purpose: Purpose = Purpose.FIX) -> Hypothesis:
    """The hypothesis after some verdicts."""
    return after(add(), plan(purpose=purpose), *actions).hypotheses[0]


def test_a_passed_experiment_lifts_to_observation() -> None:
    hypothesis = judged(PASS)
    assert hypothesis.status is HypothesisStatus.CONFIRMED
    assert hypothesis.confidence.basis is Basis.OBSERVATION
    assert hypothesis.confidence.value == pytest.approx(0.8)
    assert [(e.kind, e.ref, e.quote) for e in hypothesis.evidence] == [
        (RefKind.EXPERIMENT, "E1", "val/loss 3.1 -> 2.2")
    ]
    assert hypothesis.history[-1].reason == "E1 passed: val/loss 3.1 -> 2.2"
    assert hypothesis.history[-1].source == "E1"


def test_a_failed_experiment_lowers() -> None:
    hypothesis = judged(FAIL)
    assert hypothesis.status is HypothesisStatus.OPEN
    assert hypothesis.confidence == Confidence(value=0.25, basis=Basis.INFERENCE)
    assert [e.ref for e in hypothesis.against] == ["E1"]
    assert hypothesis.history[-1].reason.startswith("E1 failed: ")


def test_a_cure_that_costs_too_much_says_nothing_against_the_cause() -> None:
    met = CriterionResult(criterion="loss improves", outcome=Outcome.PASSED, said="-30%")
    cost = CriterionResult(
        criterion="throughput holds", outcome=Outcome.FAILED, said="-12%", is_guard=True
    )
    dear = result(Outcome.FAILED).model_copy(update={"criteria": (met, cost)})
    hypothesis = judged(RecordResult(id="E1", result=dear))
    assert hypothesis.confidence == HALF
    assert hypothesis.against == ()
    assert hypothesis.history[-1].reason.startswith("E1 cured it at too high a price: ")


def test_one_that_rules_success_out_refutes() -> None:
    hypothesis = judged(REFUTE)
    assert hypothesis.status is HypothesisStatus.REFUTED
    assert hypothesis.confidence == Confidence(value=0.1, basis=Basis.OBSERVATION)
    assert hypothesis.history[-1].reason.startswith("E1 refuted it: ")


def test_an_inconclusive_one_is_recorded_and_moves_nothing() -> None:
    hypothesis = judged(UNDECIDED)
    assert hypothesis.confidence == HALF
    assert hypothesis.evidence == hypothesis.against == ()
    assert hypothesis.history[-1].reason.startswith("E1 was inconclusive: ")


def test_a_reproduction_shows_the_incident_not_its_cause() -> None:
    again = judged(PASS, purpose=Purpose.REPRODUCTION)
    assert again.confidence == HALF
    assert again.status is HypothesisStatus.OPEN
    assert [e.ref for e in again.evidence] == ["E1"]
    assert again.history[-1].reason.startswith("E1 reproduced it: ")
    not_again = judged(REFUTE, purpose=Purpose.REPRODUCTION)
    assert not_again.confidence == HALF
    assert not_again.against == ()
    assert not_again.history[-1].reason.startswith("E1 did not reproduce it: ")


@pytest.mark.parametrize("verdict", [PASS, FAIL, REFUTE, UNDECIDED])
def test_the_same_verdict_twice_counts_once(verdict: RecordResult) -> None:
    once, twice = judged(verdict), judged(verdict, verdict)
    assert twice.confidence == once.confidence
    assert twice.evidence == once.evidence
    assert twice.against == once.against
    assert len(twice.history) == len(once.history) + 1


@pytest.mark.parametrize("first", [PASS, FAIL, REFUTE, UNDECIDED])
@pytest.mark.parametrize("second", [PASS, FAIL, REFUTE, UNDECIDED])
def test_a_later_verdict_replaces_the_earlier_one(
    first: RecordResult, second: RecordResult
) -> None:
    both, alone = judged(first, second), judged(second)
    assert both.confidence == alone.confidence
    assert both.evidence == alone.evidence
    assert both.against == alone.against
    if second is not UNDECIDED:
        assert both.status is alone.status


def test_what_a_person_said_in_between_is_the_new_beginning() -> None:
    low = SetConfidence(
        id="H1", confidence=Confidence(value=0.2, basis=Basis.INFERENCE), reason="x"
    )
    assert judged(FAIL, low, FAIL).confidence.value == pytest.approx(0.1)


def test_verdicts_of_two_experiments_add_up() -> None:
    second = RecordResult(id="E2", result=result(Outcome.FAILED))
    hypothesis = after(add(), plan(), plan("E2"), FAIL, second).hypotheses[0]
    assert hypothesis.confidence.value == pytest.approx(0.125)
    assert [e.ref for e in hypothesis.against] == ["E1", "E2"]


@given(
    value=st.floats(0, 0.7),
    verdicts=st.lists(st.sampled_from([PASS, FAIL, REFUTE, UNDECIDED]), min_size=1, max_size=6),
)
def test_no_verdict_breaks_the_ceiling_or_goes_unrecorded(
    value: float, verdicts: list[RecordResult]
) -> None:
    first = add(confidence=Confidence(value=value, basis=Basis.INFERENCE))
    hypothesis = after(first, plan(), *verdicts).hypotheses[0]
    assert 0 <= hypothesis.confidence.value <= hypothesis.confidence.ceiling
    assert len(hypothesis.history) == 1 + len(verdicts)
    assert hypothesis.history[-1].confidence == hypothesis.confidence
