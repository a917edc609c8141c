"""A triage in full swing: every kind of row, in every state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mltd.analyzers.core.finding import Basis
from mltd.sessions.model.checklist import CheckMark, MarkState, Phase
from mltd.sessions.model.confidence import Confidence, ConfidenceChange
from mltd.sessions.model.constraints import Constraints, Fact, TimelineEntry, Topic
from mltd.sessions.model.criterion import parse_criteria
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import Experiment, ExperimentStatus, Variable
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus, SuggestedFix
from mltd.sessions.model.records import Decision, Note, Prevention, PreventionKind
from mltd.sessions.model.result import BeforeAfter, Cost, CriterionResult, MetricChange, Outcome
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.model.session import Session

BEGAN = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
MISSING = {
    "seeds": "no seed in log or config",
    "baseline": "say what it should have reached, or link a run that did",
    "reproduced": "no run on a small slice is linked",
    "isolate_model": "no experiment changes the model",
    "experiments": "H3 has no experiment",
}


def at(minutes: float) -> datetime:
    return BEGAN + timedelta(minutes=minutes)


def series(ref: str, quote: str) -> EvidenceRef:
    return EvidenceRef(kind=RefKind.SERIES, ref=ref, quote=quote)


def log(ref: str, quote: str) -> EvidenceRef:
    return EvidenceRef(kind=RefKind.LOG, ref=ref, quote=quote)


def sure(value: float, basis: Basis = Basis.INFERENCE) -> Confidence:
    return Confidence(value=value, basis=basis)


def step(minutes: float, value: float, basis: Basis, why: str, who: str) -> ConfidenceChange:
    return ConfidenceChange(at=at(minutes), confidence=sure(value, basis), reason=why, source=who)


def ticked(item: str, reason: str = "", *evidence: EvidenceRef, by: str = "app") -> CheckMark:
    return CheckMark(
        item=item, state=MarkState.DONE, by=by, reason=reason, evidence=evidence, at=at(1)
    )


PASSED = BeforeAfter(
    at=at(190),
    before="R1",
    after="R2",
    outcome=Outcome.PASSED,
    summary="val/loss fell by 41.9% (95%: 38.0% to 45.6%), nothing that is guarded suffered",
    criteria=(
        CriterionResult(
            criterion="val/loss improves by 10%",
            outcome=Outcome.PASSED,
            said="5.412 before, 3.144 after: 41.9% better, at least 38.0% with 95% confidence",
        ),
        CriterionResult(
            criterion="throughput regresses by less than 5%",
            outcome=Outcome.PASSED,
            said="0.4% slower, at most 1.1%",
            is_guard=True,
        ),
    ),
    changes=(
        MetricChange(
            name="val/loss", role="val/loss", before=5.412, after=3.144, change=-0.419,
            low=-0.456, high=-0.380, effect=-4.2, points=(64, 61), parts_at=4200.0,
            smaller_is_better=True,
        ),
        MetricChange(
            name="train/loss", before=6.02, after=2.981, change=-0.505, low=-0.54, high=-0.47,
            points=(900, 880), smaller_is_better=True,
        ),
        MetricChange(
            name="throughput", before=18240.0, after=18167.0, change=-0.004, low=-0.011,
            high=0.003, points=(900, 880), smaller_is_better=False,
        ),
        MetricChange(
            name="grad_norm", before=float("inf"), after=0.84, smaller_is_better=None,
            points=(900, 880),
        ),
    ),
    cost=Cost(seconds=(3600.0, 3614.0), throughput=(18240.0, 18167.0)),
)  # fmt: skip
FAILED = BeforeAfter(
    at=at(80),
    before="R1",
    after="R3",
    outcome=Outcome.FAILED,
    summary="val/loss rose by 2.1% (95%: -0.4% to 4.6%): the interval is short of 10%",
    changes=(
        MetricChange(name="val/loss", before=5.41, after=5.52, change=0.021, low=-0.004,
                     high=0.046, points=(64, 64), smaller_is_better=True),
    ),
    excludes_success=True,
)  # fmt: skip
EARLY = BeforeAfter(
    at=at(200),
    before="R1",
    after="R4",
    outcome=Outcome.INCONCLUSIVE,
    summary="val/loss is 12.3% lower over 6 points; 14 more would decide it",
    changes=(
        MetricChange(name="val/loss", before=5.41, after=4.74, change=-0.123,
                     points=(64, 6), needed=14, smaller_is_better=True),
    ),
    needed=14,
    is_preliminary=True,
)  # fmt: skip
LIVE = {"E3": EARLY}

FIXES = (
    SuggestedFix(
        change="lower the peak learning rate: 3e-3 -> 3e-4",
        example="--lr 3e-4",
        expected_impact="train/loss falls again within 200 steps of the restart",
        verify="grad_norm stays below 5 past step 12,400",
        if_it_fails="look at the batches around step 12,400",
        is_quick=True,
        addresses="lr_too_high",
    ),
    SuggestedFix(
        change="warm up for ten times as long",
        example="optimizer:\n  warmup_steps: 2000",
        expected_impact="no jump of grad_norm while the learning rate rises",
        reversible=False,
    ),
)
H1 = Hypothesis(
    id="H1",
    statement="The peak learning rate of 3e-3 is too high for a global batch of 256, and the "
    "warm-up of 200 steps too short for it",
    cause="lr_too_high",
    status=HypothesisStatus.CONFIRMED,
    confidence=sure(0.93, Basis.OBSERVATION),
    evidence=(
        series("grad_norm@12180..12400", "2.1 -> 318 over 220 steps, before the loss rose"),
        series("train/loss@12400", "9.71, 8.4x the median before"),
        EvidenceRef(kind=RefKind.CONFIG, ref="config:optimizer.lr", quote="0.003"),
        EvidenceRef(kind=RefKind.EXPERIMENT, ref="E1", quote="passed: val/loss fell by 41.9%"),
    ),
    against=(log("train.err:812", "loss scale 1.0: the scaler had collapsed already"),),
    history=(
        step(2, 0.62, Basis.INFERENCE, "as first stated", "analyzers"),
        step(40, 0.70, Basis.INFERENCE, "the same at another seed", "person"),
        step(190, 0.93, Basis.OBSERVATION, "passed: val/loss fell by 41.9%", "E1"),
    ),
    fixes=FIXES,
    explains=("loss_spike", "grad_explosion"),
    requests=("log grad_norm per layer for 200 steps around step 12,000",),
    source="analyzers",
    severity="critical",
    created=at(2),
)
H2 = Hypothesis(
    id="H2",
    statement="A corrupt shard was read around step 12,400",
    status=HypothesisStatus.REFUTED,
    confidence=sure(0.08),
    evidence=(log("train.out:20411", "WARNING: shard 0071 has 3 short samples"),),
    history=(
        step(5, 0.40, Basis.INFERENCE, "a warning about that shard", "person"),
        step(80, 0.08, Basis.INFERENCE, "failed: it diverges without the shard too", "E2"),
    ),
    created=at(5),
)
H3 = Hypothesis(
    id="H3",
    statement="fp16 overflows in the attention logits before anything else goes wrong",
    cause="fp16_overflow",
    status=HypothesisStatus.TESTING,
    confidence=sure(0.45, Basis.RESEARCH),
    evidence=(series("loss_scale@12100..12380", "65,536 -> 1 in nine halvings"),),
    history=(step(12, 0.45, Basis.RESEARCH, "a documented pattern", "claude"),),
    source="claude",
    created=at(12),
)
H4 = Hypothesis(
    id="H4",
    statement="A new tokenizer shifts the targets by one",
    status=HypothesisStatus.PARKED,
    confidence=sure(0.15),
    history=(step(30, 0.15, Basis.INFERENCE, "it came with the last commit", "person"),),
    created=at(30),
)
H5 = H4.model_copy(
    update={
        "id": "H5",
        "statement": "One GPU of gpu-17 returns wrong sums",
        "status": HypothesisStatus.OPEN,
        "confidence": sure(0.2),
    }
)


def experiment(number: int, hypothesis: str, change: str, status: str) -> Experiment:
    return Experiment(
        id=f"E{number}",
        hypothesis=hypothesis,
        change=change,
        status=ExperimentStatus(status),
        created=at(20 + number),
    )


E1 = experiment(1, "H1", "lr 3e-3 -> 3e-4, all else as before", "passed").model_copy(
    update={
        "variable": Variable.OPTIMISER,
        "command": "torchrun --nproc_per_node 8 train.py --config configs/base.yaml \\\n"
        "  --lr 3e-4 --seed 42 --max_steps 16000 --run_name lr-3e-4",
        "success": parse_criteria("val/loss improves by 10%"),
        "failure": parse_criteria("train/loss is above 8"),
        "guards": parse_criteria("throughput regresses by less than 5%"),
        "run": "R2",
        "result": PASSED,
        "rollback": "git revert 4f1c2ab, or --lr 3e-3",
        "expected_impact": "train/loss keeps falling past step 12,400",
        "verify": "grad_norm below 5",
        "started": at(60),
        "ended": at(190),
    }
)
E2 = experiment(2, "H2", "leave out shard 0071", "failed").model_copy(
    update={"variable": Variable.DATA, "run": "R3", "result": FAILED, "started": at(50)}
)
E3 = experiment(3, "H3", "bf16 instead of fp16", "running").model_copy(
    update={
        "variable": Variable.MODEL,
        "command": "python train.py --precision bf16",
        "run": "R4",
        "started": at(170),
    }
)
E4 = experiment(4, "H3", "clip attention logits at 50", "planned").model_copy(
    update={"command": "python train.py --logit_cap 50"}
)
E5 = experiment(5, "H3", "fp32 from step 12,000 on", "cancelled")
E6 = experiment(6, "H1", "warm-up 200 -> 2000 steps", "inconclusive").model_copy(
    update={"run": "R5", "result": EARLY.model_copy(update={"is_preliminary": False})}
)
RUNS = tuple(
    RunRef(
        id=f"R{number}",
        location=f"/scratch/ada/gpt-125m/{name}.log",
        name=name,
        part=part,
        added=at(number),
    )
    for number, name, part in (
        (1, "lr-3e-3", RunPart.INCIDENT),
        (2, "lr-3e-4", RunPart.EXPERIMENT),
        (3, "no-shard-71", RunPart.EXPERIMENT),
        (4, "bf16", RunPart.EXPERIMENT),
        (5, "warm-2000", RunPart.EXPERIMENT),
    )
)
FACTS = {
    Topic.HARDWARE: Fact(
        value="8x A100 80GB on gpu-17", source="log", evidence=(log("train.out:3", "8 x A100"),)
    ),
    Topic.FRAMEWORK: Fact(value="torch 2.4.1, cuda 12.1", source="log"),
    Topic.TARGETS: Fact(value="val/loss below 2.10 by step 50,000"),
    Topic.INCIDENT_START: Fact(value="step 12,400", source="series"),
    Topic.REVISION: Fact(value="4f1c2ab, new tokenizer", source="config"),
}
MARKS = (
    ticked("logs", "", log("train.out:1", "")),
    ticked("metrics", "", series("train/loss@0", "")),
    ticked("configs", "", EvidenceRef(kind=RefKind.CONFIG, ref="config.yaml")),
    ticked("hardware", "", log("train.out:3", "8 x A100")),
    ticked("revision", "", by="person"),
    ticked("isolate_data", "E2 failed: it is not the shard"),
    ticked("isolate_optimiser", "E1 passed"),
    CheckMark(item="reproduced", state=MarkState.IN_PROGRESS, at=at(30)),
    ticked("hypotheses", "5 are written down"),
    ticked("criteria", "", by="person"),
    CheckMark(
        item="no_regression", state=MarkState.WAIVED, reason="there is no baseline yet", at=at(9)
    ),
)
TRIAGE = Session(
    id="2026-03-02-lr-3e-3",
    title="gpt-125m: the loss explodes at step 12,400",
    created=BEGAN,
    phase=Phase.HYPOTHESES,
    runs=RUNS,
    constraints=Constraints(
        facts=FACTS,
        timeline=(
            TimelineEntry(text="the learning rate reaches its peak", step=12000.0, at=at(-300)),
            TimelineEntry(text="grad_norm leaves its range", step=12180.0, source="series"),
        ),
    ),
    hypotheses=(H1, H3, H2, H5, H4),
    experiments=(E1, E2, E3, E4, E5, E6),
    marks={mark.item: mark for mark in MARKS},
    notes=(
        Note(id="N1", at=at(15), text="Ada saw the same in January,\nbut with dropout 0.1"),
    ),
    decisions=(
        Decision(
            id="D1",
            at=at(195),
            text="Restart from step 12,000 with lr 3e-4",
            because="E1 passed, and the checkpoint is from before grad_norm left its range",
        ),
    ),
    prevention=(
        Prevention(id="P1", text="Alert when grad_norm is 10x its median", owner="ada"),
        Prevention(
            id="P2", text="Test that the peak lr scales with the batch", kind=PreventionKind.TEST,
            is_done=True, owner="lin",
        ),
        Prevention(
            id="P3", text="Write down how to restart from a checkpoint",
            kind=PreventionKind.DOCUMENT,
        ),
    ),
    owner="ada",
)  # fmt: skip
