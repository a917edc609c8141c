"""Phases 4 and 5: fix, validation, hand-off and prevention."""

from __future__ import annotations

from collections.abc import Callable

from mltd.analyzers.core.finding import Basis

from ..facts.gathered import EXPENSES, Seen
from ..model.evidence import EvidenceRef, RefKind
from ..model.experiment import Experiment, ExperimentStatus, Purpose
from ..model.hypothesis import HypothesisStatus
from ..model.records import PreventionKind
from ..model.result import MetricChange, Outcome
from ..model.session import Session
from .look import Look, alive, counted, done, lacking, passed_fixes, shown_by, some

_GRADIENT = "grad"
_NOT_MEASURED = "no fix was measured yet: run an experiment, and link its run to compare them"
_NO_FIX = "no fix has passed yet: run an experiment and link what came out of it"


def minimal_fix(session: Session, seen: Seen | None) -> Look:
    """A change that an experiment has shown to work."""
    fixes = passed_fixes(session)
    if not fixes:
        return lacking(_NO_FIX)
    return done(f"{fixes[0].id} passed: {fixes[0].change}", *map(shown_by, fixes[:3]))


def per_split(session: Session, seen: Seen | None) -> Look:
    """One try of a fix that was measured on the training data and on others."""
    for experiment in _measured(session):
        train = _logged(experiment, lambda change: _role(change).startswith("train/"))
        held_out = _logged(experiment, lambda change: _role(change).startswith(("val/", "test/")))
        if train and held_out:
            said = f"{experiment.id}: train: {some(train, 3)}; held out: {some(held_out, 3)}"
            return done(said, shown_by(experiment), _series(train[0]), _series(held_out[0]))
    if not (tried := _measured(session)):
        return lacking(_NOT_MEASURED)
    return lacking(
        f"{tried[0].id} was not measured on both: log train and validation loss in its run"
    )


def gradients(session: Session, seen: Seen | None) -> Look:
    """One try of a fix that shows the loss and the gradients."""
    for experiment in _measured(session):
        losses = _logged(experiment, lambda change: _role(change).endswith("/loss"))
        norms = _logged(experiment, _is_gradient)
        if losses and norms:
            said = f"{experiment.id}: {losses[0]} beside {norms[0]}"
            return done(said, shown_by(experiment), _series(losses[0]), _series(norms[0]))
    if not (tried := _measured(session)):
        return lacking(_NOT_MEASURED)
    if _logged(tried[0], _is_gradient):
        return lacking(f"{tried[0].id} shows no loss: log the loss in its run too")
    return lacking(f"{tried[0].id} shows no gradients: log grad_norm in its run")


def no_regression(session: Session, seen: Seen | None) -> Look:
    """Guarded metrics of the fix held."""
    fixes = passed_fixes(session)
    if not fixes:
        return lacking(_NO_FIX)
    for experiment in fixes:
        guards = [c for c in experiment.result.criteria if c.is_guard] if experiment.result else []
        held = [guard for guard in guards if guard.outcome is Outcome.PASSED]
        if held and not any(guard.outcome is Outcome.FAILED for guard in guards):
            open_ones = len(guards) - len(held)
            undecided = f", {open_ones} undecided" if open_ones else ""
            names = some([guard.criterion for guard in held], 2)
            said = f"{experiment.id}: {counted(len(held), 'guard')} held{undecided}: {names}"
            return done(said, shown_by(experiment))
    failed = [
        guard.criterion
        for experiment in fixes
        if experiment.result is not None
        for guard in experiment.result.criteria
        if guard.is_guard and guard.outcome is Outcome.FAILED
    ]
    if failed:
        return lacking(
            f"it got worse: {some(failed, 2)}; find a smaller change, or accept it by a waiver"
        )
    return lacking(f"{fixes[0].id} guards no metric: plan it again with guards, or compare by hand")


def rollback(session: Session, seen: Seen | None) -> Look:
    """The fix says how to take it back."""
    fixes = passed_fixes(session)
    if not fixes:
        return lacking(_NO_FIX)
    for experiment in fixes:
        if experiment.rollback.strip():
            return done(f"{experiment.id}: {experiment.rollback}")
    return lacking(f"{fixes[0].id} does not say how to take it back: add a rollback note")


def monitors(session: Session, seen: Seen | None) -> Look:
    """A monitor or a test that is in place: one that is only planned rings for nobody."""
    items = [
        item
        for item in session.prevention
        if item.kind in (PreventionKind.MONITOR, PreventionKind.TEST)
    ]
    ready = [item for item in items if item.is_done]
    if ready:
        owner = f" ({ready[0].owner})" if ready[0].owner else ""
        return done(f"{ready[0].id}: {ready[0].text}{owner}")
    if items:
        return lacking(
            f"{some([item.id for item in items])} is planned: mark it done when it is in place"
        )
    return lacking("nothing would ring if it came back: add a monitor or a test")


def root_cause(session: Session, seen: Seen | None) -> Look:
    """A confirmed hypothesis that rests on something seen."""
    confirmed = [h for h in session.hypotheses if h.status is HypothesisStatus.CONFIRMED]
    for one in confirmed:
        if one.confidence.basis is Basis.OBSERVATION:
            return done(f"{one.id}, {one.confidence}: {one.statement}", *one.evidence[:3])
    if confirmed:
        one = confirmed[0]
        return lacking(
            f"{one.id} is confirmed, but by {one.confidence.basis.value} alone: show it in an "
            "experiment, or set its confidence on what was observed"
        )
    if session.hypotheses:
        return lacking(
            "no hypothesis is confirmed: decide one, or waive this and say that none was"
        )
    return lacking("there is no hypothesis yet: write one down first")


def ceiling(session: Session, seen: Seen | None) -> Look:
    """Every hypothesis says how sure, on what basis, and how sure it could be at most."""
    if not session.hypotheses:
        return lacking("there is no hypothesis yet, so nothing to be sure of")
    return done("; ".join(f"{h.id} {h.confidence}" for h in session.hypotheses[:4]))


def _measured(session: Session) -> list[Experiment]:
    """Fixes of which a run was compared, those that passed first."""
    tried = [e for e in alive(session) if e.purpose is Purpose.FIX and e.result is not None]
    return sorted(tried, key=lambda experiment: experiment.status is not ExperimentStatus.PASSED)


def _logged(experiment: Experiment, is_wanted: Callable[[MetricChange], bool]) -> list[str]:
    """Names of the metrics that the run after the change logged; what it costs is none."""
    changes = experiment.result.changes if experiment.result is not None else ()
    names = (
        change.name
        for change in changes
        if change.after is not None
        and is_wanted(change)
        and _role(change).rpartition("/")[2] not in EXPENSES
    )
    return list(dict.fromkeys(names))


def _role(change: MetricChange) -> str:
    return change.role or ""


def _is_gradient(change: MetricChange) -> bool:
    return change.role == "grad_norm" or _GRADIENT in change.name.casefold()


def _series(name: str) -> EvidenceRef:
    return EvidenceRef(kind=RefKind.SERIES, ref=name)
