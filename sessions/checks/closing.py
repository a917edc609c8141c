"""Phases 4 and 5: fix, validation, hand-off and prevention."""

from __future__ import annotations

from ..facts.gathered import Seen
from ..model.evidence import EvidenceRef, RefKind
from ..model.hypothesis import HypothesisStatus
from ..model.records import PreventionKind
from ..model.result import MetricChange, Outcome
from ..model.session import Session
from .look import Look, counted, done, lacking, passed_fixes, shown_by, some

_GRADIENT = "grad"
_NO_FIX = "no fix has passed yet: run an experiment and link what came out of it"


def minimal_fix(session: Session, seen: Seen | None) -> Look:
    """A change that an experiment has shown to work."""
    fixes = passed_fixes(session)
    if not fixes:
        return lacking(_NO_FIX)
    return done(f"{fixes[0].id} passed: {fixes[0].change}", *map(shown_by, fixes[:3]))


def per_split(session: Session, seen: Seen | None) -> Look:
    """Metrics of the training data and of others, in the incident's run or in the fixed one."""
    train, held_out = [], []
    if seen is not None:
        train, held_out = list(seen.names_of("train")), list(seen.names_of("val", "test"))
    for change in _after(session):
        role = change.role or ""
        if role.startswith("train/"):
            train.append(change.name)
        elif role.startswith(("val/", "test/")):
            held_out.append(change.name)
    train, held_out = list(dict.fromkeys(train)), list(dict.fromkeys(held_out))
    if train and held_out:
        refs = [_series(name) for name in (train[0], held_out[0])]
        return done(f"train: {some(train, 3)}; held out: {some(held_out, 3)}", *refs)
    if train:
        return lacking("only the training data is measured: log the loss on a validation split too")
    if held_out:
        return lacking("only held-out data is measured: log the training loss too")
    return lacking("no metric says which split it was measured on: log train and validation loss")


def gradients(session: Session, seen: Seen | None) -> Look:
    """Loss and gradients as curves, in the incident's run or in the one after the change."""
    losses: list[str] = []
    norms: list[str] = []
    if seen is not None:
        losses += seen.with_role("train/loss", "val/loss")
        norms += seen.gradients
    for change in _after(session):
        if (change.role or "").endswith("/loss"):
            losses.append(change.name)
        elif change.role == "grad_norm" or _GRADIENT in change.name.casefold():
            norms.append(change.name)
    if losses and norms:
        return done(f"{losses[0]} beside {norms[0]}", _series(losses[0]), _series(norms[0]))
    if losses:
        return lacking("the gradient norm is not logged: log grad_norm in the next run")
    return lacking("neither loss nor gradients are logged: log both in the next run")


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
    """A confirmed hypothesis."""
    confirmed = [h for h in session.hypotheses if h.status is HypothesisStatus.CONFIRMED]
    if confirmed:
        one = confirmed[0]
        return done(f"{one.id}, {one.confidence}: {one.statement}", *one.evidence[:3])
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


def _after(session: Session) -> list[MetricChange]:
    """Metrics that the runs after a change have logged."""
    return [
        change
        for experiment in session.experiments
        if experiment.result is not None
        for change in experiment.result.changes
        if change.after is not None
    ]


def _series(name: str) -> EvidenceRef:
    return EvidenceRef(kind=RefKind.SERIES, ref=name)
