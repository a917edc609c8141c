from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from mltd.tui.log.changes import changed_cells

RED, BLUE = Style(color="red"), Style(color="blue")
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "ab", "漢", " "]), st.sampled_from([RED, BLUE])),
    min_size=1,
)


def row(*pieces: tuple[str, Style]) -> Strip:
    return Strip([Segment(text, style) for text, style in pieces])


@given(ROWS, ROWS)
def test_what_is_not_painted_again_was_the_same(
    old: list[tuple[str, Style]], new: list[tuple[str, Style]]
) -> None:
    width = 40
    before = row(*old).crop(0, width).adjust_cell_length(width)
    after = row(*new).crop(0, width).adjust_cell_length(width)
    kept = changed_cells(before, after)
    assert before.crop(kept).simplify() == after.crop(kept).simplify()
    assert (kept == 0) == (before == after)


@pytest.mark.parametrize(
    ("after", "cells"),
    [("step 1 done", 0), ("step 2 done", 6), ("step 1 gone", 8), ("wide 漢done", 7)],
)
def test_only_what_differs_is_counted(after: str, cells: int) -> None:
    assert changed_cells(row(("step 1 done", RED)), row((after, RED))) == cells


def test_another_style_is_a_difference() -> None:
    assert changed_cells(row(("ab", RED), ("c", RED)), row(("ab", RED), ("c", BLUE))) == 3
