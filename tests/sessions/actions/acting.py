"""Small sessions to act upon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import PlanExperiment
from mltd.sessions.actions.hypotheses import AddHypothesis
from mltd.sessions.actions.records import AddRun
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.criterion import parse_criterion
from mltd.sessions.model.experiment import Experiment, Purpose
from mltd.sessions.model.hypothesis import Hypothesis
from mltd.sessions.model.result import BeforeAfter, Outcome
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.triage import Triage

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
HALF = Confidence(value=0.5, basis=Basis.INFERENCE)


def empty() -> Session:
    """A session in which nothing was done yet."""
    return Session(id="s-1", title="loss rose", created=AT)


def after(*actions: AnyAction) -> Session:
    """The session after some actions."""
    return triage_of(*actions).session


def triage_of(*actions: AnyAction) -> Triage:
    """A triage in which some actions were done."""
    triage = Triage(empty(), clock=lambda: AT)
    for action in actions:
        triage.do(action)
    return triage


def add(id: str = "H1", statement: str = "", confidence: Confidence = HALF) -> AddHypothesis:  # noqa: A002 - what it is
    """Add a hypothesis."""
    hypothesis = Hypothesis(
        id=id, statement=statement or f"{id} did it", confidence=confidence, created=AT
    )
    return AddHypothesis(hypothesis=hypothesis)


def plan(
    id: str = "E1",  # noqa: A002 - what it is
    hypothesis: str = "H1",
    purpose: Purpose = Purpose.FIX,
    success: str = "val/loss improves by 10%",
) -> PlanExperiment:
    """Plan an experiment."""
    experiment = Experiment(
        id=id,
        hypothesis=hypothesis,
        change="halve the learning rate",
        purpose=purpose,
        success=(parse_criterion(success),),
        created=AT,
    )
    return PlanExperiment(experiment=experiment)


def run(id: str = "R1", part: RunPart = RunPart.INCIDENT) -> AddRun:  # noqa: A002 - what it is
    """Take a run in."""
    return AddRun(run=RunRef(id=id, location=f"/runs/{id}.log", part=part, added=AT))


def result(outcome: Outcome, *, excludes_success: bool = False) -> BeforeAfter:
    """What came out of an experiment."""
    return BeforeAfter(
        at=AT,
        before="R1",
        after="R2",
        outcome=outcome,
        summary="val/loss 3.1 -> 2.2",
        excludes_success=excludes_success,
    )
