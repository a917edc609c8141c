"""Help shows the keys as they are now, and never more than fits."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from mltd.tui.screens.help import Block, HelpScreen, help_groups, lay_out, matching
from mltd.tui.terminal import Terminal
from mltd.tui.themed import ThemedApp
from mltd.tui.theming import load_themes


class Pager(Widget, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "down", "Down a line", id="log.down"),
        Binding("e", "follow", "Follow the [end]", id="log.follow"),
        Binding("x", "secret", id="log.secret"),
    ]


class Chart(Widget, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus", "zoom", "Zoom in", key_display="+", id="curves.zoom")
    ]


class Sample(ThemedApp):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "quit", "Quit", id="app.quit")]

    def compose(self) -> ComposeResult:
        yield Pager()


OWNERS: list[tuple[str, type[Widget] | type[Sample]]] = [
    ("Everywhere", Sample),
    ("Curves", Chart),
    ("Log", Pager),
]


def test_the_focused_pane_comes_first_and_nameless_commands_not_at_all() -> None:
    groups = help_groups(OWNERS, {}, focused=Pager())
    assert [title for title, _ in groups] == ["Log", "Everywhere", "Curves"]
    assert [binding.id for binding in groups[0][1]] == ["log.down", "log.follow"]


def test_keys_are_those_of_the_keymap() -> None:
    groups = dict(help_groups(OWNERS, {"curves.zoom": "z,f5"}))
    (zoom,) = groups["Curves"]
    assert (zoom.key, zoom.key_display) == ("z,f5", None)


BLOCKS: list[Block] = [
    ("Log", [("↓ j", "Down a line"), ("e", "Follow")]),
    ("Curves", [("+", "Zoom in")]),
]


def test_a_wide_window_has_two_columns_and_a_narrow_one_has_one() -> None:
    wide = [line.plain.rstrip() for line in lay_out(BLOCKS, 66)]
    assert wide == [
        "Log                               Curves",
        "↓ j  Down a line                  +  Zoom in",
        "e    Follow",
    ]
    narrow = [line.plain.rstrip() for line in lay_out(BLOCKS, 16)]
    assert narrow == ["Log", "↓ j  Down a line", "e    Follow", "", "Curves", "+    Zoom in"]


@given(
    st.lists(
        st.tuples(st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=4)), max_size=4
    ),
    st.integers(4, 200),
)
def test_no_line_is_wider_than_the_window(blocks: list[Block], width: int) -> None:
    assert all(cell_len(line.plain) <= width for line in lay_out(blocks, width))


def test_the_filter_looks_at_keys_words_and_titles() -> None:
    assert matching(BLOCKS, "") == BLOCKS
    assert matching(BLOCKS, "log FOLL") == [("Log", [("e", "Follow")])]
    assert matching(BLOCKS, "nothing") == []


def shown(app: ThemedApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def test_the_screen_shows_filters_and_closes() -> None:
    async def look() -> tuple[str, str, int]:
        app = Sample(load_themes(), Terminal())
        async with app.run_test(size=(80, 24)) as pilot:
            groups = help_groups(OWNERS, {"app.quit": "ctrl+x"}, focused=app.focused)
            app.push_screen(HelpScreen(groups))
            await pilot.pause()
            everything = shown(app)
            await pilot.press("slash", "z", "o")
            await pilot.pause()
            some = shown(app)
            await pilot.press("escape", "escape")
            return everything, some, len(app.screen_stack)

    everything, some, screens = asyncio.run(look())
    for part in ("↓ j", "Follow the [end]", "^x", "Quit", "+", "Zoom in", "esc close"):
        assert part in everything
    assert "Zoom in" in some
    assert "Quit" not in some
    assert screens == 1


@pytest.mark.parametrize("key", ["q", "question_mark"])
def test_the_keys_that_people_try_first_close_it(key: str) -> None:
    async def press() -> int:
        app = Sample(load_themes(), Terminal())
        async with app.run_test(size=(60, 15)) as pilot:
            app.push_screen(HelpScreen(help_groups(OWNERS, {})))
            await pilot.pause()
            await pilot.press(key)
            return len(app.screen_stack)

    assert asyncio.run(press()) == 1
