"""What can be done to experiments."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ..errors import Refused
from ..model.experiment import Experiment, ExperimentStatus
from ..model.hypothesis import HypothesisStatus
from ..model.result import BeforeAfter
from ..model.run_ref import RunRef
from ..model.session import Session
from .base import (
    Action,
    changed,
    clipped,
    experiment_in,
    hypothesis_in,
    moved,
    swapped,
    with_run,
    without,
)
from .judgement import judged


class PlanExperiment(Action):
    """Plan a test of a hypothesis."""

    op: Literal["plan_experiment"] = "plan_experiment"
    experiment: Experiment

    @property
    def makes(self) -> str:
        """Id of what it adds."""
        return self.experiment.id

    def apply(self, session: Session, at: datetime) -> Session:
        """Add it as the last one."""
        hypothesis_in(session, self.experiment.hypothesis)
        if session.experiment(self.experiment.id) is not None:
            raise Refused(f"there is an experiment {self.experiment.id} already")
        planned = changed(
            self.experiment,
            status=ExperimentStatus.PLANNED,
            run="",
            is_run_over=False,
            result=None,
            started=None,
            ended=None,
        )
        return changed(session, experiments=(*session.experiments, planned))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"planned {self.experiment.id}: {clipped(self.experiment.change)}"


class EditExperiment(Action):
    """Plan it better; what decides it can only be changed before it starts."""

    op: Literal["edit_experiment"] = "edit_experiment"
    experiment: Experiment

    def apply(self, session: Session, at: datetime) -> Session:
        """Replace what was planned; status, run and result stay as they are."""
        old = experiment_in(session, self.experiment.id)
        new = self.experiment
        has_begun = old.status is not ExperimentStatus.PLANNED
        deciding = ("change", "success", "failure", "guards", "baseline", "purpose")
        if has_begun and any(getattr(old, name) != getattr(new, name) for name in deciding):
            raise Refused(
                f"{old.id} has started: its change and its criteria stay as they were fixed",
                hint="plan another experiment",
            )
        times = ("created", "started", "ended")
        staying = ("hypothesis", "status", "run", "is_run_over", "result", *times)
        kept = {name: getattr(old, name) for name in staying}
        return changed(session, experiments=swapped(session.experiments, old, changed(new, **kept)))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"changed {self.experiment.id}: {clipped(self.experiment.change)}"


class StartExperiment(Action):
    """Say that it runs: from now on its criteria are fixed."""

    op: Literal["start_experiment"] = "start_experiment"
    id: str

    def apply(self, session: Session, at: datetime) -> Session:
        """Begin; its hypothesis is being tested."""
        old = experiment_in(session, self.id)
        if old.status.is_over:
            raise Refused(f"{self.id} is over: it {_ended(old.status)}")
        new = changed(old, status=ExperimentStatus.RUNNING, started=old.started or at, ended=None)
        session = changed(session, experiments=swapped(session.experiments, old, new))
        return _testing(session, old.hypothesis)

    def said(self, session: Session) -> str:
        """What it does."""
        return f"started {self.id}"


class LinkRun(Action):
    """Name the run that came out of an experiment."""

    op: Literal["link_run"] = "link_run"
    id: str
    run: str
    """Id of a run of the session."""
    ref: RunRef | None = None
    """The run itself, if the session does not know it yet: undone, both are gone."""

    @property
    def makes(self) -> str:
        """Id of the run that it adds, if it adds one."""
        return self.ref.id if self.ref is not None else ""

    def apply(self, session: Session, at: datetime) -> Session:
        """Link it; the experiment has started, if nobody said so."""
        old = experiment_in(session, self.id)
        session = with_run(session, self.ref)
        if session.run(self.run) is None:
            raise Refused(f"there is no run {self.run} in this session")
        hypothesis = hypothesis_in(session, old.hypothesis)
        before = session.run(old.baseline or hypothesis.run)
        if before is not None and before.id == self.run:
            raise Refused(f"{before.label} is the run before the change; link the one after it")
        is_new = old.run != self.run
        new = changed(
            old,
            run=self.run,
            status=ExperimentStatus.RUNNING if is_new else old.status,
            started=old.started or at,
            is_run_over=False if is_new else old.is_run_over,
            result=None if is_new else old.result,
            ended=None if is_new else old.ended,
        )
        session = changed(session, experiments=swapped(session.experiments, old, new))
        return _testing(session, old.hypothesis)

    def said(self, session: Session) -> str:
        """What it does."""
        run = session.run(self.run)
        return f"{self.id} is run {run.label if run else self.run}"


class EndRun(Action):
    """Say that the run of an experiment is over: its verdict is final from now on."""

    op: Literal["end_run"] = "end_run"
    id: str
    run: str
    """Id of the run that is over; the experiment may be linked with another one later."""

    def apply(self, session: Session, at: datetime) -> Session:
        """Note it; the verdict itself is another action."""
        old = experiment_in(session, self.id)
        if not old.run:
            raise Refused(f"{self.id} has no run yet", hint="link the run that came out of it")
        if old.run != self.run:
            raise Refused(f"{self.id} is linked with {old.run}, not with {self.run}")
        if old.status.is_over:
            raise Refused(f"{self.id} is over: it {_ended(old.status)}")
        if old.is_run_over:
            raise Refused(f"the run of {self.id} is marked as over already")
        new = changed(old, is_run_over=True)
        return changed(session, experiments=swapped(session.experiments, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        run = session.run(self.run)
        return f"the run of {self.id} is over: {run.label if run else self.run}"


class RecordResult(Action):
    """Record what came out; a final verdict moves the hypothesis."""

    op: Literal["record_result"] = "record_result"
    id: str
    result: BeforeAfter

    def apply(self, session: Session, at: datetime) -> Session:
        """Set result and status, and let the hypothesis follow.

        A preliminary verdict is kept beside the experiment, which goes on, and moves nothing.
        """
        old = experiment_in(session, self.id)
        hypothesis = hypothesis_in(session, old.hypothesis)
        if self.result.is_preliminary:
            new = changed(
                old,
                status=ExperimentStatus.RUNNING,
                result=self.result,
                started=old.started or at,
                ended=None,
            )
            session = changed(session, experiments=swapped(session.experiments, old, new))
            return _testing(session, old.hypothesis)
        status = ExperimentStatus(self.result.outcome.value)
        new = changed(old, status=status, result=self.result, started=old.started or at, ended=at)
        moved = judged(hypothesis, new, self.result, at)
        return changed(
            session,
            experiments=swapped(session.experiments, old, new),
            hypotheses=swapped(session.hypotheses, hypothesis, moved),
        )

    def said(self, session: Session) -> str:
        """What it does."""
        so_far = " so far" if self.result.is_preliminary else ""
        return f"{self.id} {self.result.outcome.value}{so_far}: {clipped(self.result.summary)}"


class CancelExperiment(Action):
    """Give an experiment up, or take it up again."""

    op: Literal["cancel_experiment"] = "cancel_experiment"
    id: str
    is_cancelled: bool = True

    def apply(self, session: Session, at: datetime) -> Session:
        """Cancel it; taken up again it is planned, or running if it has a run."""
        old = experiment_in(session, self.id)
        if old.status in (ExperimentStatus.PASSED, ExperimentStatus.FAILED):
            raise Refused(f"{self.id} is over: it {_ended(old.status)}")
        status = ExperimentStatus.CANCELLED
        if not self.is_cancelled:
            status = ExperimentStatus.RUNNING if old.started else ExperimentStatus.PLANNED
        new = changed(old, status=status)
        return changed(session, experiments=swapped(session.experiments, old, new))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"{'cancelled' if self.is_cancelled else 'took up'} {self.id}"


class RemoveExperiment(Action):
    """Take an experiment off the list."""

    op: Literal["remove_experiment"] = "remove_experiment"
    id: str

    def apply(self, session: Session, at: datetime) -> Session:
        """Remove it; what it did to its hypothesis stays in the history."""
        old = experiment_in(session, self.id)
        return changed(session, experiments=without(session.experiments, old))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"removed {self.id}"


class MoveExperiment(Action):
    """Put an experiment further up or down among those of its hypothesis."""

    op: Literal["move_experiment"] = "move_experiment"
    id: str
    by: int

    def apply(self, session: Session, at: datetime) -> Session:
        """Move it as far as it goes."""
        old = experiment_in(session, self.id)
        siblings = moved(session.experiments_of(old.hypothesis), old, self.by)
        others = tuple(e for e in session.experiments if e.hypothesis != old.hypothesis)
        return changed(session, experiments=(*others, *siblings))

    def said(self, session: Session) -> str:
        """What it does."""
        return f"moved {self.id} {'up' if self.by < 0 else 'down'}"


def _ended(status: ExperimentStatus) -> str:
    return "was cancelled" if status is ExperimentStatus.CANCELLED else status.value


def _testing(session: Session, id: str) -> Session:  # noqa: A002 - what it is
    old = hypothesis_in(session, id)
    if old.status not in (HypothesisStatus.OPEN, HypothesisStatus.PARKED):
        return session
    new = changed(old, status=HypothesisStatus.TESTING)
    return changed(session, hypotheses=swapped(session.hypotheses, old, new))
