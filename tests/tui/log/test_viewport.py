from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.sources.text_lines import TextLine
from mltd.tui.log.viewport import Viewport
from mltd.tui.log.window import LogLine


def view_of(heights: list[int], height: int) -> Viewport:
    """Lines whose heights are in their data."""
    view = Viewport(lambda line: len(line.line.data))
    view.height = height
    lines = [LogLine(TextLine(10 * n, 10 * n + 10, b"x" * rows)) for n, rows in enumerate(heights)]
    view.replace(lines, reaches_start=True, reaches_end=True)
    return view


MOTIONS = st.lists(st.tuples(st.sampled_from(["scroll", "move", "end"]), st.integers(-30, 30)))


@given(st.lists(st.integers(1, 6), max_size=20), st.integers(1, 9), MOTIONS)
def test_no_motion_leaves_a_gap_or_loses_the_current_line(
    heights: list[int], height: int, motions: list[tuple[str, int]]
) -> None:
    view = view_of(heights, height)
    for kind, amount in motions:
        if kind == "end":
            view.show_end()
        else:
            getattr(view, kind)(amount)
        rows = view.visible()
        assert len(rows) == min(height, sum(heights))
        if heights:
            assert rows[0][0] <= view.cursor <= rows[-1][0]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=20), st.integers(1, 9), st.integers(0, 40))
def test_scrolling_down_and_up_again_comes_back(heights: list[int], height: int, rows: int) -> None:
    view = view_of(heights, height)
    before = view.visible()
    owed = view.scroll(rows)
    assert view.scroll(owed - rows) == 0
    assert view.visible() == before


def test_other_lines_around_the_same_place_keep_the_screen() -> None:
    view = view_of([1] * 50, 5)
    view.show(200, above=2)
    before = [view.lines[line].offset for line, _row in view.visible()]
    view.replace(view.lines[10:], reaches_start=False, reaches_end=True)
    assert [view.lines[line].offset for line, _row in view.visible()] == before
    assert view.current is not None
    assert view.current.offset == 200


def test_what_is_owed_is_said() -> None:
    view = view_of([1] * 10, 4)
    assert view.scroll(3) == 0
    assert view.scroll(7) == 4
    assert view.shows_end
    assert not view.is_at_end
    assert view.move(5) == 2
    assert view.is_at_end
    assert view.move(-12) == 3


def test_more_lines_are_wanted_before_they_are_needed() -> None:
    view = view_of([1] * 30, 5)
    view.replace(view.lines, reaches_start=False, reaches_end=False)
    view.show(150, above=2)
    assert not view.needs_more()
    view.scroll(-9)
    assert view.needs_more()
