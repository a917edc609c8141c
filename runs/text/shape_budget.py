"""How many shapes of line are looked at closely: a log may have as many shapes as lines.

A close look takes as long as reading a thousand lines of a known shape. Logs of trainings have
some hundred shapes; beyond the limits only lines that are likely to matter get such a look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..events.rule import FAILURES
from ..events.rulebook import candidates, rules
from ..limits import BYTES_PER_SHAPE, MOST_FAILURE_SHAPES, MOST_IDLE_SHAPES, MOST_SHAPES
from ..roles import Roles
from .cleaning import decode
from .plan import Plan

_REACH = 1024
"""Bytes that are looked at from either end of a line."""
_COMES_BACK = 16
"""Lines of a shape from which on it is worth a close look, however many others there are."""
_MOST_COUNTED = 50_000
_PAIR = re.compile(r"[a-z_)\]}\"'] {0,2}[=:] {0,8}[-+]?\.?\d")
_WORD = re.compile(r"[a-z]+")
_DIGIT = re.compile(rb"\d")


@dataclass(slots=True)
class ShapeBudget:
    """Decides which lines of unknown shape get a close look."""

    roles: Roles
    left_out: int = 0
    """Lines with numbers that got none."""
    _bytes: int = 0
    _shapes: int = 0
    _idle: int = 0
    _failures: int = 0
    _counts: Counter[bytes] = field(default_factory=Counter)
    """Lines of unknown shape, by shape."""
    _uncounted: Sequence[bytes] = ()

    def begin(self, size: int, unknown: Sequence[bytes]) -> None:
        """A chunk of so many bytes begins, with lines of these unknown shapes."""
        self._bytes += size
        self._uncounted = unknown

    def renew(self) -> None:
        """All shapes are to be looked at again."""
        self._shapes = self._idle = self._failures = 0

    def allows(self, shape: bytes, line: bytes) -> bool:
        """True if a line of a shape that is not known yet is to be looked at closely."""
        grown = self._bytes // BYTES_PER_SHAPE
        has_room = self._shapes < MOST_SHAPES + grown
        if has_room and self._idle < MOST_IDLE_SHAPES + grown:
            return True
        if len(line) > 2 * _REACH:
            line = line[:_REACH] + b" " + line[-_REACH:]
        lowered = decode(line).lower()
        found = candidates(lowered)
        if has_room and (found or self._may_measure(lowered)):
            return True
        if found and self._failures < MOST_FAILURE_SHAPES + grown:
            book = rules()
            if any(book[number].kind in FAILURES for number in found):
                self._failures += 1
                return True
        if self._comes_back(shape):
            return True
        self.left_out += _DIGIT.search(line) is not None
        return False

    def note(self, plan: Plan) -> None:
        """Count a close look, and whether it was worth it."""
        self._shapes += 1
        is_worth_it = plan.may_hold_metrics() or plan.is_special or plan.heading
        self._idle += not is_worth_it

    def _may_measure(self, lowered: str) -> bool:
        """True if a line looks like it has a metric or is a row of a table."""
        return (
            "|" in lowered
            or _PAIR.search(lowered) is not None
            or not self.roles.telling_words.isdisjoint(_WORD.findall(lowered))
        )

    def _comes_back(self, shape: bytes) -> bool:
        if self._uncounted:
            self._counts.update(self._uncounted)
            self._uncounted = ()
        if shape not in self._counts:
            self._counts[shape] = 0
        if shape.startswith(b"\n"):
            self._counts[shape] += 1  # not among those that were counted beforehand
        is_often = self._counts[shape] >= _COMES_BACK
        if len(self._counts) > _MOST_COUNTED:
            self._counts.clear()
        return is_often
