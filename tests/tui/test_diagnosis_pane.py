"""The diagnosis pane: what its keys do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from mltd.tui.claude.talk import Talk
from mltd.tui.widgets.diagnosis_pane import DiagnosisPane
from mltd.tui.widgets.finding_view import FindingView
from mltd.tui.widgets.question_bar import MOST_CHARACTERS
from mltd.tui.widgets.talk_view import TalkView

from .hosting import Host
from .opinions import CLIP, CURVE, DATA, DONE, EVENTS, GOOD, LR, PAGE, WIPE, consulted
from .test_diagnosis_talk import answered, asked

SMALL, LARGE = (80, 16), (140, 90)
HEARD = (
    DiagnosisPane.Wanted,
    DiagnosisPane.Questioned,
    DiagnosisPane.Stopped,
    DiagnosisPane.Adopted,
    DiagnosisPane.PlaceChosen,
)
Flow = Callable[[DiagnosisPane, Host, Pilot[None]], Awaitable[None]]


def play(flow: Flow, talk: Talk | None, size: tuple[int, int] = LARGE, notice: str = "") -> Host:
    """Show a conversation in a focused pane and let things happen."""
    pane = DiagnosisPane(id="diagnosis")
    app = Host(pane, *HEARD)

    async def run() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            pane.focus()
            pane.show(talk, notice=notice)
            await pilot.pause()
            await flow(pane, app, pilot)

    asyncio.run(run())
    assert not app.failures, app.failures[0].details
    return app


def view(pane: DiagnosisPane) -> TalkView:
    return pane.query_one(TalkView)


def text(pane: DiagnosisPane) -> str:
    return "\n".join(view(pane).texts)


def line(pane: DiagnosisPane, name: str) -> str:
    """What stands in one of the lines below; empty if it is not shown."""
    part = pane.query_one(f"#diagnosis-{name}", FindingView)
    return "\n".join(part.texts).strip() if part.display else ""


def bar_is_shown(pane: DiagnosisPane) -> bool:
    return bool(pane.query_one("#diagnosis-bar").display)


def field(pane: DiagnosisPane) -> Input:
    return pane.query_one(Input)


def notices(app: Host) -> str:
    return "\n".join(notice.message for notice in app._notifications)


# -- before and after ----------------------------------------------------------------------------


def test_enter_or_a_click_on_the_first_page_asks() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        row = next(n for n, said in enumerate(view(pane).texts) if "Ask Claude" in said)
        await pilot.click(view(pane), offset=(6, row))
        await pilot.press("a", "h", "y", "escape")

    app = play(flow, None)
    assert [type(message) for message in app.heard] == [DiagnosisPane.Wanted] * 2


def test_a_notice_says_why_it_cannot_be_used_and_nothing_is_offered() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert "● Claude is switched off" in text(pane)
        assert not bar_is_shown(pane)
        await pilot.press("enter")
        pane.show(None)
        await pilot.pause()
        assert "switched off" not in text(pane)

    assert play(flow, None, notice="Claude is switched off: --no-claude").heard == []


# -- keys ----------------------------------------------------------------------------------------


def test_every_kind_of_entry_can_be_reached_and_acted_upon() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("g", "enter")
        assert "looks  read_lines" in text(pane)
        await pilot.press("enter")
        assert "looks  read_lines" not in text(pane)
        await pilot.press("j", "h", "enter")  # the first cause, and its first place
        await pilot.press("j", "j", "enter", "h")  # the second place of the first cause
        await pilot.press("j", "j", "down", "h")  # the second cause
        await pilot.press("j", "y")  # the first fix
        assert app.clipboard == CLIP.example

    app = play(flow, answered())
    adopted = [m.cause for m in app.heard if isinstance(m, DiagnosisPane.Adopted)]
    chosen = [m.cited for m in app.heard if isinstance(m, DiagnosisPane.PlaceChosen)]
    assert adopted == [LR, LR, DATA]
    assert chosen == [GOOD, CURVE]


def test_a_dangerous_fix_is_never_copied_by_a_key() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("G")
        assert pane.pointed is not None
        assert pane.pointed.remedy is WIPE
        for key in ("y", "enter"):
            await pilot.press(key)
            assert app.clipboard == ""
        assert "deletes files (rm -rf checkpoints/step-245*)" in notices(app)
        assert "type it by hand" in notices(app)

    play(flow, answered())


def test_a_fix_that_cannot_be_taken_back_is_never_copied_by_a_key() -> None:
    final = CLIP._replace(is_reversible=False)

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("G")
        assert pane.pointed is not None
        assert pane.pointed.remedy is final
        await pilot.press("y")
        assert app.clipboard == ""
        assert "not copied: it cannot be taken back" in notices(app)
        assert "Careful: cannot be taken back. y does not copy it." in text(pane)

    talk = asked()
    talk.take(DONE)
    talk.end(consulted(PAGE._replace(fixes=(final,))))
    play(flow, talk)


def test_h_without_a_cause_under_the_cursor_means_the_first() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("G", "h")

    heard = play(flow, answered()).heard
    assert [m.cause for m in heard if isinstance(m, DiagnosisPane.Adopted)] == [LR]


def test_a_click_points_and_on_what_is_folded_it_unfolds() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        rows = view(pane).texts
        fix = next(n for n, said in enumerate(rows) if said.startswith("1  Clip"))
        await pilot.click(view(pane), offset=(6, fix))
        assert pane.pointed is not None
        assert pane.pointed.remedy is CLIP
        fold = next(n for n, said in enumerate(rows) if "▸" in said)
        await pilot.click(view(pane), offset=(12, fold))
        assert "looks  read_lines" in text(pane)

    play(flow, answered())


# -- questions -----------------------------------------------------------------------------------


def test_a_question_is_typed_sent_and_the_keys_go_back() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert bar_is_shown(pane)
        await pilot.press("a", *"why h", "enter")
        assert field(pane).value == ""
        assert pane.has_focus

    heard = play(flow, answered()).heard
    assert [m.text for m in heard if isinstance(m, DiagnosisPane.Questioned)] == ["why h"]


def test_escape_leaves_the_question_as_it_is_and_empty_ones_are_not_asked() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("a", "enter", "space", "enter")
        assert field(pane).has_focus
        await pilot.press("x", "escape")
        assert pane.has_focus
        assert field(pane).value == " x"
        await pilot.press("a", "y")
        assert field(pane).value == " xy"

    assert play(flow, answered()).heard == []


def test_a_question_that_is_too_long_is_refused_with_a_sentence() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        field(pane).value = "x" * (MOST_CHARACTERS + 1)
        await pilot.press("enter")
        await pilot.pause()
        assert "4,001 characters; at most 4,000" in notices(app)
        assert field(pane).value
        field(pane).value = "x" * MOST_CHARACTERS
        await pilot.press("enter")

    heard = play(flow, answered()).heard
    assert [len(m.text) for m in heard if isinstance(m, DiagnosisPane.Questioned)] == [4_000]


def test_lines_that_are_pasted_become_one_question() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        field(pane).post_message(events.Paste("why\n  this\r\nline?"))
        await pilot.pause()
        assert field(pane).value == "why this line?"

    play(flow, answered())


def test_there_is_no_line_for_questions_where_nobody_could_answer() -> None:
    talk = asked()

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        assert not bar_is_shown(pane)
        await pilot.press("a")
        assert pane.has_focus
        talk.end(consulted())
        pane.update_talk()
        assert bar_is_shown(pane)
        await pilot.press("a", "x")
        talk.begin("another question")
        pane.update_talk()
        assert bar_is_shown(pane)
        await pilot.press("enter")
        await pilot.pause()
        assert "Claude is not done yet" in notices(app)
        assert field(pane).value == "x"

    assert play(flow, talk).heard == []


def test_what_came_while_nobody_looked_is_there_when_somebody_does() -> None:
    talk = asked()

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        pane.display = False
        await pilot.pause()
        talk.take(DONE)
        talk.end(consulted())
        pane.update_talk()
        pane.display = True
        await pilot.pause()
        assert "Root causes according to Claude" in text(pane)

    play(flow, talk)


def test_another_conversation_is_shown_from_its_beginning() -> None:
    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("G")
        other = answered()
        pane.show(other)
        await pilot.pause()
        assert pane.talk is other
        assert view(pane).scroll_y == 0

    play(flow, answered(), SMALL)


@pytest.mark.parametrize("size", [(80, 24), (160, 48), (62, 12), (30, 8), (12, 4)])
def test_no_size_breaks_it(size: tuple[int, int]) -> None:
    talk = answered()
    talk.begin("why? [bold]\x1b[31m")
    talk.take(EVENTS)

    async def flow(pane: DiagnosisPane, app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("g", "j", "pagedown", "pageup", "k", "G")
        await pilot.resize_terminal(44, 15)
        await pilot.pause()
        assert "\x1b" not in text(pane)

    play(flow, talk, size)
