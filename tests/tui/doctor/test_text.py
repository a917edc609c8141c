"""The answer as text and as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mltd.tui.doctor.document import document
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.text import cells, render, summary, wrapped

LINES = [
    Line("terminal", State.OK, "80 columns x 24 lines"),
    Line(
        "terminal",
        State.WARNING,
        "only 16 colours: TERM=xterm",
        "`export TERM=xterm-256color`, if the terminal has more; nearly all do",
    ),
    Line(
        "files",
        State.PROBLEM,
        "/lustre/project/someone/experiments/a-run-with-a-rather-long-name-2026-03-01/logs: no "
        "answer within 2.5 s",
        "its file server does not answer: ask those who run it, or try again",
    ),
]

EXPECTED = """\
terminal
  ✔ ok       80 columns x 24 lines
  ▲ warning  only 16 colours: TERM=xterm
             → `export TERM=xterm-256color`, if the terminal has more; nearly
               all do

files
  ✖ problem  /lustre/project/someone/experiments/a-run-with-a-rather-long-name-2
             026-03-01/logs: no answer within 2.5 s
             → its file server does not answer: ask those who run it, or try
               again

1 problem, 1 warning, 1 ok.
"""


def test_the_text_at_eighty_columns() -> None:
    assert "\n".join(render(LINES)) + "\n" == EXPECTED


def test_ascii_has_glyphs_and_words_of_its_own() -> None:
    lines = [*LINES, Line("files", State.OK, "/home/jürgen/日誌 → x")]
    text = "\n".join(render(lines, unicode=False))
    assert text.isascii()
    assert "  + ok       80 columns" in text
    assert "  ! warning  only" in text
    assert "  x problem  /lustre" in text
    assert "             -> `export TERM=xterm-256color`, if" in text


def test_colours_are_added_to_the_words_and_replace_none() -> None:
    coloured = "\n".join(render(LINES, colours=True))
    assert "\x1b[33m▲ warning\x1b[0m" in coloured
    plain = coloured
    for code in ("0", "1", "32", "33", "1;31"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain + "\n" == EXPECTED


def test_nothing_in_a_name_reaches_the_terminal_as_a_command() -> None:
    line = Line("files", State.PROBLEM, "a\x1b]0;x\x07\udce4\r\nb does not exist", "\x1b[2J")
    for text in ("\n".join(render([line])), document([line])):
        assert "\x1b" not in text
        assert "\x07" not in text
        text.encode("utf-8")


def test_a_command_is_not_torn_apart_if_it_fits() -> None:
    assert list(wrapped("say this: `eval $(ssh-agent)`, then go", 22)) == [
        "say this:",
        "`eval $(ssh-agent)`,",
        "then go",
    ]


@given(st.text(max_size=200), st.integers(20, 90))
def test_no_line_is_wider_than_asked_and_no_word_is_lost(text: str, width: int) -> None:
    lines = list(wrapped(text, width))
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.text(), st.sampled_from([0, 40, 60, 80, 100, 200]), st.booleans())
def test_the_whole_fits_any_terminal(fact: str, columns: int, unicode: bool) -> None:
    line = Line("files", State.WARNING, fact, fact)
    for row in render([line], columns=columns, unicode=unicode):
        assert cells(row) <= max(columns, 40)


@pytest.mark.parametrize("text", ["abc", "日誌", "e\u0301te", "\uff41", "✔▲✖→"])
def test_cells_are_counted_as_the_app_counts_them(text: str) -> None:
    assert cells(text) == cell_len(text)


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([State.OK] * 3, "All is well: 3 ok."),
        ([State.OK, State.WARNING, State.WARNING], "No problem, 2 warnings, 1 ok."),
        ([State.PROBLEM, State.OK], "1 problem, no warning, 1 ok."),
    ],
)
def test_the_summary(states: list[State], said: str) -> None:
    assert summary([Line("a", state, "") for state in states]) == said


def test_the_document_holds_the_same() -> None:
    found = json.loads(document(LINES))
    assert found["schema"] == 1
    assert found["summary"] == {"state": "problem", "ok": 1, "warnings": 1, "problems": 1}
    assert [line["state"] for line in found["lines"]] == ["ok", "warning", "problem"]
    assert found["lines"][0] == {
        "area": "terminal",
        "state": "ok",
        "fact": "80 columns x 24 lines",
        "advice": "",
    }
