"""One number of a segment and what stands around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ASSIGNMENT = re.compile(r"(?:[:=]|\bis|\bwas)\s*$")
"""`loss:`, `lr =`, `loss is`."""
_LIST_OPENS = re.compile(r"[:=]\s*[\[(]\s*$")
"""`return=[`, in front of a list of one number."""
_LIST_CLOSES = re.compile(r"\s*,?\s*[\])]")
"""`]` or `,)`, behind a list of one number."""
_VERB = re.compile(r"\s(?:is|was)\s*$")


@dataclass(slots=True)
class Candidate:
    """A number that may be a value, a coordinate or a part of a name."""

    number: re.Match[str]
    left: str
    """Text of the segment since the last number that was taken."""
    segment_end: int
    upcoming: re.Match[str] | None
    """The next number of the segment."""
    is_assigned: bool
    """A sign or a verb says that the words before the number name it."""
    phrase: str
    """Those words, without the sign or the verb."""

    @property
    def phrase_start(self) -> int:
        """Where the phrase begins in the text."""
        return self.number.start() - len(self.left)

    def gap(self, text: str) -> str:
        """What stands between this number and the next, nothing if there is no next."""
        return text[self.number.end() : self.upcoming.start()] if self.upcoming else ""


def candidate_at(
    text: str,
    start: int,
    number: re.Match[str],
    segment_end: int,
    upcoming: re.Match[str] | None,
) -> Candidate:
    """Tell the words that `text` has between `start` and a number from the sign behind them."""
    left = text[start : number.start()]
    is_assigned = _is_assigned(text, left, number.end())
    words = left.rstrip(" :=\t[(" if is_assigned else " :=\t")
    return Candidate(number, left, segment_end, upcoming, is_assigned, _VERB.sub("", words))


def _is_assigned(text: str, left: str, number_end: int) -> bool:
    if _ASSIGNMENT.search(left):
        return True
    if not _LIST_OPENS.search(left):
        return False
    # The list closes at once: with more numbers it would be a vector.
    return _LIST_CLOSES.match(text, number_end, number_end + 4) is not None
