"""Without Unicode, everything that reaches the terminal is ASCII, in the same cells."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import ControlType, Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding
from textual.color import Color
from textual.dom import DOMNode
from textual.widgets import Footer, Static

from mltd.tui.app import MltdApp
from mltd.tui.ascii_filter import AsciiFilter, key_in_ascii, to_ascii
from mltd.tui.commands import PANES
from mltd.tui.keymap import bindings_of, keys_of
from mltd.tui.keys_text import DIALOGS
from mltd.tui.screens.main import MainScreen
from mltd.tui.terminal import Terminal
from mltd.tui.themed import ThemedApp
from mltd.tui.theming import load_themes

BLACK = Color(0, 0, 0)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("loss 損失 → 0.5")
@example("👨‍👩‍👧 family, 🇩🇪 flag, ❤️ heart")
@example("é as two: e\u0301")
def test_any_text_becomes_ascii_of_the_same_width(text: str) -> None:
    plain = to_ascii(text)
    assert plain.isascii()
    assert cell_len(plain) == cell_len(text)


@pytest.mark.parametrize(
    ("glyphs", "plain"),
    [
        ("╭─╮│╰╯├┼", "+-+|++++"),
        ("✖ ▲ ● ✔", "x ^ * +"),
        ("→←↑↓", "><^v"),
        ("▁▂▃▄▅▆▇█", "__--==##"),
        ("⠁⠒⣀⠀⣿", "'-. #"),
        ("żółw", "zo?w"),
        ("損", "??"),
        ("\uff15", "5 "),
    ],
)
def test_glyphs_keep_their_shape_as_far_as_ascii_goes(glyphs: str, plain: str) -> None:
    assert to_ascii(glyphs) == plain


def test_styles_and_control_codes_are_kept() -> None:
    bold = Style(bold=True)
    segments = [
        Segment("plain", bold),
        Segment("● run", bold),
        Segment("✖", bold, [(ControlType.BELL,)]),
    ]
    assert AsciiFilter().apply(segments, BLACK) == [
        segments[0],
        Segment("* run", bold),
        segments[2],
    ]


class Sample(ThemedApp):
    BINDINGS = [Binding("up", "sample", "Früher", id="sample.earlier")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        box = Static("✖ Verlust → ∞", classes="pane", markup=False)
        box.border_title = "Läufe"
        yield box
        yield Footer()

    def action_sample(self) -> None:
        """Nothing."""


def shown(app: ThemedApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)


def test_toasts_footer_and_palette_pass_the_filter() -> None:
    async def look() -> tuple[str, str]:
        app = Sample(load_themes(), Terminal(is_unicode=False))
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            app.notify("größer als 3 €…", markup=False)
            await pilot.pause()
            main = shown(app)
            app.action_command_palette()
            while "Quit" not in shown(app):
                await pilot.pause()
            return main, shown(app)

    main, palette = asyncio.run(look())
    assert main.isascii()
    assert palette.isascii()
    for part in ("x Verlust > I", "Laufe", "Fruher", "+-", "gro?er"):
        assert part in main


def test_a_terminal_with_unicode_has_no_such_filter() -> None:
    app = Sample(load_themes(), Terminal(is_unicode=True))
    assert not any(isinstance(each, AsciiFilter) for each in app.get_line_filters())


def shown_keys() -> dict[str, str]:
    """Every key that a command or a dialog has, as the footer and the help write it in ASCII."""
    app = ThemedApp(load_themes(), Terminal(is_unicode=False))
    kinds: list[type[DOMNode]] = [MainScreen, MltdApp, *(pane for _, pane in PANES)]
    kinds += [kind for dialog in DIALOGS for kind in dialog.kinds]
    keys = {key for binding in bindings_of(*kinds) for key in keys_of(binding)}
    keys |= {"left", "right", "up", "down", "enter", "backspace", "less_than_sign", "v", "é", "ê"}
    return {key: app.get_key_display(Binding(key, "")) for key in keys}


def test_no_two_keys_look_alike_in_ascii() -> None:
    signs = shown_keys()
    assert all(sign.isascii() for sign in signs.values())
    # The filter must find nothing left to change: it would make signs alike again.
    assert [sign for sign in signs.values() if to_ascii(sign) != sign] == []
    alike = {key: sign for key, sign in signs.items() if [*signs.values()].count(sign) > 1}
    assert alike == {}


def test_keys_that_dialogs_mention_are_words_in_ascii() -> None:
    assert key_in_ascii("← →") == "left right"
    assert key_in_ascii("↑↓") == "up/down"
    assert key_in_ascii("^⏎") == "^enter"
    assert key_in_ascii("pgdn") == "pgdn"
