"""A divergence: found, tested by an experiment that passed, handed over with owners."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path

from mltd.analyzers.core.cause import Fix, RootCause
from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.sessions.actions.checks import MarkCheck, ObserveChecks
from mltd.sessions.actions.experiments import (
    LinkRun,
    PlanExperiment,
    RecordResult,
    StartExperiment,
)
from mltd.sessions.actions.hypotheses import AddHypothesis, SetConfidence
from mltd.sessions.actions.records import (
    AddRun,
    Prefill,
    PutDecision,
    PutNote,
    PutPrevention,
    RecordDiagnosis,
    SetFact,
    SetOwner,
)
from mltd.sessions.adopting import record_of
from mltd.sessions.model.checklist import CheckMark, MarkState
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.constraints import Fact, TimelineEntry, Topic
from mltd.sessions.model.criterion import parse_criteria
from mltd.sessions.model.evidence import EvidenceRef, RefKind, referred
from mltd.sessions.model.experiment import Experiment, Variable
from mltd.sessions.model.hypothesis import Hypothesis, SuggestedFix
from mltd.sessions.model.records import DiagnosisRecord, Prevention, PreventionKind
from mltd.sessions.model.result import BeforeAfter, Cost, CriterionResult, MetricChange, Outcome
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.report import material_of

from .building import NOW, Case, log, read, series, triaged


def write_training(path: Path, *, diverges: bool) -> None:
    """A log of 120 steps that either learns or blows up at step 80."""
    lines = ["seed: 42", "torch 2.4.1, cuda 12.1, 1x A100 80GB"]
    for step in range(1, 121):
        loss = 2.5 * math.exp(-step / 60) + 0.1 + 0.02 * math.sin(step)
        norm = 0.8 + 0.1 * math.cos(step)
        if diverges and step >= 80:
            loss *= 1.6 ** (step - 79)
            norm *= 1.9 ** (step - 79)
        if diverges and step >= 100:
            loss = norm = math.nan
        rate = (0.003 if diverges else 0.001) * min(1.0, step / 40)
        lines.append(f"step {step} loss {loss:.4f} grad_norm {norm:.4f} lr {rate:.6f}")
        if step % 20 == 0:
            lines.append(f"step {step} val_loss {loss * 1.1:.4f}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


FIX = Fix(
    addresses="lr_too_high",
    change="lr 0.003 -> 0.001",
    example="lr: 0.001",
    expected_impact="train loss falls without a spike within 120 steps",
    verify="rerun 120 steps: no value above the range before",
    if_it_fails="divide by 3 once more",
    is_quick=True,
)
CLIP = Fix(
    addresses="missing_grad_clipping",
    change="clip the gradient norm at 1.0",
    example="torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    expected_impact="the largest gradient norm stays below 10 over the next 1,000 steps",
    verify="log the norm before clipping",
    if_it_fails="lower the learning rate instead",
)


def divergence_diagnosis() -> Diagnosis:
    rise = series("grad_norm@80..99", "1.42 -> 2.63e+05")
    return Diagnosis(
        status="diagnosis_complete",
        findings=(
            Finding(
                "exploding_gradients",
                "grad_norm rose 185,000x from step 80 on",
                Severity.CRITICAL,
                0.91,
                Basis.OBSERVATION,
                (rise, series("loss@79..99", "0.7489 -> 6838")),
                80.0,
            ),
            Finding(
                "nan_loss",
                "loss is nan since step 100",
                Severity.CRITICAL,
                0.95,
                Basis.OBSERVATION,
                (series("loss@99..100", "6838 -> nan"), log("train.log:107", "loss nan")),
                100.0,
            ),
        ),
        root_causes=(
            RootCause(
                "lr_too_high",
                "the learning rate (lr 0.003) is higher than this training bears",
                Severity.CRITICAL,
                ("exploding_gradients", "nan_loss"),
                0.74,
                Basis.RESEARCH,
                (rise, Evidence(EvidenceKind.CONFIG, "config:lr", "0.003")),
                (),
                (FIX,),
                ("200 steps at a third of the learning rate",),
                80.0,
            ),
            RootCause(
                "missing_grad_clipping",
                "nothing bounds the gradients",
                Severity.WARNING,
                ("exploding_gradients",),
                0.47,
                Basis.RESEARCH,
                (rise,),
                (),
                (CLIP,),
            ),
        ),
    )


def _result() -> BeforeAfter:
    return BeforeAfter(
        at=NOW + timedelta(hours=4),
        before="R1",
        after="R2",
        outcome=Outcome.PASSED,
        summary="loss improves by 97.1% (95% interval 96.0% to 98.3%), 10% were asked for",
        criteria=(
            CriterionResult(
                criterion="train/loss improves by 10%",
                outcome=Outcome.PASSED,
                said="0.5338 after 18.41 before: +97.1%",
            ),
            CriterionResult(
                criterion="throughput regresses by less than 5%",
                outcome=Outcome.INCONCLUSIVE,
                said="neither run logs throughput",
                is_guard=True,
            ),
        ),
        changes=(
            MetricChange(
                name="loss",
                role="train/loss",
                window=(60.0, 99.0),
                before=18.41,
                after=0.5338,
                change=-0.971,
                low=-0.983,
                high=-0.96,
                effect=-2.4,
                points=(40, 40),
                parts_at=80.0,
                smaller_is_better=True,
            ),
            MetricChange(
                name="val_loss",
                role="val/loss",
                window=(60.0, 120.0),
                before=math.nan,
                after=0.68,
                points=(2, 3),
                needed=5,
                smaller_is_better=True,
            ),
        ),
        cost=Cost(seconds=(3600.0, 3710.0), throughput=(None, None)),
    )


def divergence() -> Case:
    """A divergence, its experiment passed, handed over with owners."""
    write_training(Path("diverging/train.log"), diverges=True)
    write_training(Path("calmer/train.log"), diverges=False)
    diagnosis = divergence_diagnosis()
    best = diagnosis.root_causes[0]
    first = Hypothesis(
        id="H1",
        statement=best.issue,
        cause=best.id,
        confidence=Confidence(value=best.confidence, basis=best.basis),
        evidence=tuple(referred(one, "R1") for one in best.evidence),
        fixes=(SuggestedFix(change=FIX.change, example=FIX.example, addresses=FIX.addresses,
                            expected_impact=FIX.expected_impact, verify=FIX.verify,
                            if_it_fails=FIX.if_it_fails, is_quick=True),),
        explains=best.explains,
        requests=best.requests,
        source="analyzers",
        run="R1",
        severity="critical",
        created=NOW,
    )  # fmt: skip
    second = Hypothesis(
        id="H2",
        statement="one batch of the new shard is broken | see *ticket* 7",
        confidence=Confidence(value=0.30, basis=Basis.INFERENCE),
        against=(EvidenceRef(kind=RefKind.LOG, ref="train.log:83", quote="step 80 loss"),),
        run="R1",
        created=NOW,
    )
    experiment = Experiment(
        id="E1",
        hypothesis="H1",
        change=FIX.change,
        variable=Variable.OPTIMISER,
        command="python train.py --lr 0.001 --seed 42",
        success=parse_criteria("train/loss improves by 10%"),
        guards=parse_criteria("throughput regresses by less than 5%"),
        rollback="set lr back to 0.003",
        expected_impact=FIX.expected_impact,
        verify=FIX.verify,
        if_it_fails=FIX.if_it_fails,
        created=NOW,
    )
    here = EvidenceRef(kind=RefKind.LOG, ref="train.log:1", quote="seed: 42", run="R1")
    session = triaged(
        "20260314-0900-diverging",
        "Pre-training diverges at step 80",
        [
            AddRun(run=RunRef(id="R1", location="/home/mira/runs/diverging/train.log",
                              name="train.log", added=NOW)),
            SetOwner(owner="Mira Kowalski"),
            Prefill(
                facts={
                    Topic.SEEDS: Fact(value="seed 42", source="log", evidence=(here,)),
                    Topic.HARDWARE: Fact(value="1x A100 80GB on gpu-17", source="log", evidence=(
                        EvidenceRef(kind=RefKind.LOG, ref="train.log:2", run="R1"),)),
                },
                timeline=(
                    TimelineEntry(text="exploding_gradients begins", step=80.0,
                                  source="analyzers"),
                    TimelineEntry(text="loss is nan", step=100.0, source="log",
                                  evidence=EvidenceRef(kind=RefKind.LOG, ref="train.log:107")),
                ),
            ),
            SetFact(topic=Topic.DATA, fact=Fact(value="c4-en 2026-03, shard 17 is new")),
            SetFact(topic=Topic.TARGETS, fact=Fact(value="val/loss below 0.7 by step 120")),
            RecordDiagnosis(diagnosis=record_of(diagnosis, NOW, "R1")),
            RecordDiagnosis(diagnosis=DiagnosisRecord(
                at=NOW + timedelta(minutes=20), source="claude", run="R1",
                status="needs_more_data",
                body={"status": "needs_more_data", "root_causes": [
                    {"id": "bad_batch", "issue": "a broken batch of shard 17",
                     "confidence": 0.4, "basis": "inference"}]})),
            AddHypothesis(hypothesis=first, reason="adopted from the analyzers"),
            AddHypothesis(hypothesis=second),
            SetConfidence(id="H2", confidence=Confidence(value=0.15, basis=Basis.INFERENCE),
                          reason="the same shard went through in R2"),
            PlanExperiment(experiment=experiment),
            StartExperiment(id="E1"),
            AddRun(run=RunRef(id="R2", location="/home/mira/runs/calmer/train.log",
                              name="calmer", part=RunPart.EXPERIMENT, added=NOW)),
            LinkRun(id="E1", run="R2"),
            RecordResult(id="E1", result=_result()),
            ObserveChecks(marks=(
                CheckMark(item="logs", state=MarkState.DONE, by="app",
                          reason="1 log, 130 lines", evidence=(here,)),
                CheckMark(item="metrics", state=MarkState.DONE, by="app", reason="4 metrics"),
                CheckMark(item="seeds", state=MarkState.DONE, by="app", evidence=(here,)),
            )),
            MarkCheck(item="minimal_fix", state=MarkState.DONE),
            MarkCheck(item="isolate_data", state=MarkState.IN_PROGRESS),
            MarkCheck(item="reproduced", state=MarkState.WAIVED,
                      reason="the whole run takes a minute"),
            PutDecision(id="D1", text="train at 0.001 from now on", because="E1 passed"),
            PutNote(id="N1", text="Asked the data team about shard 17.\n# no heading\n- no list"),
            PutPrevention(prevention=Prevention(
                id="P1", text="alert when grad_norm exceeds 10", owner="Mira Kowalski")),
            PutPrevention(prevention=Prevention(
                id="P2", text="smoke test of 120 steps for each new peak rate",
                kind=PreventionKind.TEST, is_done=True)),
        ],
    )  # fmt: skip
    runs = {"R1": read("diverging/train.log"), "R2": read("calmer/train.log")}
    return Case(session, material_of(session, runs, {"R1": diagnosis}))
