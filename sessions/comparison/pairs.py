"""Metrics of two runs that mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mltd.analyzers.core.glance import Glance
from mltd.analyzers.gradients.layers import is_of_a_layer
from mltd.runs.series import Series

from .directions import importance, smaller_is_better


@dataclass(frozen=True, slots=True)
class Pair:
    """One metric in both runs, or in the one that logs it."""

    before: Series | None
    after: Series | None
    is_primary: bool = False
    """It stands for its role."""

    @property
    def known(self) -> tuple[Series, ...]:
        """Those that there are."""
        return tuple(series for series in (self.before, self.after) if series is not None)

    @property
    def is_shared(self) -> bool:
        """Both runs log it."""
        return self.before is not None and self.after is not None

    @property
    def role(self) -> str | None:
        """What it means."""
        return self.known[0].role

    @property
    def name(self) -> str:
        """Its name if both runs call it the same, else what it means."""
        first = self.known[0].name
        is_one_name = all(series.name == first for series in self.known)
        return first if is_one_name else self.role or first

    @property
    def smaller_is_better(self) -> bool | None:
        """Which direction is better."""
        return smaller_is_better(self.role, self.name)


def pairs_of(before: Glance, after: Glance) -> list[Pair]:
    """Every metric of either run, the loss first, layers last."""
    found = list(_pairs(before, after))
    found.sort(key=lambda pair: importance(pair.role, pair.name, is_shared=pair.is_shared))
    return found


def _pairs(before: Glance, after: Glance) -> Iterator[Pair]:
    """Those that stand for a role, then those of one name."""
    used: set[int] = set()
    roles = dict.fromkeys(s.role for view in (before, after) for s in view.series if s.role)
    for role in roles:
        first, second = before.primary(role), after.primary(role)
        if first is None or second is None or role.startswith("axis/"):
            continue
        if is_of_a_layer(first.name) or is_of_a_layer(second.name):
            continue  # one layer does not stand for the others
        used |= {id(first), id(second)}
        yield Pair(first, second, is_primary=True)
    left, right = _by_name(before, used), _by_name(after, used)
    for name, series in left.items():
        yield Pair(series, right.pop(name, None))
    for series in right.values():
        yield Pair(None, series)


def _by_name(view: Glance, used: set[int]) -> dict[str, Series]:
    """The metrics that are left; of several files with one name, the fullest."""
    found: dict[str, Series] = {}
    for curve in view.all_curves():
        series = curve.series
        if id(series) not in used:
            known = found.get(series.name)
            if known is None or len(series) > len(known):
                found[series.name] = series
    return found
