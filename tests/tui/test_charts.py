"""plotext draws exactly the cells it is given."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.tui.charts import picture


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_every_cell_is_drawn_where_it_belongs_and_nothing_else_is(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 60))
    height = data.draw(st.integers(1, 20))
    places = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    contents = st.tuples(st.sampled_from("⡇⣿*•o"), st.integers(1, 7))
    cells = data.draw(st.dictionaries(places, contents, max_size=80))
    drawn = picture(cells, width, height)
    assert [len(row) for row in drawn.rows] == [width] * height
    assert [len(row) for row in drawn.layers] == [width] * height
    for row in range(height):
        for column in range(width):
            character, layer = cells.get((column, row), (" ", 0))
            assert drawn.rows[height - 1 - row][column] == character
            assert drawn.layers[height - 1 - row][column] == layer


def test_one_picture_leaves_nothing_behind_in_the_next() -> None:
    picture({(0, 0): ("*", 1)}, 5, 3)
    assert set("".join(picture({(4, 2): ("o", 2)}, 5, 3).rows)) == {" ", "o"}


def test_importing_the_pane_loads_neither_plotext_nor_numpy() -> None:
    code = (
        "import sys, mltd.tui.widgets.curves_pane\n"
        "print([m for m in ('plotext', 'numpy', 'pandas', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
