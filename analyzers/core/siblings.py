"""Curves of one kind for several tasks: `acc_A` and `acc_B`, `loss/task1` and `loss/task2`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.runs.roles import normalise

from .curve import Curve
from .view import RunView

_OTHER = re.compile(
    r"train|tr|training|val|valid|validation|test|eval|dev|top[135]|1|3|5|10|at|real|fake|d|g|raw|ema|"
    r"best|last|min|max|macro|micro|weighted|balanced|pos|neg"
)
"""Words for other data, or another way to count, rather than another task."""


def siblings_of(view: RunView, curve: Curve) -> Iterator[Curve]:
    """Curves of the same length and kind whose names differ from this one in a single word."""
    kind, words = _kind(curve), normalise(curve.name).split()
    if kind not in ("accuracy", "loss"):
        return
    for other in view.all_curves():
        if other is curve or _kind(other) != kind or len(other) != len(curve):
            continue
        others = normalise(other.name).split()
        if len(others) != len(words):
            continue
        apart = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
        if len(apart) == 1 and not _is_counted_otherwise(*apart[0]):
            yield other


def _is_counted_otherwise(word: str, other: str) -> bool:
    is_numbered = word.isdigit() and other.isdigit() and abs(int(word) - int(other)) == 1
    is_known = _OTHER.fullmatch(word) and _OTHER.fullmatch(other)
    return bool(is_known) and not is_numbered


def _kind(curve: Curve) -> str:
    return (curve.series.role or "").rpartition("/")[2]
