"""Phases 2 and 3: reproduction, isolation, hypotheses, experiments, criteria."""

from __future__ import annotations

from ..facts.gathered import Seen
from ..model.criterion import DEFAULT_IMPROVEMENT
from ..model.experiment import ExperimentStatus, Purpose, Variable
from ..model.hypothesis import HypothesisStatus
from ..model.session import Session
from .look import Look, alive, counted, done, lacking, shown_by, some
from .showing import shows

_UNDECIDED = (HypothesisStatus.OPEN, HypothesisStatus.TESTING)


def reproduced(session: Session, seen: Seen | None) -> Look:
    """An experiment that made it fail again."""
    tries = [e for e in alive(session) if e.purpose is Purpose.REPRODUCTION]
    for experiment in tries:
        if experiment.status is ExperimentStatus.PASSED:
            said = f"{experiment.id} failed again as expected"
            return done(f"{said}: {experiment.change}", shown_by(experiment))
    if not tries:
        return lacking(
            "nobody has tried yet: plan an experiment that reproduces it on the smallest slice"
        )
    return lacking(f"{tries[-1].id} is {tries[-1].status.value}: link its run, or plan another")


def isolated(session: Session, variable: Variable) -> Look:
    """An experiment on one variable that is over, and what it showed."""
    # A reproduction changes nothing but the size of things, so it isolates nothing.
    tries = [e for e in alive(session) if e.variable is variable and e.purpose is Purpose.FIX]
    for status in (ExperimentStatus.PASSED, ExperimentStatus.FAILED):
        for experiment in tries:
            result = experiment.result
            if experiment.status is not status or result is None or result.is_preliminary:
                continue
            if said := shows(experiment, result):
                return done(said, shown_by(experiment))
    if not tries:
        return lacking(f"no experiment changes the {variable.value} alone: plan one, or waive this")
    last = tries[-1]
    is_going = last.status is ExperimentStatus.RUNNING and last.run
    if is_going or (last.result is not None and last.result.is_preliminary):
        return lacking(f"the run of {last.id} is not over: its verdict is preliminary")
    if last.status is ExperimentStatus.FAILED:
        return lacking(f"{last.id} failed, but its target is undecided: plan another")
    return lacking(f"{last.id} is {last.status.value}: link its run to get a verdict")


def isolate_data(session: Session, seen: Seen | None) -> Look:
    """Batches, labels, preprocessing."""
    return isolated(session, Variable.DATA)


def isolate_model(session: Session, seen: Seen | None) -> Look:
    """Architecture, initialisation, precision."""
    return isolated(session, Variable.MODEL)


def isolate_optimiser(session: Session, seen: Seen | None) -> Look:
    """Learning rate, schedule, clipping, state."""
    return isolated(session, Variable.OPTIMISER)


def hypotheses(session: Session, seen: Seen | None) -> Look:
    """At least one."""
    if session.hypotheses:
        ids = some([hypothesis.id for hypothesis in session.hypotheses])
        return done(f"{counted(len(session.hypotheses), 'statement')}: {ids}")
    return lacking("none is written down: take one over from a finding, or add your own")


def experiments(session: Session, seen: Seen | None) -> Look:
    """One for each hypothesis that is not decided."""
    if not session.hypotheses:
        return lacking("there is no hypothesis to test yet: write one down first")
    undecided = [h for h in session.hypotheses if h.status in _UNDECIDED]
    planned = {experiment.hypothesis for experiment in alive(session)}
    untested = [h.id for h in undecided if h.id not in planned]
    if untested:
        return lacking(f"{some(untested)} cannot be decided yet: plan an experiment for it")
    if not undecided:
        return done(f"no hypothesis is open: {some([h.id for h in session.hypotheses])}")
    ids = some([e.id for e in alive(session) if e.hypothesis in {h.id for h in undecided}])
    return done(f"{some([h.id for h in undecided])}: {ids}")


def criteria(session: Session, seen: Seen | None) -> Look:
    """Every experiment is judged by something that was fixed before: its own criteria, or a bar."""
    planned = alive(session)
    if not planned:
        return lacking("there is no experiment yet: plan one, and say what it must show")
    own = [experiment for experiment in planned if experiment.success]
    count = sum(len(experiment.success) for experiment in own)
    noun = "criterion" if count == 1 else "criteria"
    rest = [experiment for experiment in planned if not experiment.success]
    by_bar = some([e.id for e in rest if e.purpose is Purpose.FIX])
    again = some([e.id for e in rest if e.purpose is Purpose.REPRODUCTION])
    said = (
        f"{count} {noun} for {some([experiment.id for experiment in own])}" if own else "",
        f"{by_bar} by the default bar ({DEFAULT_IMPROVEMENT:.0%})" if by_bar else "",
        f"{again} by whether it fails again" if again else "",
    )
    return done("; ".join(filter(None, said)))
