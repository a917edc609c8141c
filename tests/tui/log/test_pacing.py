from __future__ import annotations

from itertools import pairwise

import pytest

from mltd.tui.log.pacing import Pacer


def frames(gap: float, count: int, *, is_flood: bool = False) -> list[float]:
    """When a stream of lines is painted: a line every `gap` seconds."""
    pacer, shown, due = Pacer(), [], None
    for number in range(count + 1000):
        now = number * 0.001
        if number % round(gap * 1000) == 0 and number // round(gap * 1000) < count:
            due = now + pacer.delay(now)
        if due is not None and now >= due:
            shown.append(round(now, 3))
            pacer.painted(now, is_flood=is_flood)
            due = None
    return shown


def test_the_first_line_after_a_pause_is_shown_at_once() -> None:
    assert frames(0.5, 3)[:2] == [0.0, 0.5]


def test_a_steady_stream_has_few_frames() -> None:
    shown = frames(0.05, 20)
    assert len(shown) <= 5
    assert max(b - a for a, b in pairwise(shown)) <= 0.401


def test_a_flood_is_shown_more_often() -> None:
    shown = frames(0.01, 100, is_flood=True)
    assert max(b - a for a, b in pairwise(shown)) <= 0.201


@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_when_a_stream_ends_its_last_line_is_soon_shown(count: int) -> None:
    last_line = (count - 1) * 0.05
    assert last_line <= frames(0.05, count)[-1] <= last_line + 0.2
