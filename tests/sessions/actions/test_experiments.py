"""What can be done to experiments; what decides them is fixed before they start."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import (
    CancelExperiment,
    EditExperiment,
    EndRun,
    LinkRun,
    MoveExperiment,
    PlanExperiment,
    RecordResult,
    RemoveExperiment,
    StartExperiment,
)
from mltd.sessions.errors import Refused
from mltd.sessions.model.criterion import parse_criterion
from mltd.sessions.model.experiment import Experiment, ExperimentStatus, Purpose
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.result import Outcome
from mltd.sessions.model.run_ref import RunPart
from mltd.sessions.model.session import Session

from .acting import AT, LATER, add, after, plan, result, run

RUNS = (run(), run("R2", RunPart.EXPERIMENT), run("R3", RunPart.EXPERIMENT))
PLANNED = (*RUNS, add(), plan())
START = StartExperiment(id="E1")
PASSED = RecordResult(id="E1", result=result(Outcome.PASSED))
SO_FAR = RecordResult(
    id="E1", result=result(Outcome.PASSED).model_copy(update={"is_preliminary": True})
)
INCONCLUSIVE = RecordResult(id="E1", result=result(Outcome.INCONCLUSIVE))


def the_one(session: Session) -> Experiment:
    """Its only experiment."""
    (experiment,) = session.experiments
    return experiment


def edited(**values: Any) -> EditExperiment:
    """The planned experiment, changed."""
    return EditExperiment(experiment=plan().experiment.model_copy(update=values))


def test_an_id_is_planned_once() -> None:
    with pytest.raises(Refused, match="there is an experiment E1 already"):
        after(*PLANNED, plan())


def test_a_start_is_recorded_and_its_hypothesis_is_being_tested() -> None:
    session = after(*PLANNED, START)
    assert the_one(session).status is ExperimentStatus.RUNNING
    assert the_one(session).started == AT
    assert session.hypotheses[0].status is HypothesisStatus.TESTING


def test_before_the_start_everything_can_be_changed() -> None:
    new = (parse_criterion("val/loss is below 2"),)
    session = after(*PLANNED, edited(change="clip", success=new, guards=new, failure=new))
    assert the_one(session).change == "clip"
    assert the_one(session).success == new


@pytest.mark.parametrize(
    "values",
    [
        {"change": "another"},
        {"success": ()},
        {"failure": (parse_criterion("loss above 9"),)},
        {"guards": (parse_criterion("acc holds"),)},
        {"baseline": "R3"},
        {"purpose": Purpose.REPRODUCTION},
    ],
    ids=lambda values: next(iter(values)),
)
@pytest.mark.parametrize("so_far", [(START,), (LinkRun(id="E1", run="R2"),), (START, INCONCLUSIVE)])
def test_after_the_start_what_decides_stays(
    values: dict[str, Any], so_far: tuple[AnyAction, ...]
) -> None:
    with pytest.raises(Refused, match="has started: its change and its criteria stay") as refusal:
        after(*PLANNED, *so_far, edited(**values))
    assert refusal.value.hint == "plan another experiment"


def test_after_the_start_what_only_explains_can_be_changed() -> None:
    action = edited(command="python train.py", rollback="revert", status=ExperimentStatus.PASSED)
    experiment = the_one(after(*PLANNED, START, action))
    assert (experiment.command, experiment.rollback) == ("python train.py", "revert")
    assert experiment.status is ExperimentStatus.RUNNING
    assert experiment.started == AT


def test_linking_a_run_starts_the_experiment() -> None:
    session = after(*PLANNED, LinkRun(id="E1", run="R2"))
    assert the_one(session).run == "R2"
    assert the_one(session).status is ExperimentStatus.RUNNING
    assert session.hypotheses[0].status is HypothesisStatus.TESTING


def test_the_run_before_the_change_is_not_the_one_after_it() -> None:
    with pytest.raises(Refused, match=r"R1\.log is the run before the change"):
        after(*PLANNED, LinkRun(id="E1", run="R1"))
    with pytest.raises(Refused, match="there is no run R9"):
        after(*PLANNED, LinkRun(id="E1", run="R9"))


def test_another_run_asks_for_another_verdict() -> None:
    link = LinkRun(id="E1", run="R2")
    judged = after(*PLANNED, link, PASSED)
    assert the_one(judged).ended == AT
    again = the_one(link.apply(judged, LATER))
    assert (again.status, again.result) == (ExperimentStatus.PASSED, PASSED.result)
    other = the_one(LinkRun(id="E1", run="R3").apply(judged, LATER))
    assert (other.status, other.result, other.ended) == (ExperimentStatus.RUNNING, None, None)
    assert other.started == AT


def test_what_is_over_is_not_started_again() -> None:
    with pytest.raises(Refused, match="E1 is over: it passed"):
        after(*PLANNED, START, PASSED, START)
    with pytest.raises(Refused, match="E1 is over: it was cancelled"):
        after(*PLANNED, CancelExperiment(id="E1"), START)


def test_what_was_inconclusive_can_go_on() -> None:
    experiment = the_one(after(*PLANNED, START, INCONCLUSIVE, START))
    assert experiment.status is ExperimentStatus.RUNNING
    assert experiment.ended is None


def test_it_is_given_up_and_taken_up_again() -> None:
    cancel, resume = CancelExperiment(id="E1"), CancelExperiment(id="E1", is_cancelled=False)
    assert the_one(after(*PLANNED, cancel)).status is ExperimentStatus.CANCELLED
    assert the_one(after(*PLANNED, cancel, resume)).status is ExperimentStatus.PLANNED
    assert the_one(after(*PLANNED, START, cancel, resume)).status is ExperimentStatus.RUNNING
    with pytest.raises(Refused, match="it passed"):
        after(*PLANNED, PASSED, cancel)
    assert the_one(after(*PLANNED, INCONCLUSIVE, cancel)).status is ExperimentStatus.CANCELLED


def test_removing_it_leaves_what_it_taught() -> None:
    session = after(*PLANNED, PASSED, RemoveExperiment(id="E1"))
    assert session.experiments == ()
    assert session.hypotheses[0].history[-1].source == "E1"


def test_it_is_moved_among_those_of_its_hypothesis() -> None:
    made = (add(), add("H2"), plan("E1"), plan("E2", "H2"), plan("E3"), plan("E4"))
    session = after(*made, MoveExperiment(id="E4", by=-1))
    assert [e.id for e in session.experiments_of("H1")] == ["E1", "E4", "E3"]
    assert [e.id for e in session.experiments_of("H2")] == ["E2"]
    session = after(*made, MoveExperiment(id="E1", by=50))
    assert [e.id for e in session.experiments_of("H1")] == ["E3", "E4", "E1"]


@pytest.mark.parametrize(
    "action",
    [
        EditExperiment(experiment=plan("E9").experiment),
        StartExperiment(id="E9"),
        LinkRun(id="E9", run="R2"),
        RecordResult(id="E9", result=result(Outcome.PASSED)),
        CancelExperiment(id="E9"),
        RemoveExperiment(id="E9"),
        MoveExperiment(id="E9", by=1),
    ],
    ids=lambda action: action.op,
)
def test_what_is_not_there_cannot_be_acted_upon(action: AnyAction) -> None:
    with pytest.raises(Refused, match="there is no experiment E9"):
        after(*PLANNED, action)


def test_a_plan_is_only_a_plan() -> None:
    done = plan().experiment.model_copy(
        update={"status": ExperimentStatus.PASSED, "result": result(Outcome.PASSED), "run": "R9"}
    )
    (planned,) = after(add(), PlanExperiment(experiment=done)).experiments
    assert (planned.status, planned.result, planned.run) == (ExperimentStatus.PLANNED, None, "")


# -- verdicts on runs that go on -----------------------------------------------------------------


@pytest.mark.parametrize("outcome", Outcome)
def test_a_preliminary_verdict_moves_no_hypothesis(outcome: Outcome) -> None:
    linked = (*PLANNED, LinkRun(id="E1", run="R2"))
    early = result(outcome, excludes_success=True).model_copy(update={"is_preliminary": True})
    before, session = after(*linked), after(*linked, RecordResult(id="E1", result=early))
    assert session.hypotheses == before.hypotheses
    assert the_one(session).status is ExperimentStatus.RUNNING
    assert the_one(session).result == early
    assert the_one(session).ended is None


def test_the_final_verdict_moves_it_after_a_preliminary_one() -> None:
    linked = (*PLANNED, LinkRun(id="E1", run="R2"))
    early, late = after(*linked, SO_FAR, PASSED), after(*linked, PASSED)
    assert early.hypotheses == late.hypotheses
    assert early.hypotheses[0].status is HypothesisStatus.CONFIRMED


def test_an_experiment_with_a_preliminary_verdict_can_be_cancelled() -> None:
    session = after(*PLANNED, LinkRun(id="E1", run="R2"), SO_FAR, CancelExperiment(id="E1"))
    assert the_one(session).status is ExperimentStatus.CANCELLED


def test_a_person_says_that_a_run_is_over() -> None:
    session = after(*PLANNED, LinkRun(id="E1", run="R2"), EndRun(id="E1", run="R2"))
    assert the_one(session).is_run_over
    assert the_one(session).status is ExperimentStatus.RUNNING
    assert the_one(after(*PLANNED, LinkRun(id="E1", run="R2"), edited())).is_run_over is False
    kept = edited(rollback="revert").apply(session, LATER)
    assert the_one(kept).is_run_over
    other = LinkRun(id="E1", run="R3").apply(session, LATER)
    assert not the_one(other).is_run_over


@pytest.mark.parametrize(
    ("so_far", "run", "why"),
    [
        ((), "R2", "E1 has no run yet"),
        ((LinkRun(id="E1", run="R3"),), "R2", "E1 is linked with R3, not with R2"),
        ((LinkRun(id="E1", run="R2"), PASSED), "R2", "E1 is over: it passed"),
        ((LinkRun(id="E1", run="R2"), EndRun(id="E1", run="R2")), "R2", "marked as over already"),
    ],
)
def test_only_the_open_run_of_an_experiment_can_be_ended(
    so_far: tuple[AnyAction, ...], run: str, why: str
) -> None:
    with pytest.raises(Refused, match=why):
        after(*PLANNED, *so_far, EndRun(id="E1", run=run))


def test_what_an_older_version_recorded_too_early_loads_and_confirms_nothing() -> None:
    action = TypeAdapter(AnyAction).validate_python(
        {
            "op": "record_result",
            "id": "E1",
            "result": {
                "at": "2026-03-01T12:00:00Z",
                "before": "R1",
                "after": "R2",
                "outcome": "passed",
                "summary": "val/loss 3.1 -> 2.2 (the run goes on)",
                "is_preliminary": True,
            },
        }
    )
    session = after(*PLANNED, LinkRun(id="E1", run="R2"), action)
    assert session.hypotheses[0].status is HypothesisStatus.TESTING
    assert the_one(session).status is ExperimentStatus.RUNNING
    assert the_one(session).is_run_over is False
