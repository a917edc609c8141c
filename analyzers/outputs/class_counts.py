"""How often each class occurs, where the run states it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mltd.runs.roles import normalise

from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView

_COUNTS = re.compile(
    r"\b(?:class|classes|label|labels|target)\b.*\b(?:counts?|distribution|freq\w*|hist\w*|sizes?|"
    r"support|shares?|fractions?|proportions?|prior)\b|\bsamples per class\b"
)
_MOST_CLASSES = 100_000
_DEPTH = 5


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Counts (or shares) of the classes."""

    largest: float
    smallest: float
    total: float
    classes: int
    evidence: Evidence

    @property
    def ratio(self) -> float:
        """How often the most common class occurs for one of the rarest."""
        return self.largest / self.smallest if self.smallest > 0 else float("inf")

    @property
    def majority(self) -> float:
        """Share of the most common class."""
        return self.largest / self.total


def class_counts(view: RunView) -> ClassCounts | None:
    """The first statement of class counts in the run's settings."""
    for path, value in _tables(view.run.config, "", 0):
        values = list(value.values()) if isinstance(value, Mapping) else value
        numbers = [
            float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)
        ]
        if len(numbers) != len(values) or not 2 <= len(numbers) <= _MOST_CLASSES:
            continue
        if not all(0 <= number < 1e15 for number in numbers) or sum(numbers) <= 0:
            continue
        evidence = Evidence(EvidenceKind.CONFIG, f"config:{path}", str(value)[:200])
        return ClassCounts(max(numbers), min(numbers), sum(numbers), len(numbers), evidence)
    return None


def _tables(
    value: object, path: str, depth: int
) -> Iterator[tuple[str, Mapping[object, object] | list[object] | tuple[object, ...]]]:
    if path and _COUNTS.search(normalise(path.rpartition(".")[2])):
        if isinstance(value, Mapping | list | tuple):
            yield path, value
    elif isinstance(value, Mapping) and depth < _DEPTH:
        for key, item in value.items():
            yield from _tables(item, f"{path}.{key}" if path else str(key), depth + 1)
