"""Everything a criterion is judged by, and how a metric is found in it."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass

from mltd.analyzers.core.settings_lookup import Settings
from mltd.runs.roles import normalise, shipped

from .endings import SOUND, Ending
from .measuring import Measured

_FEW = 3
"""Names that are proposed where one is not known."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two runs, compared."""

    measured: tuple[Measured, ...]
    before: Ending = SOUND
    after: Ending = SOUND
    is_running: bool = False
    """The run after the change may go on."""
    onset: float | None = None
    """Where the incident had shown itself in the run before."""
    at_end: bool = False
    """What each run ended with is compared, however far it went."""
    settings: tuple[Settings, Settings] = (Settings({}), Settings({}))
    """What both runs say about how they were made."""

    def find(self, metric: str) -> Measured | None:
        """A metric by role or by name, whichever way it is spelled."""
        words = normalise(metric)
        role = shipped().role_of(metric)
        ways = (
            lambda one: one.pair.is_primary and one.change.role == metric,
            lambda one: metric in _names(one),
            lambda one: one.change.role == metric,
            lambda one: words in map(normalise, _names(one)),
            lambda one: role is not None and one.pair.is_primary and one.change.role == role,
        )
        for is_meant in ways:
            found = [one for one in self.measured if is_meant(one)]
            if found:
                return max(found, key=lambda one: one.pair.is_shared)
        return None

    def closest(self, metric: str) -> str:
        """Names that might have been meant, as the end of a sentence; empty if there are none."""
        known: dict[str, str] = {}
        for one in self.measured:
            if one.pair.after is not None:
                for name in (*_names(one), one.change.role or ""):
                    known.setdefault(normalise(name), name)
        found = difflib.get_close_matches(normalise(metric), filter(None, known), _FEW, 0.5)
        if not found:
            found = [name for name in known if name and set(name.split()) & set(metric.split("/"))]
        names = ", ".join(known[name] for name in found[:_FEW])
        return f"; the closest it has: {names}" if names else ""


def _names(one: Measured) -> tuple[str, ...]:
    return (one.change.name, *(series.name for series in one.pair.known))


def is_number(value: float | None) -> bool:
    """True if there is a finite value."""
    return value is not None and math.isfinite(value)
