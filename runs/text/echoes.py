"""A second logger that says in the same words what the first has just said."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..harvest import ColumnKey, Ints
from .line_group import LineGroup, Told

_PLACES = frozenset({"step", "epoch", "inner"})
_MOST_LOGGERS = 4
"""Templates with the same names that are compared: lines read one by one have thousands."""


def forget_echoes(
    groups: Iterable[LineGroup], lines: Ints, row_of: Ints, count: int, last: Told | None
) -> Told | None:
    """Drop what a second logger says right after the first, in the same words.

    Such lines have other prefixes, so they were read by another template with the same
    names. `count` lines were read: what the last of them said is returned, as the next may
    repeat it.
    """
    seen: dict[frozenset[ColumnKey], list[Told]] = {}
    if last is not None:
        seen[last.names] = [last]
    last = None
    start = 0
    for group in groups:
        rows = row_of[start : start + len(group.places)]
        start += len(group.places)
        is_masked = any(part.among is not None for part in group.parts)
        if group.template is None or is_masked or _PLACES.isdisjoint(group.axes):
            continue
        told = Told(group, lines[rows])
        others = seen.setdefault(told.names, [])
        for other in others:
            if other.group.template is not group.template:
                _forget_echo(told, other)
                _forget_echo(other, told)
        if len(others) < _MOST_LOGGERS:
            others.append(told)
        if told.lines[-1] == count:
            last = told.last_line()
    return last


def _forget_echo(later: Told, earlier: Told) -> None:
    """Drop the values of lines that repeat the line of the other template before them."""
    group, told = later.group, earlier.group
    at = np.minimum(np.searchsorted(earlier.lines, later.lines - 1), len(earlier.lines) - 1)
    echoes = earlier.lines[at] == later.lines - 1
    if not echoes.any() or _PLACES & group.axes.keys() != _PLACES & told.axes.keys():
        return
    values = {part.key: part.values for part in told.parts}
    for part in group.parts:
        echoes &= part.values == values[part.key][at]
    for axis in _PLACES & group.axes.keys():
        echoes &= group.axes[axis] == told.axes[axis][at]
    if echoes.any():
        group.parts = [part.where(~echoes) for part in group.parts]
