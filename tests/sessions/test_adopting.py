"""What the analyzers say becomes hypotheses, plans and records without losing anything."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mltd.analyzers.core.cause import Fix, RootCause
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.core.registry import load_analyzers, load_causes
from mltd.analyzers.core.verdict import Diagnosis
from mltd.sessions.actions.experiments import PlanExperiment
from mltd.sessions.actions.hypotheses import AddHypothesis
from mltd.sessions.adopting import (
    best_for,
    by_hand,
    from_cause,
    from_finding,
    plan_for,
    record_of,
)
from mltd.sessions.errors import Refused
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import Variable
from mltd.sessions.model.hypothesis import Hypothesis, SuggestedFix
from mltd.sessions.model.records import DiagnosisRecord
from mltd.sessions.model.session import Session
from mltd.sessions.planning import CAUSES, ENDINGS, Aim

from .made_sessions import AT, a_hypothesis, a_session

SHOWN = Evidence(EvidenceKind.SERIES, "loss@60..61", "2.1 -> nan")
FIX = Fix(
    addresses="lr_too_high",
    change="lr 0.1 -> 0.03",
    example="lr: 0.03",
    expected_impact="train loss falls without spikes",
    verify="rerun 500 steps",
    if_it_fails="divide again",
    is_quick=True,
)
CAUSE = RootCause(
    id="lr_too_high",
    issue="the learning rate 0.1 is too high for this model",
    severity=Severity.CRITICAL,
    explains=("loss_divergence", "nan_loss"),
    confidence=0.7,
    basis=Basis.INFERENCE,
    evidence=(SHOWN, SHOWN),
    against=(Evidence(EvidenceKind.CONFIG, "config:lr", "0.1"),),
    fixes=(FIX,),
    requests=("grad_norm per step",),
)
FINDING = Finding(
    id="nan_loss",
    title="loss is nan from step 60 on",
    severity=Severity.CRITICAL,
    confidence=0.95,
    basis=Basis.OBSERVATION,
    evidence=(SHOWN,),
    first_step=60.0,
)
DIAGNOSIS = Diagnosis("diagnosis_complete", (FINDING,), (CAUSE,), ("more",))
LOGGED = ("train/loss", "val/loss", "grad_norm", "throughput", "lr")


def adopted() -> Hypothesis:
    return from_cause("H1", CAUSE, AT, run="R1")


def criteria(experiment: object) -> list[str]:
    return [str(one) for one in getattr(experiment, "success", ())]


def test_a_root_cause_becomes_a_hypothesis_with_all_that_it_has() -> None:
    made = adopted()
    assert made.statement == CAUSE.issue
    assert made.cause == "lr_too_high"
    assert str(made.confidence) == "0.70 (inference, ceiling 0.70)"
    assert made.evidence == (
        EvidenceRef(kind=RefKind.SERIES, ref="loss@60..61", quote="2.1 -> nan", run="R1"),
    )
    assert [piece.ref for piece in made.against] == ["config:lr"]
    assert made.fixes[0].change == FIX.change
    assert made.fixes[0].is_quick
    assert made.explains == ("loss_divergence", "nan_loss")
    assert made.requests == ("grad_norm per step",)
    assert (made.source, made.severity, made.run) == ("analyzers", "critical", "R1")
    assert made.history[0].reason == "explains loss_divergence, nan_loss"
    assert from_cause("H2", CAUSE, AT, source="claude").source == "claude"


def test_a_confidence_of_numpy_is_a_number_in_the_journal() -> None:
    made = from_cause("H1", replace(CAUSE, confidence=np.float64(0.5)), AT)
    assert type(made.confidence.value) is float
    assert Hypothesis.model_validate_json(made.model_dump_json()) == made


def test_a_finding_alone_asks_for_its_cause() -> None:
    made = from_finding("H1", FINDING, AT, run="R1")
    assert made.statement == "loss is nan from step 60 on: cause not known yet"
    assert made.cause == ""
    assert made.confidence.basis is Basis.INFERENCE
    assert made.confidence.value < 0.5
    assert made.explains == ("nan_loss",)
    assert made.evidence[0].run == "R1"


def test_the_best_cause_that_explains_a_finding_is_taken() -> None:
    second = replace(CAUSE, id="bad_batch", explains=("loss_spike",), confidence=0.4)
    told = replace(DIAGNOSIS, root_causes=(CAUSE, second))
    assert best_for(told, FINDING) is CAUSE
    assert best_for(told, replace(FINDING, id="loss_spike")) is second
    assert best_for(told, replace(FINDING, id="cuda_oom")) is None


def test_an_exception_is_explained_by_what_explains_the_end_of_the_run() -> None:
    error = replace(FINDING, id="exception")
    slow = replace(CAUSE, id="dataloader_bottleneck", explains=("dataloader_bound",))
    bug = replace(CAUSE, id="code_bug", explains=("exception",), confidence=0.3)
    batch = replace(CAUSE, id="batch_too_large", explains=("cuda_oom",), confidence=0.6)
    assert best_for(replace(DIAGNOSIS, root_causes=(slow, batch, bug)), error) is batch
    assert best_for(replace(DIAGNOSIS, root_causes=(slow, CAUSE)), error) is slow
    assert best_for(replace(DIAGNOSIS, root_causes=()), error) is None


def test_every_error_counts_as_an_end_of_the_run() -> None:
    known = load_analyzers().analyzers
    assert set(known) >= ENDINGS
    assert {name for name, made in known.items() if ".errors." in type(made).__module__} <= ENDINGS


def test_a_hypothesis_by_hand_obeys_the_ceilings() -> None:
    made = by_hand("H1", "  the tokenizer\n changed ", AT, run="R1")
    assert made.statement == "the tokenizer changed"
    assert str(made.confidence) == "0.50 (inference, ceiling 0.70)"
    assert made.source == "person"
    with pytest.raises(ValidationError, match="more than inference can bear"):
        by_hand("H1", "x", AT, value=0.9)
    with pytest.raises(Refused, match="needs a statement"):
        by_hand("H1", "  ", AT)


def test_what_is_adopted_can_be_done() -> None:
    session: Session = AddHypothesis(hypothesis=adopted()).apply(a_session(), AT)
    plan = plan_for(session.hypotheses[0], session.hypotheses[0].fixes[0], "E1", AT, LOGGED)
    session = PlanExperiment(experiment=plan).apply(session, AT)
    assert session.experiments[0].hypothesis == "H1"
    assert len(session.hypotheses[0].history) == 1


def test_a_plan_is_filled_in_from_the_fix() -> None:
    plan = plan_for(adopted(), adopted().fixes[0], "E1", AT, LOGGED)
    assert plan.change == "lr 0.1 -> 0.03"
    assert plan.command == "lr: 0.03"
    assert plan.variable is Variable.OPTIMISER
    assert plan.baseline == "R1"
    assert plan.rollback == "lr 0.03 -> 0.1"
    assert plan.expected_impact == FIX.expected_impact
    assert (plan.verify, plan.if_it_fails) == (FIX.verify, FIX.if_it_fails)
    assert criteria(plan) == [
        "train/loss improves by 10%",
        "train/loss stays finite",
        "grad_norm stays finite",
    ]
    assert [str(guard) for guard in plan.guards] == [
        "val/loss regresses by less than 5%",
        "throughput regresses by less than 5%",
    ]


@pytest.mark.parametrize(
    ("cause", "metrics", "wanted"),
    [
        ("lr_too_high", LOGGED, ["val/loss improves by 10%"]),
        ("lr_too_high", ("train/loss",), ["train/loss improves by 10%"]),
        ("lr_too_high", ("val/accuracy", "lr"), ["val/accuracy improves by 10%"]),
        ("lr_too_high", ("lr",), []),
        ("lr_too_high", (), []),
        ("numerical_instability", LOGGED,
         ["train/loss improves by 10%", "train/loss stays finite", "grad_norm stays finite"]),
        ("dataloader_bottleneck", LOGGED, ["throughput improves by 10%"]),
        ("memory_leak", ("train/loss", "memory"), ["memory improves by 10%"]),
        ("memory_leak", ("train/loss",), ["train/loss stays finite"]),
        ("code_bug", LOGGED, ["train/loss stays finite"]),
        ("overcapacity", LOGGED, ["val/loss improves by 10%"]),
        ("", LOGGED, ["val/loss improves by 10%"]),
    ],
)  # fmt: skip
def test_success_is_what_would_show_that_the_cause_is_gone(
    cause: str, metrics: tuple[str, ...], wanted: list[str]
) -> None:
    plan = plan_for(a_hypothesis(cause=cause), None, "E1", AT, metrics)
    assert criteria(plan) == wanted
    assert not {guard.metric for guard in plan.guards} & {one.metric for one in plan.success}


def test_a_plan_without_a_fix_asks_for_the_one_change() -> None:
    plan = plan_for(a_hypothesis(), None, "E1", AT)
    assert plan.change == "one change that shows whether it is so: H1 is why"
    assert (plan.command, plan.rollback) == ("", "")


def test_what_cannot_be_taken_back_says_so() -> None:
    fix = adopted().fixes[0].model_copy(update={"reversible": False})
    assert plan_for(adopted(), fix, "E1", AT).rollback.startswith("cannot be taken back: keep")


def a_fix(change: str, example: str = "") -> SuggestedFix:
    return SuggestedFix(change=change, example=example)


@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("lr 0.1 -> 0.03", "lr 0.03 -> 0.1"),
        ("model.act relu -> leaky_relu (or gelu)", "model.act leaky_relu -> relu"),
        ("learning rate 1e-2 -> 1e-3", "learning rate 1e-3 -> 1e-2"),
        ("data.path /x -> the directory that exists", ""),
        ("batch 64 -> 32, with two accumulation steps per update", ""),
        ("weight_decay 0 -> 0.01, dropout 0 -> 0.2", ""),
        ("relu -> gelu", ""),
        ("clip the gradient norm at 1.0", ""),
    ],
)
def test_a_change_of_one_value_is_taken_back_by_the_opposite_one(change: str, back: str) -> None:
    wanted = back or f"take back the change ({change})"
    assert plan_for(adopted(), a_fix(change), "E1", AT).rollback == wanted


@pytest.mark.parametrize(
    ("cause", "change", "variable"),
    [
        ("overcapacity", "use the checkpoint nearest to step 300, and stop early from now on",
         Variable.OTHER),
        ("overcapacity", "early stopping on val/loss, patience 3", Variable.OTHER),
        ("overcapacity", "more data or stronger augmentation", Variable.DATA),
        ("undercapacity", "optim.weight_decay 0.1 -> 0.01", Variable.OPTIMISER),
        ("overcapacity", "weight_decay 0 -> 0.01, dropout 0 -> 0.2", Variable.MODEL),
        ("overcapacity", "halve the width of the model", Variable.MODEL),
        ("frozen_parameters", "compare the optimizer's parameters with those that require a "
         "gradient", Variable.MODEL),
    ],
)  # fmt: skip
def test_what_an_experiment_changes_is_told_by_its_fix(
    cause: str, change: str, variable: Variable
) -> None:
    plan = plan_for(a_hypothesis(cause=cause), a_fix(change), "E1", AT, LOGGED)
    assert plan.variable is variable


@pytest.mark.parametrize(
    ("cause", "explains"),
    [("batch_too_large", ("cuda_oom",)), ("fragmentation", ("cuda_oom",)),
     ("device_shared", ("cuda_oom",)), ("memory_leak", ("memory_growth", "cuda_oom")),
     ("host_memory_limit", ("host_oom",))],
)  # fmt: skip
def test_a_run_that_died_need_only_live(cause: str, explains: tuple[str, ...]) -> None:
    dead = a_hypothesis(cause=cause, explains=explains)
    plan = plan_for(dead, None, "E1", AT, (*LOGGED, "memory"))
    assert criteria(plan) == ["train/loss stays finite"]


@pytest.mark.parametrize(
    ("change", "example", "is_guarded"),
    [
        ("batch_size 64 -> 32, with two accumulation steps per update", "", False),
        ("halve the batch per device", "", False),
        ("recompute activations in the backward pass (gradient checkpointing)", "", False),
        ("fit it", "model.gradient_checkpointing_enable()", False),
        ("let the allocator grow its segments instead of splitting them", "", True),
        ("lr 0.1 -> 0.03", "lr: 0.03", True),
    ],
)
def test_speed_is_not_guarded_where_it_is_the_price(
    change: str, example: str, is_guarded: bool
) -> None:
    fix = a_fix(change, example=example)
    plan = plan_for(a_hypothesis(cause="batch_too_large"), fix, "E1", AT, LOGGED)
    guarded = [guard.metric for guard in plan.guards]
    assert ("throughput" in guarded) is is_guarded
    assert "val/loss" in guarded


def test_every_cause_of_the_catalogue_has_a_variable() -> None:
    assert set(CAUSES) == set(load_causes().causes)
    assert {variable for variable, _ in CAUSES.values()} == set(Variable)
    assert {aim for _, aim in CAUSES.values()} == set(Aim)


def test_a_record_holds_the_diagnosis_in_plain_json() -> None:
    odd = replace(FINDING, first_step=math.nan, last_step=np.float64(7.0))
    record = record_of(replace(DIAGNOSIS, findings=(odd,)), AT, "R1")
    assert (record.source, record.run, record.status) == ("analyzers", "R1", "diagnosis_complete")
    body = json.loads(json.dumps(record.body, allow_nan=False))
    assert body["findings"][0]["first_step"] is None
    assert body["findings"][0]["last_step"] == 7
    assert body["root_causes"][0]["id"] == "lr_too_high"
    assert body["recommended_fixes"][0]["implementation"]["example"] == "lr: 0.03"
    assert DiagnosisRecord.model_validate_json(record.model_dump_json()) == record


@given(st.floats(), st.text(max_size=30))
def test_any_number_survives_the_way_to_the_disk(number: float, text: str) -> None:
    shown = Evidence(EvidenceKind.LOG, "a:1", text)
    odd = replace(FINDING, first_step=number, evidence=(shown,))
    record = record_of(replace(DIAGNOSIS, findings=(odd,)), AT)
    json.dumps(record.body, allow_nan=False)
    assert DiagnosisRecord.model_validate(record.model_dump()) == record
