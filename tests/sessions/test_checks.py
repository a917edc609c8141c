"""The app ticks what it can see, says on what evidence, and what is missing otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.checks import MarkCheck, ObserveChecks
from mltd.sessions.checks import is_news, missing, observed, phase_of, progress, suggest
from mltd.sessions.facts.gathered import NO_TARGET, Seen, SeenLog
from mltd.sessions.model.checklist import CHECKS, CheckMark, MarkState, Phase
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.constraints import Constraints, Fact, Topic
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import ExperimentStatus, Purpose, Variable
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.records import Prevention, PreventionKind
from mltd.sessions.model.result import BeforeAfter, CriterionResult, MetricChange, Outcome
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


def test_a_log_in_which_nothing_stands_yet_is_called_so() -> None:
    seen = Seen(logs=(SeenLog(name="train.out"),))
    assert "logs" not in ticked(a_session(), seen)
    assert missing("logs", a_session(), seen).startswith("nothing is written in train.out yet")


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


@pytest.mark.parametrize("settings", [0, 1])
def test_missing_settings_promise_nothing_that_does_not_happen(settings: int) -> None:
    said = missing("configs", a_session(), some_seen(settings=settings))
    assert said.endswith(
        "put config.yaml beside the log and open the run again, or let the training print its "
        "settings"
    )


@pytest.mark.parametrize("item", ["seeds", "hardware"])
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


def test_a_number_of_processes_is_no_hardware_until_a_person_says_so() -> None:
    for source, is_done in (("log", False), ("person", True)):
        half = Fact(value="world size 64; 1 node", source=source, is_complete=False)
        session = a_session(constraints=Constraints(facts={Topic.HARDWARE: half}))
        assert ("hardware" in ticked(session)) is is_done
    half = half.model_copy(update={"source": "log"})
    session = a_session(constraints=Constraints(facts={Topic.HARDWARE: half}))
    assert missing("hardware", session, None) == (
        "which accelerators, and how many? The log only says: world size 64; 1 node"
    )


def test_a_commit_alone_does_not_say_what_was_new() -> None:
    assert "say which code ran" in missing("revision", a_session(), None)
    read = with_fact(Topic.REVISION, "commit 3f2a9c1")
    assert "revision" not in ticked(read)
    assert missing("revision", read, None) == "commit 3f2a9c1 is known: say what was new in it"
    told = with_fact(Topic.REVISION, "3f2a9c1, new tokenizer", "person")
    assert ticked(told)["revision"].reason == "3f2a9c1, new tokenizer (stated by a person)"


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


def judged_by(outcome: Outcome, *guards: CriterionResult, **of_the_change: Any) -> BeforeAfter:
    """A result whose target moved like this, with that outcome of its criterion."""
    target = MetricChange(**{"name": "loss", "role": "train/loss", "after": 1.0,
                             "smaller_is_better": True, **of_the_change})  # fmt: skip
    asked = CriterionResult(criterion="train/loss improves by 10%", outcome=outcome, said="x")
    is_failed = any(one.outcome is Outcome.FAILED for one in (asked, *guards))
    overall = Outcome.FAILED if is_failed else outcome
    return a_result(overall, criteria=(asked, *guards), changes=(target,))


def tried(result: BeforeAfter, variable: Variable = Variable.OPTIMISER) -> Session:
    status = ExperimentStatus(result.outcome.value)
    return a_session(experiments=(an_experiment(variable=variable, status=status, result=result),))


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
        result = judged_by(Outcome.PASSED if status is PASSED else Outcome.FAILED)
        one = an_experiment(variable=variable, status=status, result=result)
        session = a_session(experiments=(one,))
        assert (item in ticked(session)) is is_done
        assert bool(missing(item, session, None)) is not is_done
    again = an_experiment(
        variable=variable, status=PASSED, purpose=Purpose.REPRODUCTION, result=a_result()
    )
    assert item not in ticked(a_session(experiments=(again,)))


def test_a_run_that_still_goes_on_isolates_nothing() -> None:
    session = tried(judged_by(Outcome.PASSED).model_copy(update={"is_preliminary": True}))
    assert "isolate_optimiser" not in ticked(session)
    assert "its verdict is preliminary" in missing("isolate_optimiser", session, None)
    linked = an_experiment(
        variable=Variable.OPTIMISER, status=ExperimentStatus.RUNNING, run="R2", result=None
    )
    session = a_session(experiments=(linked,))
    assert "its verdict is preliminary" in missing("isolate_optimiser", session, None)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (judged_by(Outcome.PASSED, change=-0.3), "loss -30%: the optimiser is to blame"),
        (judged_by(Outcome.FAILED, change=0.004, low=-0.02, high=0.03),
         "loss +0%: the optimiser makes no difference"),
        (judged_by(Outcome.FAILED, change=0.4, low=0.3, high=0.5),
         "loss +40%: it gets worse, so this is no cure"),
        (judged_by(Outcome.FAILED, change=-0.04, low=-0.05, high=-0.03),
         "loss -4%: better, but short of what it had to show"),
        (judged_by(Outcome.PASSED, a_guard(Outcome.FAILED), change=-0.3),
         "loss -30%: the optimiser makes a difference, but it failed: throughput regresses by less "
         "than 5%"),
    ],
)  # fmt: skip
def test_an_isolated_variable_says_what_was_seen(result: BeforeAfter, said: str) -> None:
    mark = ticked(tried(result))["isolate_optimiser"]
    assert mark.reason == f"E1 lr 0.1 -> 0.03: {said}"
    assert mark.evidence[0].ref == "E1"


def test_a_guard_that_fails_says_nothing_about_an_undecided_target() -> None:
    session = tried(judged_by(Outcome.INCONCLUSIVE, a_guard(Outcome.FAILED)))
    assert "isolate_optimiser" not in ticked(session)
    assert "its target is undecided" in missing("isolate_optimiser", session, None)


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


def test_the_default_bar_is_fixed_beforehand_too() -> None:
    with_some = an_experiment("E1", success=(BELOW,))
    again = an_experiment("E3", purpose=Purpose.REPRODUCTION)
    session = a_session(experiments=(with_some, an_experiment("E2"), again))
    assert ticked(session)["criteria"].reason == (
        "1 criterion for E1; E2 by the default bar (10%); E3 by whether it fails again"
    )
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


LOSS = MetricChange(name="loss", role="train/loss", before=3.0, after=2.0)
HELD_OUT = MetricChange(name="val_loss", role="val/loss", before=3.0, after=2.0)
NORM = MetricChange(name="gnorm", role="grad_norm", after=1.0)


def measured(*changes: MetricChange, **more: Any) -> Session:
    one = an_experiment(**{"status": PASSED, "result": a_result(changes=changes), **more})
    return a_session(experiments=(one,))


@pytest.mark.parametrize("item", ["per_split", "gradients"])
def test_the_run_of_the_incident_validates_no_fix(item: str) -> None:
    assert item not in ticked(a_session(), some_seen())
    assert missing(item, a_session(), some_seen()).startswith("no fix was measured yet: run an")
    again = measured(LOSS, HELD_OUT, NORM, purpose=Purpose.REPRODUCTION)
    assert item not in ticked(again, some_seen())
    given_up = measured(LOSS, HELD_OUT, NORM, status=ExperimentStatus.CANCELLED)
    assert item not in ticked(given_up, some_seen())


def test_splits_are_named_with_the_experiment_that_shows_them() -> None:
    mark = ticked(measured(LOSS, HELD_OUT))["per_split"]
    assert mark.reason == "E1: train: loss; held out: val_loss"
    assert mark.evidence[0].ref == "E1"
    only = measured(LOSS)
    assert "log train and validation loss" in missing("per_split", only, some_seen())


def test_speed_on_a_split_is_no_metric_of_it() -> None:
    speed = MetricChange(name="eval_speed", role="val/throughput", after=9.0)
    assert "per_split" not in ticked(measured(LOSS, speed))


def test_loss_and_gradients_of_one_experiment_are_inspected() -> None:
    mark = ticked(measured(LOSS, NORM))["gradients"]
    assert mark.reason == "E1: loss beside gnorm"
    assert mark.evidence[0].ref == "E1"
    gone = NORM.model_copy(update={"before": 1.0, "after": None})
    assert "log grad_norm" in missing("gradients", measured(LOSS, gone), some_seen())
    assert "log the loss" in missing("gradients", measured(NORM), some_seen())
    apart = (
        an_experiment("E1", status=PASSED, result=a_result(changes=(LOSS,))),
        an_experiment("E2", status=PASSED, result=a_result(changes=(NORM,))),
    )
    assert "gradients" not in ticked(a_session(experiments=apart))


def test_a_monitor_that_is_only_planned_is_not_added() -> None:
    planned = Prevention(id="P1", text="alert on NaN", kind=PreventionKind.MONITOR, owner="ann")
    session = a_session(prevention=(planned,))
    assert missing("monitors", session, None).startswith("P1 is planned")
    ready = planned.model_copy(update={"is_done": True})
    assert ticked(a_session(prevention=(ready,)))["monitors"].reason == "P1: alert on NaN (ann)"
    document = ready.model_copy(update={"kind": PreventionKind.DOCUMENT})
    assert "monitors" not in ticked(a_session(prevention=(document,)))


def test_a_confirmed_hypothesis_that_was_observed_is_the_root_cause() -> None:
    sure = Confidence(value=0.9, basis=Basis.OBSERVATION)
    believed = a_hypothesis(status=HypothesisStatus.CONFIRMED)
    seen = a_hypothesis("H2", status=HypothesisStatus.CONFIRMED, confidence=sure)
    marks = ticked(a_session(hypotheses=(believed, seen)))
    assert marks["root_cause"].reason == "H2, 0.90 (observation, ceiling 0.95): H2 is why"
    assert marks["ceiling"].reason.startswith("H1 0.50 (inference, ceiling 0.70)")
    assert "waive this" in missing("root_cause", a_session(hypotheses=(a_hypothesis(),)), None)


def test_what_was_only_inferred_is_no_documented_root_cause() -> None:
    session = a_session(hypotheses=(a_hypothesis(status=HypothesisStatus.CONFIRMED),))
    assert "root_cause" not in ticked(session)
    said = missing("root_cause", session, None)
    assert said.startswith("H1 is confirmed, but by inference alone: show it in an experiment")


# -- all of them --------------------------------------------------------------------------


def test_what_was_seen_of_a_run_stands_while_it_is_not_open() -> None:
    session = ObserveChecks(marks=observed(a_session(), some_seen(), AT)).apply(a_session(), AT)
    again = observed(session, None, AT)
    assert {mark.item for mark in again} >= {"logs", "metrics", "configs"}
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
