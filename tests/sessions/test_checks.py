"""The app ticks what it can see, says on what evidence, and what is missing otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given

from mltd.sessions.actions.checks import MarkCheck, ObserveChecks
from mltd.sessions.checks import is_news, missing, observed, phase_of, progress, suggest
from mltd.sessions.facts.gathered import NO_TARGET, Seen, SeenLog, SeenMetric
from mltd.sessions.model.checklist import CHECKS, CheckMark, MarkState, Phase
from mltd.sessions.model.constraints import Constraints, Fact, Topic
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import ExperimentStatus, Purpose, Variable
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.records import Prevention, PreventionKind
from mltd.sessions.model.result import MetricChange, Outcome
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.model.session import Session

from .made_sessions import (
    AT,
    BELOW,
    SEEN,
    SESSIONS,
    a_guard,
    a_hypothesis,
    a_result,
    a_session,
    an_experiment,
    some_seen,
)

IDS = [check.id for check in CHECKS]
PASSED = ExperimentStatus.PASSED


def ticked(session: Session, seen: Seen | None = None) -> dict[str, CheckMark]:
    return {mark.item: mark for mark in observed(session, seen, AT)}


def with_fact(topic: Topic, value: str, source: str = "log") -> Session:
    evidence = (EvidenceRef(kind=RefKind.LOG, ref="train.out:3", quote=value),)
    fact = Fact(value=value, source=source, evidence=evidence if source != "person" else ())
    return a_session(constraints=Constraints(facts={topic: fact}))


def all_done(state: MarkState = MarkState.DONE) -> dict[str, CheckMark]:
    return {item: CheckMark(item=item, state=state, reason="x") for item in IDS}


# -- intake -------------------------------------------------------------------------------


def test_logs_metrics_and_configs_are_ticked_with_their_numbers() -> None:
    marks = ticked(a_session(), some_seen())
    assert marks["logs"].reason == "1 log, 1,234 lines: train.out"
    assert marks["logs"].evidence[0].ref == "train.out:1"
    assert marks["metrics"].reason == "3 metrics, 210 points: loss, val_loss, gnorm"
    assert marks["metrics"].evidence[0].kind is RefKind.SERIES
    assert marks["configs"].reason == "12 settings from config.yaml"
    assert {mark.by for mark in marks.values()} == {"app"}
    assert {mark.state for mark in marks.values()} == {MarkState.DONE}


def test_a_run_without_artifacts_says_what_to_add() -> None:
    seen = Seen(logs=(SeenLog(name="metrics.csv", format="csv", lines=9),), settings=1)
    assert not {"logs", "metrics", "configs"} & set(ticked(a_session(), seen))
    assert "only metrics were opened (metrics.csv)" in missing("logs", a_session(), seen)
    assert "no metric was found" in missing("metrics", a_session(), seen)
    assert "only 1 setting" in missing("configs", a_session(), seen)
    assert "open the run" in missing("logs", a_session(), None)


def test_records_of_metrics_are_no_log_unless_they_are_called_one() -> None:
    for name, is_log in (("metrics.jsonl", False), ("train_log.jsonl", True)):
        seen = some_seen(logs=(SeenLog(name=name, format="jsonl", lines=9),))
        assert ("logs" in ticked(a_session(), seen)) is is_log


def test_speed_on_a_split_is_no_metric_of_it() -> None:
    speed = SeenMetric(name="eval_speed", role="val/throughput", split="val")
    seen = some_seen(metrics=(SeenMetric(name="loss", role="train/loss", split="train"), speed))
    assert "per_split" not in ticked(a_session(), seen)


@pytest.mark.parametrize("item", ["seeds", "hardware", "revision"])
def test_a_fact_is_enough_whoever_gave_it(item: str) -> None:
    topic = Topic(item)
    assert item not in ticked(a_session(), some_seen())
    assert missing(item, a_session(), None)
    mark = ticked(with_fact(topic, "something"))[item]
    assert mark.reason == "something (read in the log)"
    assert mark.evidence[0].ref == "train.out:3"
    assert ticked(with_fact(topic, "something", "person"))[item].reason.endswith(
        "(stated by a person)"
    )


def test_seeds_among_the_settings_count_before_anyone_took_them_over() -> None:
    mark = ticked(a_session(), some_seen(seeds=("train.seed = 3",)))["seeds"]
    assert mark.reason == "train.seed = 3"
    assert mark.evidence[0].ref == "config:train.seed"


def test_a_planned_length_is_no_baseline() -> None:
    session = with_fact(Topic.TARGETS, f"{NO_TARGET}; 10,000 steps planned", "config")
    assert "baseline" not in ticked(session)
    said = missing("baseline", session, None)
    assert "the config only says: 10,000 steps planned" in said
    assert "state one, or add a run" in said


def test_a_target_or_a_good_run_is_a_baseline() -> None:
    assert "baseline" in ticked(with_fact(Topic.TARGETS, "target_accuracy = 0.75", "config"))
    assert "baseline" in ticked(with_fact(Topic.TARGETS, "val/loss below 2", "person"))
    good = RunRef(id="R2", location="/runs/good", part=RunPart.BASELINE, added=AT)
    assert ticked(a_session(runs=(good,)))["baseline"].reason == "compared with good"


# -- work ---------------------------------------------------------------------------------


def test_only_a_passed_reproduction_reproduces() -> None:
    for status, is_done in ((PASSED, True), (ExperimentStatus.FAILED, False)):
        one = an_experiment(purpose=Purpose.REPRODUCTION, status=status, result=a_result())
        assert ("reproduced" in ticked(a_session(experiments=(one,)))) is is_done
    assert "plan an experiment" in missing("reproduced", a_session(), None)
    waiting = an_experiment(purpose=Purpose.REPRODUCTION)
    assert "E1 is planned" in missing("reproduced", a_session(experiments=(waiting,)), None)


@pytest.mark.parametrize("variable", [Variable.DATA, Variable.MODEL, Variable.OPTIMISER])
def test_a_variable_is_isolated_once_an_experiment_on_it_is_over(variable: Variable) -> None:
    item = f"isolate_{variable.value}"
    for status, is_done in (
        (ExperimentStatus.PASSED, True),
        (ExperimentStatus.FAILED, True),
        (ExperimentStatus.INCONCLUSIVE, False),
        (ExperimentStatus.RUNNING, False),
        (ExperimentStatus.CANCELLED, False),
    ):
        session = a_session(experiments=(an_experiment(variable=variable, status=status),))
        assert (item in ticked(session)) is is_done
        assert bool(missing(item, session, None)) is not is_done
    again = an_experiment(variable=variable, status=PASSED, purpose=Purpose.REPRODUCTION)
    assert item not in ticked(a_session(experiments=(again,)))


def test_every_open_hypothesis_needs_an_experiment() -> None:
    first, second = a_hypothesis("H1"), a_hypothesis("H2")
    session = a_session(hypotheses=(first, second), experiments=(an_experiment(),))
    assert "hypotheses" in ticked(session)
    assert missing("experiments", session, None).startswith("H2 cannot be decided yet")
    given_up = an_experiment("E2", hypothesis="H2", status=ExperimentStatus.CANCELLED)
    session = a_session(hypotheses=(first, second), experiments=(an_experiment(), given_up))
    assert "experiments" not in ticked(session)
    parked = a_hypothesis("H2", status=HypothesisStatus.PARKED)
    session = a_session(hypotheses=(first, parked), experiments=(an_experiment(),))
    assert ticked(session)["experiments"].reason == "H1: E1"
    assert "experiments" not in ticked(a_session())


def test_every_experiment_needs_criteria() -> None:
    with_some = an_experiment("E1", success=(BELOW,))
    session = a_session(experiments=(with_some, an_experiment("E2")))
    assert missing("criteria", session, None).startswith("E2 does not say what counts")
    assert ticked(a_session(experiments=(with_some,)))["criteria"].reason == "1 criterion for E1"
    assert "criteria" not in ticked(a_session())


# -- closing ------------------------------------------------------------------------------


def test_a_passed_fix_closes_what_it_shows() -> None:
    fix = an_experiment(
        status=PASSED, run="R2", rollback="set lr back to 0.1",
        result=a_result(criteria=(a_guard(), a_guard(Outcome.INCONCLUSIVE))),
    )  # fmt: skip
    marks = ticked(a_session(experiments=(fix,)))
    assert marks["minimal_fix"].reason == "E1 passed: lr 0.1 -> 0.03"
    assert marks["minimal_fix"].evidence == (
        EvidenceRef(kind=RefKind.EXPERIMENT, ref="E1", quote="val/loss 3.1 -> 2.2", run="R2"),
    )
    assert marks["no_regression"].reason.startswith("E1: 1 guard held, 1 undecided: throughput")
    assert marks["rollback"].reason == "E1: set lr back to 0.1"


def test_a_fix_that_costs_something_else_is_a_regression() -> None:
    fix = an_experiment(
        status=PASSED, result=a_result(criteria=(a_guard(), a_guard(Outcome.FAILED)))
    )
    session = a_session(experiments=(fix,))
    assert "no_regression" not in ticked(session)
    assert missing("no_regression", session, None).startswith("it got worse: throughput")
    assert "rollback note" in missing("rollback", session, None)
    unguarded = a_session(experiments=(an_experiment(status=PASSED, result=a_result()),))
    assert "guards no metric" in missing("no_regression", unguarded, None)


def test_splits_are_named() -> None:
    assert ticked(a_session(), some_seen())["per_split"].reason == "train: loss; held out: val_loss"
    only = some_seen(metrics=(SeenMetric(name="loss", role="train/loss", split="train"),))
    assert "validation split" in missing("per_split", a_session(), only)


def test_gradients_may_come_from_the_run_after_the_change() -> None:
    seen = some_seen(gradients=())
    assert "log grad_norm" in missing("gradients", a_session(), seen)
    change = MetricChange(name="gnorm", role="grad_norm", after=1.0)
    linked = an_experiment(status=PASSED, result=a_result(changes=(change,)))
    assert ticked(a_session(experiments=(linked,)), seen)["gradients"].reason == "loss beside gnorm"
    gone = MetricChange(name="gnorm", role="grad_norm", before=1.0)
    without = an_experiment(status=PASSED, result=a_result(changes=(gone,)))
    assert "gradients" not in ticked(a_session(experiments=(without,)), seen)


def test_a_monitor_that_is_only_planned_is_not_added() -> None:
    planned = Prevention(id="P1", text="alert on NaN", kind=PreventionKind.MONITOR, owner="ann")
    session = a_session(prevention=(planned,))
    assert missing("monitors", session, None).startswith("P1 is planned")
    ready = planned.model_copy(update={"is_done": True})
    assert ticked(a_session(prevention=(ready,)))["monitors"].reason == "P1: alert on NaN (ann)"
    document = ready.model_copy(update={"kind": PreventionKind.DOCUMENT})
    assert "monitors" not in ticked(a_session(prevention=(document,)))


def test_a_confirmed_hypothesis_is_the_root_cause() -> None:
    session = a_session(hypotheses=(a_hypothesis(status=HypothesisStatus.CONFIRMED),))
    marks = ticked(session)
    assert marks["root_cause"].reason == "H1, 0.50 (inference, ceiling 0.70): H1 is why"
    assert marks["ceiling"].reason == "H1 0.50 (inference, ceiling 0.70)"
    assert "waive this" in missing("root_cause", a_session(hypotheses=(a_hypothesis(),)), None)


# -- all of them --------------------------------------------------------------------------


def test_what_was_seen_of_a_run_stands_while_it_is_not_open() -> None:
    session = ObserveChecks(marks=observed(a_session(), some_seen(), AT)).apply(a_session(), AT)
    again = observed(session, None, AT)
    assert {mark.item for mark in again} >= {"logs", "metrics", "configs", "per_split", "gradients"}
    assert not is_news(session, again)


def test_growing_numbers_are_no_news_but_a_new_tick_is() -> None:
    session = ObserveChecks(marks=observed(a_session(), some_seen(), AT)).apply(a_session(), AT)
    assert not is_news(session, observed(session, some_seen(points=500), AT))
    assert is_news(session, observed(session, some_seen(settings=0), AT))
    waived = MarkCheck(item="configs", state=MarkState.WAIVED, reason="none").apply(session, AT)
    assert not is_news(waived, observed(waived, some_seen(), AT))


@given(SESSIONS, SEEN)
def test_any_session_can_be_looked_at(session: Session, seen: Seen | None) -> None:
    marks = observed(session, seen, AT)
    assert len({mark.item for mark in marks}) == len(marks)
    for mark in marks:
        assert mark.item in IDS
        assert mark.by == "app"
        assert len(mark.reason) <= 160
    done = {mark.item for mark in marks}
    for item in IDS:
        said = missing(item, session, seen)
        assert len(said) <= 160
        assert "\n" not in said
        kept = seen is None and session.marks.get(item) in marks
        assert bool(said) is (item not in done) or kept


# -- what is next -------------------------------------------------------------------------


def test_the_first_open_item_is_next_unless_something_was_begun() -> None:
    assert suggest(a_session()) == "logs"
    marks = {"logs": CheckMark(item="logs", state=MarkState.DONE),
             "metrics": CheckMark(item="metrics", state=MarkState.WAIVED, reason="x")}  # fmt: skip
    assert suggest(a_session(marks=marks)) == "configs"
    marks["rollback"] = CheckMark(item="rollback", state=MarkState.IN_PROGRESS)
    assert suggest(a_session(marks=marks)) == "rollback"
    testing = a_hypothesis(status=HypothesisStatus.TESTING)
    assert suggest(a_session(marks=marks, hypotheses=(testing,))) == "H1"
    linked = an_experiment("E1", status=ExperimentStatus.RUNNING, run="R2")
    unlinked = an_experiment("E2", status=ExperimentStatus.RUNNING)
    session = a_session(marks=marks, hypotheses=(testing,), experiments=(linked, unlinked))
    assert suggest(session) == "E2"


def test_nothing_is_next_when_all_is_done() -> None:
    assert suggest(a_session(marks=all_done())) == ""
    assert suggest(a_session(marks=all_done(MarkState.WAIVED))) == ""
    assert phase_of(a_session(marks=all_done())) is Phase.HANDOFF
    assert (
        suggest(a_session(marks={"gone": CheckMark(item="gone", state=MarkState.OPEN)})) == "logs"
    )


@given(SESSIONS)
def test_exactly_one_thing_that_exists_is_next(session: Session) -> None:
    chosen = suggest(session)
    known = {*IDS, *(h.id for h in session.hypotheses), *(e.id for e in session.experiments)}
    is_all_done = sum(progress(session, phase)[0] for phase in Phase) == len(IDS)
    assert chosen in known or (chosen == "" and is_all_done)


@given(SESSIONS)
def test_the_phase_is_the_first_that_is_not_through(session: Session) -> None:
    phase = phase_of(session)
    counts = {one: progress(session, one) for one in Phase}
    assert sum(total for _, total in counts.values()) == len(IDS)
    for earlier in list(Phase)[: phase.number - 1]:
        assert counts[earlier][0] == counts[earlier][1]
    assert counts[phase][0] < counts[phase][1] or phase is Phase.HANDOFF
