"""An opinion after its check: what held, what did not, and what that leaves of its confidence."""

from __future__ import annotations

from enum import StrEnum

from mltd.sessions.model.base import Part

from ..answer.citation import Citation, ConfigCitation, SeriesCitation, place_of
from ..answer.opinion import Agreement, Fix, NeededData, Opinion, OpinionStatus, RootCauseOpinion


class Verdict(StrEnum):
    """What the check of a citation came to."""

    CONFIRMED = "confirmed"
    ELSEWHERE = "elsewhere"
    """It is there, but at another line or step than was said."""
    WRONG = "wrong"
    UNREADABLE = "unreadable"
    """It could not be looked at, so nobody knows."""


class CheckedCitation(Part):
    """A citation and what stands at its place."""

    citation: Citation
    verdict: Verdict
    reason: str = ""
    """One sentence; empty if all is as it was said."""
    line: int | None = None
    """Where it stands instead."""
    step: float | None = None
    """The step that was logged instead."""

    @property
    def is_confirmed(self) -> bool:
        """True if it stands in the artifact."""
        return self.verdict in (Verdict.CONFIRMED, Verdict.ELSEWHERE)

    @property
    def is_struck(self) -> bool:
        """True if the artifact shows something else."""
        return self.verdict is Verdict.WRONG

    @property
    def place(self) -> str:
        """Where it really stands, with its run."""
        return place_of(self._moved())

    @property
    def ref(self) -> str:
        """The same as evidence refers to places: `train/loss@24590`, `train.err:812`."""
        citation = self._moved()
        has_run = isinstance(citation, SeriesCitation | ConfigCitation)
        return place_of(citation.model_copy(update={"run": ""}) if has_run else citation)

    def _moved(self) -> Citation:
        moved: dict[str, float | int] = {}
        if self.line is not None:
            moved = {"first_line": self.line, "last_line": self.line}
        elif self.step is not None:
            moved = {"step": self.step}
        return self.citation.model_copy(update=moved)


class Danger(Part):
    """Something in a fix that could destroy, or that runs something."""

    kind: str
    """deletes, overwrites, moves, stops, changes, runs, or unknown: not recognised as harmless."""
    match: str
    """The words that give it away."""
    reason: str


class CheckedText(Part):
    """A line to act on, and what is dangerous about it."""

    text: str
    dangers: tuple[Danger, ...] = ()

    @property
    def is_destructive(self) -> bool:
        """True if it must not be copied with one key."""
        return bool(self.dangers)


class CheckedFix(Part):
    """A fix, and what is dangerous about it."""

    fix: Fix
    dangers: tuple[Danger, ...] = ()

    @property
    def is_destructive(self) -> bool:
        """True if it must not be copied with one key."""
        return bool(self.dangers)


class CheckedCause(Part):
    """A root cause with as much confidence as its evidence bears."""

    cause: RootCauseOpinion
    confidence: float
    """At most the ceiling of its basis, and 0.50 without a citation that holds."""
    said: float
    """What Claude gave."""
    is_known: bool
    """False if the failure mode is none of the catalogue."""
    evidence: tuple[CheckedCitation, ...] = ()
    against: tuple[CheckedCitation | str, ...] = ()
    notes: tuple[str, ...] = ()
    """Why the confidence is not what Claude gave, a sentence each."""

    @property
    def is_supported(self) -> bool:
        """True if a citation for it holds."""
        return any(one.is_confirmed for one in self.evidence)

    @property
    def is_lowered(self) -> bool:
        """True if it is shown with less confidence than Claude gave."""
        return self.confidence < self.said


class CheckedOpinion(Part):
    """What is shown and kept: the causes best first, each citation with its verdict."""

    opinion: Opinion
    """As it was given."""
    status: OpinionStatus
    causes: tuple[CheckedCause, ...] = ()
    quick_fixes: tuple[CheckedText, ...] = ()
    recommended_fixes: tuple[CheckedFix, ...] = ()
    notes: tuple[str, ...] = ()
    """What the reader should know about the answer as a whole, a sentence each."""

    @property
    def citations(self) -> tuple[CheckedCitation, ...]:
        """All citations, for and against."""
        return tuple(
            one
            for cause in self.causes
            for one in (*cause.evidence, *cause.against)
            if isinstance(one, CheckedCitation)
        )

    @property
    def summary(self) -> str:
        """In Claude's words."""
        return self.opinion.summary

    @property
    def needed_data(self) -> tuple[NeededData, ...]:
        """What Claude asks for."""
        return self.opinion.needed_data

    @property
    def agreement(self) -> tuple[Agreement, ...]:
        """What Claude makes of the analyzers' verdict."""
        return self.opinion.agreement

    @property
    def tally(self) -> str:
        """How many citations held: `5 of 6 citations confirmed, 1 wrong`."""
        found = self.citations
        if not found:
            return "no citations"
        good = sum(one.is_confirmed for one in found)
        bad = sum(one.is_struck for one in found)
        rest = len(found) - good - bad
        told = f"{good} of {len(found)} citation{'s' * (len(found) > 1)} confirmed"
        told += f", {bad} wrong" if bad else ""
        return told + (f", {rest} could not be checked" if rest else "")
