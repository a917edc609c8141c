"""A checked opinion as the screen draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from mltd.diagnosis.answer.citation import quote_of
from mltd.diagnosis.citations import CheckedCitation, Danger, hypothesis_of, side_by_side
from mltd.diagnosis.citations.record import places as held
from mltd.sessions.model.base import writable
from mltd.sessions.model.evidence import EvidenceRef

from ..consult_protocol import Cited, Needed, OpinedCause, OpinedFix, OpinionPage, Stand

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.diagnosis.citations import CheckedCause, CheckedFix, CheckedOpinion

    from .grounds import Grounds
    from .places import Places

_NO_ID = "H0"
"""The hypothesis gets one of its own when it is adopted."""


def lay_out(
    checked: CheckedOpinion,
    diagnoses: Sequence[Diagnosis],
    grounds: Grounds,
    places: Places,
    at: datetime,
) -> OpinionPage:
    """The opinion beside what the analyzers say now; `at` is when it was given."""
    return OpinionPage(
        status=checked.status.value,
        summary=checked.summary,
        tally=checked.tally,
        causes=tuple(_cause(cause, checked, grounds, places, at) for cause in checked.causes),
        fixes=(
            *(
                OpinedFix(one.text, is_quick=True, dangers=_dangers(one.dangers))
                for one in checked.quick_fixes
            ),
            *map(_fix, checked.recommended_fixes),
        ),
        needed=tuple(Needed(one.what, one.why, one.how) for one in checked.needed_data),
        stands=tuple(
            Stand(
                row.relation.value,
                row.subject,
                row.ours,
                row.ours_confidence,
                row.claudes,
                row.claudes_confidence,
                row.why,
            )
            for row in side_by_side(checked, *diagnoses)
        ),
        notes=checked.notes,
    )


def _cause(
    checked: CheckedCause, whole: CheckedOpinion, grounds: Grounds, places: Places, at: datetime
) -> OpinedCause:
    cause = checked.cause
    return OpinedCause(
        id=cause.failure_mode,
        issue=cause.issue,
        severity=cause.severity.value,
        confidence=checked.confidence,
        said=checked.said,
        basis=cause.basis.value,
        ceiling=cause.basis.ceiling,
        is_known=checked.is_known,
        explanation=cause.explanation,
        explains=cause.explains,
        evidence=tuple(_cited(one, places) for one in checked.evidence),
        against=tuple(_cited(one, places) for one in checked.against),
        notes=checked.notes,
        hypothesis=_hypothesis(checked, whole, grounds, places, at),
    )


def _cited(checked: CheckedCitation | str, places: Places) -> Cited:
    if isinstance(checked, str):
        return Cited("words", shows=checked)
    found = places.find(checked)
    return Cited(
        kind=checked.citation.kind,
        place=checked.place,
        ref=found.ref,
        run=places.number_of(found.key),
        quote=quote_of(checked.citation),
        shows=checked.citation.shows,
        verdict=checked.verdict.value,
        reason=checked.reason,
    )


def _hypothesis(
    checked: CheckedCause, whole: CheckedOpinion, grounds: Grounds, places: Places, at: datetime
) -> str:
    """JSON of what the cause would be in the session, about the run that its evidence is in."""
    cited = Counter(found.key for one in held(checked.evidence) if (found := places.find(one)).key)
    run = cited.most_common(1)[0][0] if cited else grounds.main
    made = hypothesis_of(_NO_ID, checked, whole, at, grounds.id_of(run))
    kept = made.model_copy(
        update={
            "evidence": _refs(held(checked.evidence), made.evidence, grounds, places),
            "against": _refs(held(checked.against), made.against, grounds, places),
        }
    )
    return kept.model_dump_json()


def _refs(
    cited: Iterable[CheckedCitation],
    refs: Iterable[EvidenceRef],
    grounds: Grounds,
    places: Places,
) -> tuple[EvidenceRef, ...]:
    """The same references by the names that checklist and report know, each with its run."""
    made = []
    for one, ref in zip(cited, refs, strict=True):
        found = places.find(one)
        run = grounds.id_of(found.key) or ref.run
        made.append(ref.model_copy(update={"ref": writable(found.ref) or ref.ref, "run": run}))
    return tuple(made)


def _fix(checked: CheckedFix) -> OpinedFix:
    fix = checked.fix
    return OpinedFix(
        title=fix.title,
        change=fix.change,
        example=fix.example,
        addresses=fix.addresses,
        expected=": ".join(part for part in (fix.metric, fix.expected_impact) if part),
        verify=fix.verify,
        if_it_fails=fix.if_it_fails,
        is_reversible=fix.is_reversible,
        dangers=_dangers(checked.dangers),
    )


def _dangers(found: Iterable[Danger]) -> tuple[str, ...]:
    return tuple(f"{one.reason} ({one.match})" for one in found)
