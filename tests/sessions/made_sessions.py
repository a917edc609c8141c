"""Sessions made for tests: by hand, and any there could be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis
from mltd.sessions.facts.gathered import Seen, SeenLog, SeenMetric
from mltd.sessions.model.checklist import CHECKS, CheckMark, MarkState
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.constraints import Constraints, Fact, Topic
from mltd.sessions.model.criterion import Criterion, Demand
from mltd.sessions.model.experiment import Experiment, ExperimentStatus, Purpose, Variable
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus
from mltd.sessions.model.records import Prevention, PreventionKind
from mltd.sessions.model.result import BeforeAfter, CriterionResult, MetricChange, Outcome
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.model.session import Session

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BELOW = Criterion(metric="val/loss", demand=Demand.BELOW, amount=2.0)


def a_session(**more: Any) -> Session:
    return Session(id="s", title="an incident", created=AT, **more)


def a_hypothesis(id: str = "H1", **more: Any) -> Hypothesis:  # noqa: A002 - what it is
    confidence = Confidence(value=0.5, basis=Basis.INFERENCE)
    return Hypothesis(
        **{"id": id, "statement": f"{id} is why", "confidence": confidence, "created": AT, **more}
    )


def an_experiment(id: str = "E1", **more: Any) -> Experiment:  # noqa: A002 - what it is
    return Experiment(
        **{"id": id, "hypothesis": "H1", "change": "lr 0.1 -> 0.03", "created": AT, **more}
    )


def a_result(outcome: Outcome = Outcome.PASSED, **more: Any) -> BeforeAfter:
    return BeforeAfter(
        **{"at": AT, "before": "R1", "after": "R2", "outcome": outcome,
           "summary": "val/loss 3.1 -> 2.2", **more}
    )  # fmt: skip


def a_guard(outcome: Outcome = Outcome.PASSED) -> CriterionResult:
    return CriterionResult(criterion="throughput regresses by less than 5%", outcome=outcome,
                           said="as fast as before", is_guard=True)  # fmt: skip


def some_seen(**more: Any) -> Seen:
    return Seen(
        **{
            "logs": (SeenLog(name="train.out", format="text", lines=1234),),
            "metrics": (
                SeenMetric(name="loss", role="train/loss", split="train", points=100),
                SeenMetric(name="val_loss", role="val/loss", split="val", points=10),
                SeenMetric(name="gnorm", role="grad_norm", points=100),
            ),
            "metric_count": 3,
            "points": 210,
            "settings": 12,
            "config_files": ("config.yaml",),
            "gradients": ("gnorm",),
            **more,
        }
    )


_TEXT = st.text(max_size=40)
_RESULTS = st.builds(
    a_result,
    st.sampled_from(Outcome),
    summary=_TEXT,
    criteria=st.lists(st.builds(a_guard, st.sampled_from(Outcome)), max_size=2).map(tuple),
    changes=st.lists(
        st.builds(
            MetricChange,
            name=st.sampled_from(["loss", "val_loss", "grad"]),
            role=st.sampled_from([None, "train/loss", "val/loss", "grad_norm", "lr"]),
            after=st.none() | st.floats(),
        ),
        max_size=3,
    ).map(tuple),
)
_EXPERIMENTS = st.builds(
    an_experiment,
    st.sampled_from(["E1", "E2", "E3"]),
    hypothesis=st.sampled_from(["H1", "H2", "H9"]),
    status=st.sampled_from(ExperimentStatus),
    purpose=st.sampled_from(Purpose),
    variable=st.sampled_from(Variable),
    success=st.sampled_from([(), (BELOW,)]),
    run=st.sampled_from(["", "R2"]),
    result=st.none() | _RESULTS,
    rollback=_TEXT,
)
_MARKS = st.builds(
    CheckMark,
    item=st.sampled_from([check.id for check in CHECKS]),
    state=st.sampled_from(MarkState),
    by=st.sampled_from(["person", "app"]),
    reason=_TEXT,
)
_FACTS = st.dictionaries(
    st.sampled_from(Topic),
    st.builds(
        Fact,
        value=st.sampled_from(["no target stated; 5 steps planned", "seed 4", "x" * 500, "\n"]),
        source=st.sampled_from(["person", "log"]),
    ),
)
SESSIONS = st.builds(
    a_session,
    runs=st.lists(
        st.builds(RunRef, id=st.sampled_from(["R1", "R2"]), location=st.just("/runs/a"),
                  part=st.sampled_from(RunPart), added=st.just(AT)), max_size=2,
    ).map(tuple),
    constraints=st.builds(Constraints, facts=_FACTS),
    hypotheses=st.lists(
        st.builds(a_hypothesis, st.sampled_from(["H1", "H2", "H3"]),
                  status=st.sampled_from(HypothesisStatus)), max_size=3, unique_by=lambda h: h.id,
    ).map(tuple),
    experiments=st.lists(_EXPERIMENTS, max_size=3, unique_by=lambda e: e.id).map(tuple),
    marks=st.lists(_MARKS, max_size=22).map(lambda marks: {mark.item: mark for mark in marks}),
    prevention=st.lists(
        st.builds(Prevention, id=st.just("P1"), text=st.just("alert on NaN"),
                  kind=st.sampled_from(PreventionKind), is_done=st.booleans()), max_size=2,
    ).map(tuple),
)  # fmt: skip
SEEN = st.none() | st.builds(
    some_seen,
    logs=st.lists(
        st.builds(SeenLog, name=_TEXT, format=st.sampled_from(["text", "csv"]),
                  lines=st.integers(0, 9)), max_size=2,
    ).map(tuple),
    metric_count=st.integers(0, 3),
    settings=st.integers(0, 5),
    seeds=st.sampled_from([(), ("seed = 1",)]),
    gradients=st.sampled_from([(), ("gnorm",)]),
)  # fmt: skip
