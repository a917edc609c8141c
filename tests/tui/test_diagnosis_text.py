"""Whatever Claude says, and in whatever pieces: rows that fit, and nothing but text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mltd.diagnosis.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Replied,
    Retrying,
    Text,
    Thinking,
    ToolCalled,
    ToolDone,
    Usage,
    Wrapping,
)
from mltd.tui.claude.budget import budget_line
from mltd.tui.claude.flow import Flow
from mltd.tui.claude.layout import Layout
from mltd.tui.claude.point import Point
from mltd.tui.claude.talk import Talk
from mltd.tui.engine.consult_protocol import (
    Cited,
    Needed,
    OpinedCause,
    OpinedFix,
    OpinionPage,
    Stand,
)
from mltd.tui.findings.spans import Span, cells, text_of

from .opinions import consulted
from .test_diagnosis_layout import check

NASTY = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=("Cs", "Cc", "Cf", "Mn", "Co")),
        st.sampled_from("\x1b\x07\x9b\t\n\r []模👍🏽\u200d\u2028\u202e-"),
    ),
    max_size=60,
) | st.sampled_from(["[bold]x[/]", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a" * 300, "模" * 90])


# -- text that grows ---------------------------------------------------------------------------


@given(st.lists(NASTY, max_size=8), st.integers(min_value=20, max_value=90))
def test_pieces_come_to_the_same_rows_as_the_whole(pieces: list[str], width: int) -> None:
    lead = Span("Claude  ", "heading")
    piecewise, whole = Flow(), Flow("".join(pieces))
    for piece in pieces:
        piecewise.add(piece)
        piecewise.lines(width, lead)
    seen = [text_of(line) for line in piecewise.lines(width, lead)]
    assert "".join(seen).replace(" ", "") == "".join(
        text_of(line) for line in whole.lines(width, lead)
    ).replace(" ", "")
    assert all(cell_len(row) <= width and row.isprintable() for row in seen)


def test_words_that_come_in_pieces_are_wrapped_as_if_they_came_at_once() -> None:
    said = "The loss leaves its range.\n\n\n  - one thing that takes more than a row\n- two\n\nEnd"
    flow = Flow()
    for letter in said:
        flow.add(letter)
        flow.lines(30, Span("  "))
    assert [text_of(line) for line in flow.lines(30, Span("  "))] == [
        "  The loss leaves its range.",
        "",
        "    - one thing that takes",
        "      more than a row",
        "  - two",
        "",
        "  End",
    ]


def test_rows_that_are_full_are_not_made_again() -> None:
    flow, lead = Flow(), Span("Claude  ", "heading")
    before = flow.lines(60, lead)
    for _ in range(2_000):
        flow.add("word ")
        after = flow.lines(60, lead)
        assert all(old is new for old, new in zip(before[:-1], after, strict=False))
        before = after
    assert len(before) > 150
    assert len(flow.lines(100, lead)) < len(before)


def test_a_row_of_marks_that_take_no_cell_ends_somewhere() -> None:
    flow = Flow()
    for _ in range(400):
        flow.add("\u0301" * 5)
        flow.lines(30, Span("  "))
    assert len(flow.lines(30, Span("  "))) > 3


# -- anything at all ---------------------------------------------------------------------------

EVENT: st.SearchStrategy[Event] = st.one_of(
    st.builds(Thinking, NASTY),
    st.builds(Text, NASTY),
    st.builds(ToolCalled, st.sampled_from("12"), NASTY, NASTY),
    st.builds(ToolDone, st.sampled_from("12"), NASTY, st.booleans()),
    st.builds(Usage, *[st.integers(0, 10**9)] * 3, st.none() | st.floats(0, 1e4), st.just(1.0)),
    st.builds(Retrying, st.floats(0, 1e4), NASTY),
    st.builds(Wrapping, NASTY),
    st.builds(Answered, NASTY),
    st.builds(Replied, NASTY),
    st.builds(Failed, NASTY, NASTY),
    st.builds(Cancelled),
)
SHARE = st.floats(0, 1)
CITED = st.builds(
    Cited,
    st.sampled_from(["log", "words", "odd"]),
    NASTY,
    st.sampled_from(["", "a.log:1"]),
    st.just(0),
    NASTY,
    NASTY,
    st.sampled_from(["confirmed", "elsewhere", "wrong", "unreadable", "odd"]),
    NASTY,
)
CAUSES = st.builds(
    OpinedCause,
    NASTY,
    NASTY,
    st.sampled_from(["critical", "warning", "info", "odd"]),
    SHARE,
    SHARE,
    NASTY,
    st.sampled_from([0.7, 0.85, 0.95]),
    st.booleans(),
    NASTY,
    st.tuples(NASTY),
    st.tuples(CITED, CITED),
    st.tuples(CITED),
    st.tuples(NASTY),
)
FIXES = st.builds(
    OpinedFix, *[NASTY] * 7, st.booleans(), st.booleans(), st.just(()) | st.tuples(NASTY)
)
STANDS = st.builds(
    Stand,
    st.sampled_from(["agree", "disagree", "only Claude", "only analyzers", "odd"]),
    st.sampled_from(["cause", "finding"]),
    NASTY,
    st.none() | SHARE,
    NASTY,
    st.none() | SHARE,
    NASTY,
)
PAGES = st.builds(
    OpinionPage,
    NASTY,
    NASTY,
    NASTY,
    st.lists(CAUSES, max_size=2).map(tuple),
    st.lists(FIXES, max_size=2).map(tuple),
    st.lists(st.builds(Needed, NASTY, NASTY, NASTY), max_size=1).map(tuple),
    st.lists(STANDS, max_size=2).map(tuple),
    st.tuples(NASTY),
)


@given(
    st.lists(EVENT, max_size=12),
    NASTY,
    st.none() | PAGES,
    NASTY,
    st.integers(min_value=60, max_value=200),
)
def test_whatever_comes_is_laid_out_within_the_width(
    events: list[Event], question: str, page: OpinionPage | None, problem: str, width: int
) -> None:
    talk, layout = Talk(1, 0, question), Layout()
    talk.begin(question)
    for event in events:
        talk.take((event,))
        check(layout.blocks(talk, width, question), width)
    talk.end(consulted(page, text=problem, problem=problem, hint=problem))
    blocks = layout.blocks(talk, width)
    check(blocks, width)
    for block in blocks:
        if isinstance(block.target, Point) and block.target.fold is not None:
            layout.fold(block.target.fold)
    check(layout.blocks(talk, width), width)
    assert cells(budget_line(talk, width)) <= width
