"""What a training said, before any logger has chosen a style for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Entry:
    """One moment: measurements of a training step or an evaluation, or a line of text."""

    kind: str
    """train, eval, text (on stdout), stderr or resume."""
    step: int
    values: dict[str, float] = field(default_factory=dict)
    text: str = ""
    seconds: float = 0.0
    """Time since the entry before."""
    rank: int | None = None


@dataclass
class Trace:
    """Everything that one training said, in order."""

    steps: int
    """Planned steps."""
    steps_per_epoch: int
    entries: list[Entry] = field(default_factory=list)

    def series(self, name: str, kind: str = "train") -> list[float]:
        """All values of one signal, in order."""
        return [one.values[name] for one in self.of(kind) if name in one.values]

    def of(self, kind: str) -> Iterator[Entry]:
        """The entries of one kind."""
        return (one for one in self.entries if one.kind == kind)

    def tail(self, name: str, share: float = 0.2, kind: str = "train") -> float:
        """The median of the last part of a signal; NaN if most of it is not finite."""
        values = self.series(name, kind)
        return middle(values[-max(1, int(len(values) * share)) :])

    def head(self, name: str, share: float = 0.03, kind: str = "train") -> float:
        """The median of the first part of a signal."""
        values = self.series(name, kind)
        return middle(values[: max(3, int(len(values) * share))])


def middle(values: list[float]) -> float:
    """The median of what is finite, NaN if less than half of it is."""
    finite = sorted(value for value in values if math.isfinite(value))
    if 2 * len(finite) < len(values) or not finite:
        return math.nan
    return finite[len(finite) // 2]
