"""Whether the planned change was made: `lr 6e-4 -> 2e-4`, and what the run shows of it.

Only what can be read on both sides is compared: a change that names a setting and two numbers,
and a run that logs that setting (a learning rate by its peak) or states it. Anything else is left
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mltd.analyzers.core.settings_lookup import spellings
from mltd.runs.roles import normalise, shipped

from .case import Case
from .judged import INCONCLUSIVE, Judged, Weight
from .windows import Side

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CHANGE = re.compile(
    rf"(?P<name>[A-Za-z_][\w./ -]*?)\s*[:=]?\s+(?:from\s+)?"
    rf"(?P<old>{_NUMBER})\s*(?:->|=>|→|\bto\b)\s*(?P<new>{_NUMBER})(?![\w%])"
)
_VERBS = re.compile(
    r"(?:(?:set|change|lower|reduce|decrease|cut|drop|halve|raise|increase|double|the)\s+)+",
    re.IGNORECASE,
)
_NEAR = 0.1
"""Share by which a logged value may be off and still is the planned one."""

_PART_OF_THE_WAY = 0.25
"""Of the planned change: with less it has hardly been made."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A setting that should go from one value to another."""

    name: str
    old: float
    new: float
    told: str
    """The new value as it was written."""

    @property
    def meaning(self) -> str:
        """What the setting is, under whichever name; else its own name."""
        words = normalise(self.name.rpartition(".")[2])
        known = (meaning for meaning, names in spellings().items() if words in names)
        role = "lr" if shipped().role_of(self.name) == "lr" else None
        return role or next(known, self.name.rpartition(".")[2])

    def is_new(self, value: float) -> bool:
        """As planned; where old and new are close to each other, the closer one counts."""
        is_closer = abs(value - self.new) <= abs(value - self.old)
        return is_closer and _is_near(value, self.new, self.old)

    def is_towards(self, value: float) -> bool:
        """Changed as was planned, by more or by less: that tests the idea as well."""
        way = self.new - self.old
        return (value - self.old) * way >= _PART_OF_THE_WAY * way * way > 0

    def is_old(self, value: float) -> bool:
        """As it was."""
        is_closer = abs(value - self.old) < abs(value - self.new)
        return is_closer and _is_near(value, self.old, self.new)


@dataclass(frozen=True, slots=True)
class Seen:
    """A setting as both runs show it."""

    before: float | None
    after: float
    is_rising: bool = False
    """It had not come to its peak yet."""


def planned_of(change: str) -> list[Planned]:
    """Every `NAME OLD -> NEW` of a change in words."""
    found = []
    for part in re.split(r"[,;\n]|\band\b", change):
        match = _CHANGE.search(part)
        name = _VERBS.sub("", match["name"].strip() + " ").strip() if match else ""
        if match and name:
            found.append(Planned(name, float(match["old"]), float(match["new"]), match["new"]))
    return found


def unmade(case: Case, change: str) -> tuple[str, Judged] | None:
    """The setting that is not as planned in the run after; None if all are, or nobody knows."""
    for planned in planned_of(change):
        for seen in _seen(case, planned.meaning):
            # On the way up a rate is low whatever was planned.
            is_towards = not seen.is_rising and planned.is_towards(seen.after)
            is_made = planned.is_new(seen.after) or is_towards
            if is_made or _is_scaled(planned, seen):
                break
            is_known = seen.before is None or planned.is_old(seen.before)
            if seen.is_rising or not is_known:
                continue
            said = f"{planned.name} is {_short(seen.after)} in this run"
            if planned.is_old(seen.after):
                said = f"the change is not visible in this run: {planned.name} is "
                said += _short(seen.after)
            said += f", planned was {planned.told}"
            return planned.meaning, Judged(INCONCLUSIVE, said, said, weight=Weight.NO_TEST)
    return None


def _seen(case: Case, meaning: str) -> Iterator[Seen]:
    """What is logged before what is stated: a schedule may override a setting."""
    if meaning == "lr" and (one := case.find("lr")) is not None and one.aligned.after is not None:
        before, after = one.aligned.before, one.aligned.after
        peak = _peak(after)
        if peak is not None:
            yield Seen(None if before is None else _peak(before), peak, _is_rising(after))
    values = [
        settings.learning_rate() if meaning == "lr" else settings.get(meaning)
        for settings in case.settings
    ]
    first, second = (None if value is None else value.number for value in values)
    if second is not None:
        yield Seen(first, second)


def _is_scaled(planned: Planned, seen: Seen) -> bool:
    """Both runs log another number, such as that of a warmup, and its ratio is the planned one."""
    if not planned.old or not seen.before or planned.old == planned.new:
        return False
    ratio = Planned(planned.name, 1.0, planned.new / planned.old, "")
    return ratio.is_new(seen.after / seen.before)


def _peak(side: Side) -> float | None:
    values = side.shared[1]
    values = values[np.isfinite(values)]
    return float(values.max()) if len(values) else None


def _is_rising(side: Side) -> bool:
    values = side.shared[1]
    values = values[np.isfinite(values)]
    return len(values) > 1 and int(np.argmax(values)) == len(values) - 1


def _is_near(value: float, wanted: float, other: float) -> bool:
    return abs(value - wanted) <= _NEAR * (abs(wanted) or abs(other)) + 1e-12 * abs(wanted)


def _short(value: float) -> str:
    """As one writes settings: 6e-4, 0.01, 64."""
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:.4g}" if value != int(value) else f"{value:.0f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
