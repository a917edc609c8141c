"""Metrics of single layers, folded: one row says what hundreds would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mltd.runs.series import Series

MOST_APART = 8
"""Layers of a log up to which each has its row; a probe's are always folded."""


@dataclass(frozen=True, slots=True)
class Family:
    """The same measurement of several layers."""

    kind: str
    members: tuple[Series, ...]

    @property
    def name(self) -> str:
        """`grad_norm/* (48 layers)`."""
        return f"{self.kind}/* ({len(self.members)} layers)"

    @property
    def points(self) -> int:
        """Of the longest member."""
        return max(len(series) for series in self.members)

    @property
    def bad(self) -> int:
        """Values of all members that are not finite."""
        return sum(int((~np.isfinite(series.values)).sum()) for series in self.members)

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest finite value of all; NaN if there is none."""
        low, high = np.inf, -np.inf
        for series in self.members:
            finite = series.values[np.isfinite(series.values)]
            if len(finite):
                low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        return (low, high) if low <= high else (float("nan"), float("nan"))


def fold(series: Sequence[Series]) -> tuple[list[Series], list[Family]]:
    """What stands alone, in its order, and the families, each where its first member was."""
    by_kind: dict[tuple[int, str], list[Series]] = {}
    for one in series:
        if (kind := _kind_of(one)) is not None:
            by_kind.setdefault((one.file, kind), []).append(one)
    folded: set[int] = set()
    families = []
    for (_, kind), members in by_kind.items():
        least = 2 if members[0].layer else MOST_APART + 1
        if len(members) >= least:
            folded.update(id(one) for one in members)
            families.append(Family(kind, tuple(members)))
    return [one for one in series if id(one) not in folded], families


def _kind_of(series: Series) -> str | None:
    kind, slash, _ = series.name.partition("/")
    # By name alone: whoever only prints a run loads no analyzers.
    is_logged = series.role in (None, "grad_norm") and kind.lower().startswith("grad")
    return kind if slash and (series.layer or is_logged) else None
