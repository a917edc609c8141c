"""How the verdict on an experiment moves its hypothesis."""

from __future__ import annotations

from datetime import datetime

from mltd.analyzers.core.finding import Basis

from ..model.confidence import Confidence, ConfidenceChange
from ..model.evidence import EvidenceRef, RefKind
from ..model.experiment import Experiment, Purpose
from ..model.hypothesis import Hypothesis, HypothesisStatus
from ..model.result import BeforeAfter, Outcome
from .base import changed

_SHARE_OF_DOUBT = 2 / 3
"""Of the doubt that is left below the ceiling, a passed experiment takes this share."""
_LOWERED = 0.5
"""A failed one that does not refute leaves this share of the confidence."""
_REFUTED = 0.1


def judged(
    hypothesis: Hypothesis, experiment: Experiment, result: BeforeAfter, at: datetime
) -> Hypothesis:
    """The hypothesis after a verdict: lifted, lowered, refuted, or as it was; always recorded."""
    shown = EvidenceRef(
        kind=RefKind.EXPERIMENT, ref=experiment.id, quote=result.summary, run=experiment.run
    )
    old, status = _before(hypothesis, experiment)
    confidence = old
    evidence = _without(hypothesis.evidence, shown)
    against = _without(hypothesis.against, shown)
    if result.outcome is Outcome.PASSED and experiment.purpose is Purpose.REPRODUCTION:
        # That it fails again shows the incident, not its cause.
        evidence = (*evidence, shown)
        reason = f"{experiment.id} reproduced it: {result.summary}"
    elif result.outcome is Outcome.PASSED:
        ceiling = Basis.OBSERVATION.ceiling
        lifted = old.value + (ceiling - old.value) * _SHARE_OF_DOUBT
        confidence = Confidence(value=round(lifted, 4), basis=Basis.OBSERVATION)
        status, evidence = HypothesisStatus.CONFIRMED, (*evidence, shown)
        reason = f"{experiment.id} passed: {result.summary}"
    elif result.outcome is Outcome.FAILED and experiment.purpose is Purpose.REPRODUCTION:
        reason = f"{experiment.id} did not reproduce it: {result.summary}"
    elif result.outcome is Outcome.FAILED and _is_cured(result):
        # That a change costs too much says nothing against the cause that it removes.
        reason = f"{experiment.id} cured it at too high a price: {result.summary}"
    elif result.outcome is Outcome.FAILED:
        against = (*against, shown)
        if result.excludes_success:
            confidence = Confidence(value=min(old.value, _REFUTED), basis=Basis.OBSERVATION)
            status = HypothesisStatus.REFUTED
            reason = f"{experiment.id} refuted it: {result.summary}"
        else:
            confidence = changed(old, value=round(old.value * _LOWERED, 4))
            status = HypothesisStatus.OPEN
            reason = f"{experiment.id} failed: {result.summary}"
    else:
        reason = f"{experiment.id} was inconclusive: {result.summary}"
    step = ConfidenceChange(at=at, confidence=confidence, reason=reason, source=experiment.id)
    return changed(
        hypothesis,
        confidence=confidence,
        status=status,
        evidence=evidence,
        against=against,
        history=(*hypothesis.history, step),
    )


def _before(hypothesis: Hypothesis, experiment: Experiment) -> tuple[Confidence, HypothesisStatus]:
    """What was believed before this experiment spoke: a newer verdict of the same one replaces
    the last, and does not count twice."""
    history = list(hypothesis.history)
    while history and history[-1].source == experiment.id:
        history.pop()
    if not history or len(history) == len(hypothesis.history):
        return hypothesis.confidence, hypothesis.status
    return history[-1].confidence, HypothesisStatus.TESTING


def _is_cured(result: BeforeAfter) -> bool:
    """All that was to become better did; only a guarded metric suffered."""
    wanted = [one.outcome for one in result.criteria if not one.is_guard]
    return bool(wanted) and all(outcome is Outcome.PASSED for outcome in wanted)


def _without(pieces: tuple[EvidenceRef, ...], piece: EvidenceRef) -> tuple[EvidenceRef, ...]:
    """A later verdict of an experiment replaces an earlier one, on whichever side it stood."""
    return tuple(p for p in pieces if (p.kind, p.ref) != (piece.kind, piece.ref))
