from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from mltd.runs.sources.line_text import MOST_COMBINED
from mltd.runs.sources.text_lines import TextLine
from mltd.tui.log.highlighting import highlight
from mltd.tui.log.painting import LONGEST_WRAPPED, MARGIN, TAB, Painter, Spans, no_matches
from tests.blow_up import no_blow_up

SHADES = (
    *("log-text", "log-error", "log-warning", "log-nan", "log-metric", "log-control", "log-match"),
    *("severity-critical", "severity-fine", "severity-warning", "severity-info"),
    *("chart-4", "quiet"),
)
STYLES = {meaning: Style(color=f"color({number})") for number, meaning in enumerate(SHADES, 16)}
PAINTER = Painter(STYLES.__getitem__, Style(bgcolor="color(1)"))
PIECES = [
    *(b"\x1b[31m", b"\x1b[38;5;9m", b"\x1b[38;2;1;2m", b"\x1b[99999;;m", b"\x1b]0;x\x07", b"\x1b"),
    *(b"\r", b"\t", b"a", b"loss: 1.5", b"nan", b"\xff", b"\x00"),
    *("漢".encode(), "e\u0301\u0301".encode(), "👍🏽".encode(), "\u200d\u202e\ufe0f".encode()),
]
DATA = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PIECES)).map(b"".join))


def line(data: bytes, clipped: int = 0) -> TextLine:
    return TextLine(0, len(data) + 1, data, clipped)


def pieces(strip: Strip) -> list[tuple[str, str]]:
    """Text without the blanks at the end, and the meaning that it is painted as."""
    names = {style.color: meaning for meaning, style in STYLES.items()}
    found = [(s.text, names.get(s.style.color if s.style else None, "")) for s in strip]
    return [*found[:-1], (found[-1][0].rstrip(), found[-1][1])]


@given(DATA, st.integers(0, 30), st.integers(1, 40))
def test_any_bytes_become_exactly_the_cells_of_a_row(data: bytes, left: int, width: int) -> None:
    strip = PAINTER.row(line(data.replace(b"\n", b"")), no_matches, left, width)
    assert strip.cell_length == cell_len(strip.text) == width + MARGIN
    assert strip.text.endswith(" ")
    assert strip.text.isprintable()


@given(DATA, st.integers(2, 20))
def test_any_bytes_are_wrapped_without_loss(data: bytes, width: int) -> None:
    data = data.replace(b"\n", b"")
    rows = PAINTER.rows(line(data), no_matches, width)
    assert rows
    assert all(row.cell_length == cell_len(row.text) == width + MARGIN for row in rows)
    whole = PAINTER.row(line(data), no_matches, 0, 5000).text
    assert "".join(row.text for row in rows).replace(" ", "") == whole.replace(" ", "")


def test_a_wide_character_in_one_column_ends_too() -> None:
    rows = PAINTER.rows(line("漢a".encode()), no_matches, 1)
    assert [row.cell_length for row in rows] == [2, 2]


def test_markup_is_text() -> None:
    assert (
        PAINTER.row(line(b"[bold]x[/bold] [/"), no_matches, 0, 20).text == "[bold]x[/bold] [/    "
    )


def test_colours_of_the_program_become_colours_of_the_theme() -> None:
    strip = PAINTER.row(line(b"\x1b[31mred\x1b[0m no \x1b[38;5;46mgreen\x1b[m"), no_matches, 0, 30)
    assert pieces(strip) == [
        ("red", "severity-critical"),
        (" no ", "log-text"),
        ("green", "severity-fine"),
    ]


def test_sequences_that_are_not_obeyed_are_seen() -> None:
    strip = PAINTER.row(line(b"a\x1b[2Jb\x00"), no_matches, 0, 6)
    assert pieces(strip) == [("a", "log-text"), ("␛", "log-control"), ("b", "log-text"),
                             ("␀", "log-control")]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "base", "parts"),
    [
        ("ERROR: boom", "log-error", []),
        ("UserWarning: odd", "log-warning", []),
        ("iter 5: loss 3.25, lr 0.1", "log-text", [("3.25", "log-metric")]),
        ("loss: nan, grad_norm: inf", "log-text", [("nan", "log-nan"), ("inf", "log-nan")]),
        ("INFO information", "log-text", []),
        (
            "{'loss': 1.5, 'grad_norm': 2e-3}",
            "log-text",
            [("1.5", "log-metric")],
        ),
        ("loss 1.2.3.4", "log-text", []),
    ],
)
def test_highlights(text: str, base: str, parts: list[tuple[str, str]]) -> None:
    meaning, found = highlight(text)
    assert meaning == base
    assert [(text[part.start : part.end], part.meaning) for part in found] == parts


def test_matches_are_reversed() -> None:
    strip = PAINTER.row(line(b"step loss step"), lambda _text: [(5, 9)], 0, 14)
    reversed_text = [s.text for s in strip if s.style and s.style.reverse]
    assert reversed_text == ["loss"]


def test_tabs_reach_the_next_stop_behind_wide_characters() -> None:
    strip = PAINTER.row(line("漢\tb\tc".encode()), no_matches, 0, 20)
    assert strip.text.rstrip() == "漢      b       c"


def test_a_longer_line_shows_that_it_goes_on() -> None:
    assert PAINTER.row(line(b"0123456789"), no_matches, 0, 6).text == "01234… "
    assert PAINTER.row(line(b"0123456789"), no_matches, 4, 6).text == "456789 "


def test_a_clipped_line_says_how_much_is_left_out() -> None:
    rows = PAINTER.rows(line(b"x" * 10, clipped=1234), no_matches, 40)
    assert rows[0].text.rstrip() == "xxxxxxxxxx … 1,234 more"


HOSTILE = {
    "colours": b"\x1b[31mx\x1b[32my" * 6000,
    "one long colour": b"\x1b[" + b"1;" * 32_000 + b"mx",
    "one long number": b"\x1b[" + b"9" * 60_000 + b"mx",
    "controls": b"\x00" * 65_536,
    "marks": "e\u0301".encode() * 20_000,
    "metrics": b"loss: 1 " * 8000,
    "tabs": b"\t" * 65_536,
    "titles": b"\x1b]" * 32_000,
    "wide": "漢".encode() * 20_000,
    "bars": b"\r" * 65_536,
}


class Tally:
    """Counts what a painter looks at: characters that it searches, and colours that it asks for."""

    def __init__(self) -> None:
        self.characters = self.colours = 0
        self.painter = Painter(self._style, Style(bgcolor="color(1)"))

    def _style(self, meaning: str) -> Style:
        self.colours += 1
        return STYLES[meaning]

    def matches(self, text: str) -> Spans:
        self.characters += len(text)
        return ()


FEW = 10
"""Colours that are asked for in any line, whatever its length."""


@pytest.mark.parametrize("name", HOSTILE)
def test_of_a_hostile_line_no_more_is_painted_than_is_seen(name: str) -> None:
    one, all_ = Tally(), Tally()
    with no_blow_up():
        row = one.painter.row(line(HOSTILE[name]), one.matches, 0, 200)
        rows = all_.painter.rows(line(HOSTILE[name]), all_.matches, 80)
    assert one.characters <= 202 * (1 + MOST_COMBINED)
    assert one.colours <= one.characters + FEW
    assert len(list(row)) <= 200 + MARGIN
    assert all_.characters <= LONGEST_WRAPPED
    assert all_.colours <= all_.characters + FEW
    assert len(rows) <= LONGEST_WRAPPED * TAB // 80 + 1
    assert all(len(list(each)) <= 80 + MARGIN for each in rows)
