"""Shapes that differ only in ids, hashes and paths: judged together, not one by one.

A line such as `worker 3fa2 wrote /data/8c1e.bin` has another skeleton each time. What such
lines have in common is found by folding every word that contains a digit; if the first
members of a family hold nothing of interest, the others are not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..events.rule import FAILURES
from .plan import Plan

_WORD_WITH_DIGIT = re.compile(
    # From the beginning of a word only, and without going back: words may be long.
    rb"(?<![\w/.+~\x80-\xff-])[A-Za-z_/.+~\x80-\xff-]*+\d[\w/.+~\x80-\xff-]*+"
)
_ENOUGH_MEMBERS = 24
"""Members that must be of no interest before the rest are taken to be."""
_MOST_EVENTS = 500
"""Members with a mild event after which further ones are left out."""
_MOST_FAMILIES = 20_000
_HEAD = 400
"""Bytes of a line that decide its family."""


@dataclass(slots=True)
class Family:
    """What the members that were read so far had in them."""

    members: int = 0
    events: int = 0
    must_be_read: bool = False
    """Members hold metrics or failures."""

    @property
    def is_idle(self) -> bool:
        """Nothing new is to be expected from further members."""
        if self.must_be_read or self.members < _ENOUGH_MEMBERS:
            return False
        return self.events == 0 or self.events > _MOST_EVENTS

    def note(self, plan: Plan) -> None:
        """Count one more member, planned as `plan`."""
        self.members += 1
        self.events += plan.rule is not None or plan.may_start_config
        is_failure = plan.rule is not None and plan.rule.kind in FAILURES
        self.must_be_read |= is_failure or plan.may_hold_metrics()


class Families:
    """Finds the family of a line."""

    def __init__(self) -> None:
        self._by_fold: dict[bytes, Family] = {}

    def of(self, piece: bytes) -> Family:
        """The family of a line; a new one is forgotten if there are too many."""
        fold = _WORD_WITH_DIGIT.sub(b"#", piece[:_HEAD])
        family = self._by_fold.get(fold)
        if family is None:
            family = Family()
            if len(self._by_fold) < _MOST_FAMILIES:
                self._by_fold[fold] = family
        return family
