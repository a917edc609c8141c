"""The list of sessions: find, open, rename, put away, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.sessions.storage.summary import SessionSummary
from mltd.tui.run_list import Heading
from mltd.tui.screens.confirm import ConfirmScreen
from mltd.tui.screens.form import FormScreen
from mltd.tui.screens.session_list import SessionListScreen
from mltd.tui.widgets.session_table import SessionTable, age_of, lay_out
from tests.tui.hosting import Host

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def row(
    id: str,  # noqa: A002 - what it is
    title: str,
    age: timedelta,
    phase: str = "intake",
    **facts: Any,
) -> SessionSummary:
    made = SessionSummary(id, title, NOW - timedelta(days=30), NOW - age, phase)
    return made._replace(**facts)


ROWS = (
    row("s2", "NaN after resume", timedelta(hours=5), "hypotheses", runs=("resume-7b",),
        hypotheses=2, headline="0.62 stale optimizer state"),
    row("s1", "loss diverges", timedelta(minutes=3), "fix", runs=("lr-3e-3", "lr-1e-3"),
        hypotheses=3, experiments=2, headline="0.88 the rate is too high"),
    row("s4", "", timedelta(days=12), problem="written by a newer version: update"),
    row("s3", "out of memory", timedelta(days=8), "handoff", is_archived=True),
)  # fmt: skip
WISHES = (
    SessionListScreen.Renamed,
    SessionListScreen.Archived,
    SessionListScreen.Deleted,
    SessionListScreen.ReportWanted,
)
Check = Callable[[Pilot[None], SessionListScreen], Awaitable[None]]


def look(
    check: Check, rows: tuple[SessionSummary, ...] = ROWS, size: tuple[int, int] = (80, 24)
) -> tuple[list[str | None], list[Message]]:
    """What the list ended with, if it did, and what it asked for."""
    ended: list[str | None] = []
    host = Host(Static(), *WISHES)

    async def run() -> None:
        screen = SessionListScreen(rows, current="s1", clock=NOW.timestamp)
        async with host.run_test(size=size) as pilot:
            await host.push_screen(screen, ended.append)
            await pilot.pause()
            await check(pilot, screen)
            await pilot.pause()
        assert host.failures == []

    asyncio.run(run())
    return ended, host.heard


def ids(screen: SessionListScreen) -> list[str]:
    lines = screen.table.lines
    return [line.title if isinstance(line, Heading) else line.id for line in lines]


def seen(screen: SessionListScreen) -> list[str]:
    table = screen.table
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def test_enter_opens_the_session_under_the_cursor() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        assert ids(screen) == ["s1", "s2", "s4"]
        await pilot.press("down", "enter")

    assert look(check) == (["s2"], [])


def test_a_row_says_what_a_session_is_about() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        lines = seen(screen)
        assert lines[1].startswith("▸● loss diverges")
        assert lines[1].split()[3:8] == ["4/5", "▰▰▰▰▱", "3", "2", "0.88"]
        assert "lr-3e-3 +1" in lines[1]
        assert lines[1].endswith("3m ago")
        assert lines[3].startswith(" ✖ s4")
        assert "written by a newer version" in lines[3]
        more = str(screen.query_one("#sessions-more", Static).content)
        assert more.startswith("0.88 the rate is too high\ns1  ·  since 2026-06-01")
        assert more.endswith("lr-3e-3, lr-1e-3")

    look(check, size=(160, 48))


def test_the_search_looks_at_titles_runs_headlines_and_ids() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        await pilot.press("slash", *"7B")
        assert ids(screen) == ["s2"]
        await pilot.press("ctrl+u", *"rate too")
        assert ids(screen) == ["s1"]
        await pilot.press("ctrl+u", "s", "4")
        assert ids(screen) == ["s4"]
        await pilot.press("x")
        assert "no session matches “s4x”" in " ".join("".join(seen(screen)).split())
        await pilot.press("backspace", "enter")
        assert isinstance(screen.focused, SessionTable)
        await pilot.press("escape")
        assert len(ids(screen)) == 3
        await pilot.press("escape")

    assert look(check) == ([None], [])


def test_the_archive_is_shown_on_demand_and_searched_with_the_rest() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        pane = screen.query_one("#sessions")
        assert str(pane.border_subtitle) == "3 of 4 sessions, 1 archived"
        await pilot.press("h")
        assert ids(screen) == ["s1", "s2", "s4", "archived", "s3"]
        assert str(pane.border_subtitle) == "4 sessions"
        await pilot.press("end", "A", "up", "up", "A")

    _, heard = look(check)
    assert heard == [
        SessionListScreen.Archived("s3", is_archived=False),
        SessionListScreen.Archived("s2", is_archived=True),
    ]


def test_renaming_asks_for_a_title() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        await pilot.press("R")
        await pilot.pause()
        assert isinstance(pilot.app.screen, FormScreen)
        await pilot.press("!", "enter")
        await pilot.press("R", "enter", "x")

    assert look(check)[1] == [
        SessionListScreen.Renamed("s1", "loss diverges!"),
        SessionListScreen.ReportWanted("s1"),
    ]


def test_deleting_asks_and_takes_no_for_an_answer() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        await pilot.press("d")
        question = pilot.app.screen
        assert isinstance(question, ConfirmScreen)
        said = str(question.query_one("#confirm-what", Static).content)
        assert "3 hypotheses and 2 experiments" in said
        assert "open now" in said
        await pilot.press("enter", "down", "delete", "y")

    assert look(check)[1] == [SessionListScreen.Deleted("s2")]


def test_what_cannot_be_read_can_only_be_deleted() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        await pilot.press("end", "enter", "R", "A", "x")
        assert pilot.app.screen is screen
        await pilot.press("d", "y")

    assert look(check) == ([], [SessionListScreen.Deleted("s4")])


def test_the_cursor_stays_on_its_session_when_rows_change() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        await pilot.press("down")
        screen.set_rows((*ROWS[:1], ROWS[1]._replace(is_archived=True)))
        assert screen.table.current == ROWS[0]
        screen.set_rows(ROWS[1:])
        assert screen.table.current is not None

    look(check)


def test_without_sessions_it_says_how_one_begins() -> None:
    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        said = " ".join("".join(seen(screen)).split())
        assert "no sessions yet" in said
        assert "press h on a finding" in said
        await pilot.press("enter", "d", "R", "x", "A", "q")

    assert look(check, rows=()) == ([None], [])


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 48)])
def test_hostile_text_is_text_and_fits(size: tuple[int, int]) -> None:
    texts = ("[bold]x[/nonsense]", "\x1b]0;owned\x07", "a\nb\tc", "日本語" * 30, "‮evil", "")
    rows = tuple(
        row(f"{n}{text}", text, timedelta(), text, headline=text, runs=(text, text), problem=p)
        for n, text in enumerate(texts)
        for p in ("", text)
    )

    async def check(pilot: Pilot[None], screen: SessionListScreen) -> None:
        for strip in screen._compositor.render_strips(screen.size):
            assert strip.text.isprintable()
        table = screen.table
        for y in range(table.size.height):
            assert table.render_line(y).cell_length == table.scrollable_content_region.width
        assert "[bold]" in "".join(seen(screen))

    look(check, rows=rows, size=size)


@pytest.mark.parametrize("width", [58, 78, 118, 158, 298])
def test_columns_fill_the_width_and_no_more(width: int) -> None:
    for longest in (0, 20, 90):
        columns = lay_out(width, longest)
        shown = [columns.title, columns.phase, columns.count, columns.count, columns.headline, 7]
        shown += [columns.run] if columns.run else []
        assert 3 + sum(shown) + columns.gap * (len(shown) - 1) == width


def test_ages_are_short() -> None:
    assert age_of(None, 0) == ""
    assert age_of(NOW, NOW.timestamp()) == "now"
    assert age_of(NOW - timedelta(days=99), NOW.timestamp()) == "99d ago"
