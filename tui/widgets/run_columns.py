"""Which columns the list of runs has, and how wide they are."""

from __future__ import annotations

from dataclasses import dataclass

_GLYPHS = 3
"""Cells before the name: cursor, health, a gap."""
_LEAST_NAME = 8
_LEAST_HEADLINE = 10
TIME, TIME_WITH_SHARE = 12, 17
"""Cells for `▲ 3:45/4:00h`, and with the share behind it."""


@dataclass(frozen=True, slots=True)
class RunColumns:
    """How wide each column is; 0 for one that there is no room for."""

    name: int
    state: int
    progress: int
    loss: int
    trend: int
    age: int
    headline: int
    gap: int
    time: int = 0
    """Elapsed and allowed time of jobs; where there is no age, how long ago others ended."""


def lay_out(width: int, longest_name: int, *, has_jobs: bool = False) -> RunColumns:
    """Columns for a width: all of them from 72 on, and the longer ones longer from 110 on.

    Jobs need room for their time: below 100, the loss goes (its curve stays) and so does the age.
    """
    if has_jobs:
        gap = 1 if width < 130 else 2
        trend = 24 if width >= 150 else 12 if width >= 130 else 8 if width >= 72 else 0
        progress = 15 if width >= 130 else 10 if width >= 100 else 5
        loss, age = (7, 4) if width >= 100 else (0, 0)
        state, time = 11, TIME_WITH_SHARE if width >= 130 else TIME
    else:
        gap = 1 if width < 110 else 2
        trend = 24 if width >= 150 else 12 if width >= 110 else 8 if width >= 72 else 0
        progress = 15 if width >= 110 else 10
        loss, age, state, time = 7, 4, 10, 0
    others = [size for size in (state, time, progress, loss, trend, age) if size]
    room = max(_LEAST_NAME, width - _GLYPHS - sum(others) - gap * len(others))
    # A name is known by its ends, a finding only by most of its words.
    most = max(_LEAST_NAME, room - gap - max(12, room // 2 - 2))
    name = min(max(longest_name, _LEAST_NAME), most)
    headline = room - gap - name
    if headline < _LEAST_HEADLINE:
        name, headline = room, 0
    return RunColumns(name, state, progress, loss, trend, age, headline, gap, time)
