"""Claude's opinion beside the analyzers' verdict: where they agree and where they do not."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from mltd.runs.roles import normalise
from mltd.sessions.model.base import Part

from ..answer.citation import FindingCitation, SeriesCitation
from ..answer.opinion import Agreement, OpinionStatus, Stance
from .checked import CheckedCause, CheckedOpinion

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Evidence, Finding
    from mltd.analyzers.core.verdict import Diagnosis


class Relation(StrEnum):
    """How two verdicts stand to each other."""

    AGREE = "agree"
    DISAGREE = "disagree"
    ONLY_CLAUDE = "only Claude"
    ONLY_ANALYZERS = "only analyzers"


class _Word(NamedTuple):
    stance: Stance | None
    why: str


class Row(Part):
    """One thing that is said, by whom, and how sure."""

    relation: Relation
    subject: str
    """`cause` or `finding`."""
    ours: str = ""
    """Id in the analyzers' verdict."""
    ours_confidence: float | None = None
    claudes: str = ""
    """Failure mode in Claude's opinion."""
    claudes_confidence: float | None = None
    why: str = ""
    """Claude's reason, or why the two are put side by side."""


def side_by_side(checked: CheckedOpinion, *diagnoses: Diagnosis) -> tuple[Row, ...]:
    """The causes of both sides, the best first, then our findings that should worry someone."""
    stances = {remark.id: remark for remark in checked.agreement}
    ours = _causes(diagnoses)
    theirs = {cause.cause.failure_mode: cause for cause in reversed(checked.causes)}
    rows = [_shared(cause, theirs[name], stances) for name, cause in ours.items() if name in theirs]
    rest = [cause for name, cause in ours.items() if name not in theirs]
    for cause in checked.causes:
        name = cause.cause.failure_mode
        if name in ours or theirs[name] is not cause:
            continue
        rival = next((one for one in rest if shared_ground(cause, one, diagnoses)), None)
        if rival is None:
            rows.append(
                Row(
                    relation=Relation.ONLY_CLAUDE,
                    subject="cause",
                    claudes=name,
                    claudes_confidence=cause.confidence,
                )
            )
            continue
        rest.remove(rival)
        why = _why(stances, rival.id) or (
            f"both explain {shared_ground(cause, rival, diagnoses)}, by another cause"
        )
        is_addition = _stance(stances, rival.id) in (Stance.AGREES, Stance.ADDS)
        rows.append(
            Row(
                relation=Relation.AGREE if is_addition else Relation.DISAGREE,
                subject="cause",
                ours=rival.id,
                ours_confidence=float(rival.confidence),
                claudes=name,
                claudes_confidence=cause.confidence,
                why=why,
            )
        )
    word = _word_on_the_rest(checked)
    rows += [_alone(cause, stances, word) for cause in rest]
    rows.sort(key=lambda row: -max(row.ours_confidence or 0.0, row.claudes_confidence or 0.0))
    return (*rows, *_findings(checked, diagnoses, stances, word))


def shared_ground(
    cause: CheckedCause, ours: RootCause, diagnoses: tuple[Diagnosis, ...] = ()
) -> str:
    """What both explain: a finding, else a metric that both point at; empty if nothing."""
    named = {one.casefold() for one in cause.cause.explains}
    cited = [one.citation for one in cause.evidence if one.is_confirmed]
    named |= {one.id.casefold() for one in cited if isinstance(one, FindingCitation)}
    if both := [finding for finding in ours.explains if finding in named]:
        return both[0]
    metrics = {normalise(one.name): one.name for one in cited if isinstance(one, SeriesCitation)}
    explained = [f for one in diagnoses for f in one.findings if f.id in ours.explains]
    pieces = [*ours.evidence, *(piece for finding in explained for piece in finding.evidence)]
    return next((metrics[name] for name in map(_metric, pieces) if name in metrics), "")


def _metric(piece: Evidence) -> str:
    return normalise(piece.ref.partition("@")[0]) if piece.kind.value == "series" else ""


def _causes(diagnoses: tuple[Diagnosis, ...]) -> dict[str, RootCause]:
    """Our causes by id; of one that several runs have, the surest."""
    found: dict[str, RootCause] = {}
    for diagnosis in diagnoses:
        for cause in diagnosis.root_causes:
            known = found.get(cause.id)
            if known is None or cause.confidence > known.confidence:
                found[cause.id] = cause
    return found


def _shared(ours: RootCause, theirs: CheckedCause, stances: dict[str, Agreement]) -> Row:
    # To name the same cause is to agree, unless Claude says that it is no more than a rival.
    is_doubted = _stance(stances, ours.id) is Stance.DISAGREES
    return Row(
        relation=Relation.DISAGREE if is_doubted else Relation.AGREE,
        subject="cause",
        ours=ours.id,
        ours_confidence=float(ours.confidence),
        claudes=theirs.cause.failure_mode,
        claudes_confidence=theirs.confidence,
        why=_why(stances, ours.id),
    )


def _word_on_the_rest(checked: CheckedOpinion) -> _Word:
    """What the answer as a whole says about causes and findings that it does not mention."""
    if checked.opinion.status is OpinionStatus.HEALTHY:
        return _Word(Stance.DISAGREES, "Claude calls the run healthy")
    # Who asks for more data denies nothing.
    return _Word(None, "" if checked.causes else "Claude names no cause at all")


def _alone(ours: RootCause, stances: dict[str, Agreement], word: _Word) -> Row:
    return Row(
        relation=_relation(_stance(stances, ours.id) or word.stance),
        subject="cause",
        ours=ours.id,
        ours_confidence=float(ours.confidence),
        why=_why(stances, ours.id) or (word.why if _stance(stances, ours.id) is None else ""),
    )


def _findings(
    checked: CheckedOpinion,
    diagnoses: tuple[Diagnosis, ...],
    stances: dict[str, Agreement],
    word: _Word,
) -> list[Row]:
    used = {one.casefold() for cause in checked.causes for one in cause.cause.explains}
    used |= {
        one.citation.id.casefold()
        for cause in checked.causes
        for one in cause.evidence
        if isinstance(one.citation, FindingCitation)
    }
    ours: dict[str, Finding] = {}
    for diagnosis in diagnoses:
        for finding in diagnosis.findings:
            if finding.is_alarm:
                ours.setdefault(finding.id, finding)
    rows = []
    for name, finding in ours.items():
        stance = _stance(stances, name) or (Stance.AGREES if name in used else None)
        rows.append(
            Row(
                relation=_relation(stance or word.stance),
                subject="finding",
                ours=name,
                ours_confidence=float(finding.confidence),
                why=_why(stances, name)
                or (word.why if stance is None and word.stance is not None else ""),
            )
        )
    return rows


def _relation(stance: Stance | None) -> Relation:
    if stance is None:
        return Relation.ONLY_ANALYZERS
    return Relation.DISAGREE if stance is Stance.DISAGREES else Relation.AGREE


def _stance(stances: dict[str, Agreement], name: str) -> Stance | None:
    remark = stances.get(name.casefold())
    return remark.stance if remark is not None else None


def _why(stances: dict[str, Agreement], name: str) -> str:
    remark = stances.get(name.casefold())
    return remark.why if remark is not None else ""
