"""Ranking: causes weighed by their clues, rivals told apart, confidence within its ceiling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .calibration import cause_confidence
from .case import Case
from .cause import Clue, RootCause
from .finding import Basis, EvidenceKind, Severity
from .registry import Cause

LEAST = 0.10
"""Causes below this are not worth reading."""
TIE = 0.10
"""Rivals closer than this are shown as a tie."""
_TOLD = frozenset({EvidenceKind.LOG.value, EvidenceKind.JOB.value})
ENOUGH = 0.80
"""A best cause below this needs more data."""


ALLIES = frozenset({"lr_too_high", "missing_grad_clipping"})
"""Causes that do not exclude each other: what nothing bounds breaks at a rate that is too high."""


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A cause and what its clues add up to; how sure it may be depends on its rivals."""

    raw: float
    root: RootCause
    is_told: bool
    """A message says so, which is as sure as its wording."""

    @property
    def belief(self) -> float:
        """What the clues add up to, whatever the ceiling."""
        return self.raw / self.root.basis.ceiling


def rank(case: Case, causes: Iterable[Cause], failed: list[str]) -> list[RootCause]:
    """The causes that explain what was found, the best first."""
    ids = {finding.id for finding in case.findings if finding.is_alarm}
    weighed: list[_Weighed] = []
    for cause in causes:
        if not ids.intersection(cause.explains):
            continue
        try:
            found = _weigh(cause, case)
        except Exception as problem:  # noqa: BLE001 - one broken cause must not hide the others
            failed.append(f"cause {cause.id!r} failed: {type(problem).__name__}: {problem}")
            continue
        if found is not None:
            weighed.append(found)
    weighed.sort(key=lambda one: (-one.raw, one.root.id))
    return _made_sure(weighed)


def _made_sure(weighed: list[_Weighed]) -> list[RootCause]:
    """The best is as sure as such scores were right; rivals as their evidence beside its evidence.

    Calibration says how often the best one is right; it was never asked about the others.
    """
    if not weighed:
        return []
    best, *others = weighed
    rival = next((one.raw for one in others if not _are_allies(best.root, one.root)), 0.0)
    sure = cause_confidence(
        best.root.id, best.root.basis, best.belief, rival / best.raw, is_told=best.is_told
    )
    ranked = [replace(best.root, confidence=round(sure, 3))]
    for one in others:
        share = min(sure * one.raw / best.raw, one.root.basis.ceiling)
        ranked.append(replace(one.root, confidence=round(share, 3)))
    return ranked


def _are_allies(one: RootCause, other: RootCause) -> bool:
    return {one.id, other.id} == ALLIES


def _weigh(cause: Cause, case: Case) -> _Weighed | None:
    clues = list(cause.clues(case))
    helping = sorted((c for c in clues if c.weight > 0), key=lambda c: -c.weight)
    against = [c for c in clues if c.weight < 0]
    if not helping:
        return None
    belief = _belief(helping, against)
    basis = _basis(cause, helping)
    raw = belief * basis.ceiling
    if raw < LEAST:
        return None
    explained = tuple(dict.fromkeys(f.id for f in case.findings if f.id in cause.explains))
    severities = [f.severity for f in case.findings if f.id in cause.explains]
    severity = max(severities, key=lambda s: s.rank, default=Severity.INFO)
    root = RootCause(
        id=cause.id,
        issue=cause.issue(case),
        severity=severity,
        explains=explained,
        confidence=0.0,
        basis=basis,
        evidence=tuple(dict.fromkeys(c.evidence for c in helping)),
        against=tuple(dict.fromkeys(c.evidence for c in against)),
        fixes=tuple(cause.fixes(case)),
        requests=tuple(cause.requests(case)),
        first_step=case.onset(*explained),
    )
    # What a message says is as sure as its wording; only weighed measurements are calibrated.
    return _Weighed(raw, root, is_told=all(clue.kind in _TOLD for clue in helping))


def _belief(helping: list[Clue], against: list[Clue]) -> float:
    doubt = 1.0
    for clue in helping:
        doubt *= 1.0 - min(clue.weight, 0.99)
    belief = 1.0 - doubt
    for clue in against:
        belief *= 1.0 - min(-clue.weight, 0.99)
    return belief


def _basis(cause: Cause, helping: list[Clue]) -> Basis:
    """Literal statements are observations; two kinds of evidence make more than a guess."""
    if any(clue.states for clue in helping):
        return Basis.OBSERVATION
    kinds = {clue.kind for clue in helping if clue.weight >= 0.1}
    if len(kinds) >= 2 and cause.basis is not Basis.INFERENCE:
        return cause.basis
    return Basis.INFERENCE
