"""What the app sees when it looks at one item of the checklist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model.evidence import EvidenceRef, RefKind
from ..model.experiment import Experiment, ExperimentStatus, Purpose
from ..model.session import Session


class Look(NamedTuple):
    """Done on this evidence, or what is missing and what to do about it: one sentence."""

    is_done: bool
    said: str
    evidence: tuple[EvidenceRef, ...] = ()


def done(said: str, *evidence: EvidenceRef) -> Look:
    """Something that can be seen."""
    return Look(True, said, evidence)


def lacking(said: str) -> Look:
    """Something that cannot."""
    return Look(False, said)


def some(names: Sequence[str], most: int = 4) -> str:
    """The first names of a list, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def counted(number: int, noun: str) -> str:
    """1 log, 12,000 lines."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown_by(experiment: Experiment) -> EvidenceRef:
    """An experiment as evidence."""
    quote = experiment.result.summary if experiment.result is not None else experiment.status.value
    return EvidenceRef(kind=RefKind.EXPERIMENT, ref=experiment.id, quote=quote, run=experiment.run)


def passed_fixes(session: Session) -> list[Experiment]:
    """Experiments whose change was seen to work."""
    return [
        experiment
        for experiment in session.experiments
        if experiment.status is ExperimentStatus.PASSED and experiment.purpose is Purpose.FIX
    ]


def alive(session: Session) -> list[Experiment]:
    """Experiments that nobody has given up."""
    return [e for e in session.experiments if e.status is not ExperimentStatus.CANCELLED]
