"""From an opinion to one whose every citation was looked up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

from ..answer.citation import (
    Citation,
    ConfigCitation,
    FindingCitation,
    LogCitation,
    SeriesCitation,
    SourceCitation,
)
from ..answer.opinion import Opinion, OpinionStatus, RootCauseOpinion
from ..answer.vocabulary import known_ids
from .checked import CheckedCause, CheckedCitation, CheckedFix, CheckedOpinion, CheckedText, Verdict
from .confidence import judged
from .config import check_config
from .desk import Book, Cleaner, Desk, Struck, Unreadable
from .destructive import dangers_of_fix, dangers_of_text
from .elsewhere import seek
from .findings import check_finding
from .lines import LineLook, Sought
from .series import check_series

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis

ENOUGH = 0.80
"""A best cause below this needs more data, as for the analyzers."""
CHECK_SECONDS = 20.0
"""For all citations together."""
ByOwner: TypeAlias = Callable[[Callable[[], CheckedCitation]], CheckedCitation]
"""Has the owner of the runs take a look, and returns or raises what came of it."""


def check(opinion: Opinion, book: Book, **more: Unpack[Means]) -> CheckedOpinion:
    """The opinion with a verdict on every citation."""
    looking = Check(opinion, book, **more)
    looking.run()
    return looking.result()


class Means(TypedDict, total=False):
    """What citations are checked with, beside the files."""

    diagnoses: Iterable[Diagnosis] | Mapping[str, Diagnosis]
    masker: Cleaner | None
    """What the evidence has passed."""
    clock: Callable[[], float]
    seconds: float
    by_owner: ByOwner | None
    """For whoever must not look at runs that somebody else reads into: has a look taken by their
    owner. Files are looked at here."""
    on_progress: Callable[[int, int], None] | None
    """Is told how many citations of how many have their verdict."""


class Check:
    """Looks up the citations of an opinion; what came of it can be had at any time.

    First each one at its place, which takes moments; then the rest of the files is searched for
    those that are not there. The best causes come first, and no cause waits for all of another.
    """

    def __init__(self, opinion: Opinion, book: Book, **more: Unpack[Means]) -> None:
        found = more.get("diagnoses", ())
        clock = more.get("clock", time.monotonic)
        self._opinion = opinion
        self._desk = Desk(
            book,
            tuple(found.values() if isinstance(found, Mapping) else found),
            more.get("masker"),
            clock,
            clock() + more.get("seconds", CHECK_SECONDS),
        )
        self._by_owner = more.get("by_owner")
        self._on_progress = more.get("on_progress")
        self._cited = _in_turn(opinion)
        self._seen: dict[Citation, CheckedCitation] = {}
        self._open: set[Citation] = set()
        """Not at their places; the rest of their files is still to be searched."""
        self._lock = threading.Lock()
        self._is_stopped = False

    def run(self) -> None:
        """Look all of them up; ends soon after a stop."""
        looks = list(filter(None, map(self._look_up, dict.fromkeys(self._cited))))
        for verdict in seek(looks, self._desk, lambda: self._is_stopped):
            self._settle(verdict)

    def stop(self) -> None:
        """Leave it at what is known by now, for good."""
        with self._lock:
            self._is_stopped = True

    def result(self) -> CheckedOpinion:
        """The opinion with a verdict on every citation; one that was not looked up is open."""
        with self._lock:
            seen, unsought = dict(self._seen), len(self._open)
        causes = sorted(
            (_cause(cause, seen) for cause in self._opinion.root_causes),
            key=lambda one: -one.confidence,
        )
        status, notes = _status(self._opinion, causes)
        unseen = sum(one not in seen for one in self._cited)
        return CheckedOpinion(
            opinion=self._opinion,
            status=status,
            causes=tuple(causes),
            quick_fixes=tuple(
                CheckedText(text=text, dangers=dangers_of_text(text))
                for text in self._opinion.quick_fixes
            ),
            recommended_fixes=tuple(
                CheckedFix(fix=fix, dangers=dangers_of_fix(fix))
                for fix in self._opinion.recommended_fixes
            ),
            notes=(*_stopped(unseen, len(self._cited), unsought), *notes, *self._opinion.notes),
        )

    def _look_up(self, citation: Citation) -> LineLook | None:
        """Settle it, or return a quotation that has to be searched for."""
        if self._is_stopped:
            return None
        if not isinstance(citation, LogCitation | SourceCitation):
            self._settle(check_citation(citation, self._desk, self._by_owner))
            return None
        try:
            look = LineLook(citation, self._desk)
            verdict = look.at_place()
        except Exception as problem:  # noqa: BLE001 - what cannot be checked must not hide the rest
            self._settle(_failed(citation, problem))
            return None
        self._settle(verdict or look.unfound(Sought()), is_final=verdict is not None)
        return look if verdict is None else None

    def _settle(self, verdict: CheckedCitation, *, is_final: bool = True) -> None:
        with self._lock:
            if self._is_stopped:
                return
            self._seen[verdict.citation] = verdict
            (self._open.discard if is_final else self._open.add)(verdict.citation)
            done = sum(one in self._seen and one not in self._open for one in self._cited)
        if is_final and self._on_progress is not None:
            self._on_progress(done, len(self._cited))


def check_citation(
    citation: Citation, desk: Desk, by_owner: ByOwner | None = None
) -> CheckedCitation:
    """One citation with its verdict, where it is said to stand; never raises."""
    try:
        if by_owner is None or isinstance(citation, LogCitation | SourceCitation):
            return _looked_up(citation, desk)
        return by_owner(lambda: _looked_up(citation, desk))
    except Exception as problem:  # noqa: BLE001 - what cannot be checked must not hide the rest
        return _failed(citation, problem)


def _failed(citation: Citation, problem: Exception) -> CheckedCitation:
    verdict, reason = Verdict.UNREADABLE, str(problem)
    if isinstance(problem, Struck):
        verdict = Verdict.WRONG
    elif not isinstance(problem, Unreadable):
        reason = f"the check failed: {type(problem).__name__}"
    return CheckedCitation(citation=citation, verdict=verdict, reason=reason)


def _in_turn(opinion: Opinion) -> list[Citation]:
    """All citations: the first ones of all causes, the best cause first, then the second ones."""
    causes = sorted(opinion.root_causes, key=lambda one: -min(one.confidence, one.basis.ceiling))
    cited = [
        [*cause.evidence, *(one for one in cause.against if not isinstance(one, str))]
        for cause in causes
    ]
    return [one for row in zip_longest(*cited) for one in row if one is not None]


def _looked_up(citation: Citation, desk: Desk) -> CheckedCitation:
    match citation:
        case LogCitation() | SourceCitation():
            look = LineLook(citation, desk)
            return look.at_place() or look.unfound(Sought())
        case SeriesCitation():
            return check_series(citation, desk)
        case ConfigCitation():
            return check_config(citation, desk)
        case FindingCitation():
            return check_finding(citation, desk)


def _cause(cause: RootCauseOpinion, seen: Mapping[Citation, CheckedCitation]) -> CheckedCause:
    def checked(one: Citation) -> CheckedCitation:
        return seen.get(one) or CheckedCitation(
            citation=one, verdict=Verdict.UNREADABLE, reason="the check was stopped"
        )

    evidence = tuple(checked(one) for one in cause.evidence)
    against = tuple(one if isinstance(one, str) else checked(one) for one in cause.against)
    result = judged(cause, evidence, [one for one in against if isinstance(one, CheckedCitation)])
    return CheckedCause(
        cause=cause,
        confidence=round(result.confidence, 4),
        said=cause.confidence,
        is_known=cause.failure_mode in known_ids(),
        evidence=evidence,
        against=against,
        notes=result.notes,
    )


def _stopped(unseen: int, total: int, unsought: int) -> list[str]:
    """What a check that was stopped has left open; nothing if it was not."""
    if unseen:
        return [f"the check was stopped: {unseen} of {total} citations were not looked up"]
    if unsought:
        return [
            f"the check was stopped: {unsought} of {total} citations are not where they were said "
            "to be, and were not looked for elsewhere"
        ]
    return []


def _status(opinion: Opinion, causes: Sequence[CheckedCause]) -> tuple[OpinionStatus, list[str]]:
    """The status that the causes still bear, and what is to be said about it."""
    status, notes = opinion.status, []
    best = max((cause.confidence for cause in causes), default=0.0)
    if status is OpinionStatus.DIAGNOSIS_COMPLETE and best < ENOUGH:
        status = OpinionStatus.NEEDS_MORE_DATA
        notes.append(
            f"Claude called the diagnosis complete; its best cause has {best:.2f} after the "
            f"check, and below {ENOUGH:.2f} more data is needed"
        )
    wants = (OpinionStatus.NEEDS_MORE_DATA, OpinionStatus.NOT_ENOUGH_ACCESS)
    if status in wants and not opinion.needed_data:
        notes.append("Claude does not say which data would settle it: ask for that")
    return status, notes
