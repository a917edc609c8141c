"""The list of sessions in the app, reports of them, and paths typed into the picker."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from mltd.sessions.storage.store import SessionStore
from mltd.tui.engine.protocol import Reported
from mltd.tui.screens.confirm import ConfirmScreen
from mltd.tui.screens.run_picker import RunPicker
from mltd.tui.screens.session_list import SessionListScreen
from mltd.tui.session_keeping import REPORT
from tests.tui.app_scene import Stage, diverging, piloted, write_log
from tests.tui.session_scene import accept, adopt, at_a_desk, bad_log, ids, quiet, saved


async def earlier(tmp_path: Path, name: str = "old.log") -> Path:
    """A run with a session, made some time ago."""
    log = bad_log(tmp_path / "earlier", name)
    async with at_a_desk(log) as (stage, _):
        await adopt(stage)
    return log


async def list_sessions(stage: Stage) -> SessionListScreen:
    await stage.press("S")
    await stage.until(lambda: isinstance(stage.app.screen, SessionListScreen))
    screen = stage.app.screen
    assert isinstance(screen, SessionListScreen)
    await stage.until(lambda: screen._rows)
    return screen


def is_reported(stage: Stage, name: str) -> bool:
    """True once the app has said where the report about a log is."""
    return any(name in said and "report-" in said for said in stage.notices)


def point_at(screen: SessionListScreen, title: str) -> None:
    screen.table.point_at(next(row.id for row in screen._rows if title in row.title))


async def typed_path(stage: Stage, key: str, path: Path) -> None:
    await stage.press(key)
    await stage.until(lambda: isinstance(stage.app.screen, RunPicker))
    picker = stage.app.screen
    assert isinstance(picker, RunPicker)
    picker._filter(str(path))
    await stage.shows("Enter opens")
    await stage.press("enter")


# -- opening -----------------------------------------------------------------------------------


@piloted
async def test_the_list_opens_another_session_and_its_run(tmp_path: Path) -> None:
    old = await earlier(tmp_path)
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await list_sessions(stage)
        await stage.shows("test_the_lis", "old.log")
        await stage.press("slash", *"old.log", "enter", "enter")
        await stage.until(lambda: stage.is_main and stage.app.desk is not desk)
        await stage.until(lambda: stage.app.book.selected == 1)
        assert stage.app.desk is not None
        assert stage.app.desk.session.runs[0].location == str(old)
        assert stage.view == "checklist"
        await stage.press("left_square_bracket")
        assert stage.app.desk is desk


@piloted
async def test_a_session_whose_run_is_gone_is_opened_all_the_same(tmp_path: Path) -> None:
    old = await earlier(tmp_path)
    old.unlink()
    old.parent.rmdir()
    # With the same content it would be the same run at another place.
    other = write_log(tmp_path / "other.log", diverging(bad_from=200))
    async with at_a_desk(other) as (stage, desk):
        screen = await list_sessions(stage)
        point_at(screen, "old.log")
        await stage.press("enter")
        await stage.until(lambda: stage.is_main and stage.app.desk is not desk)
        await stage.until(lambda: any("there is no " in said for said in stage.notices))
        opened = stage.app.desk
        assert opened is not None
        # News of the run that is still looked at do not take the session away.
        quiet(stage)
        stage.app._asked.clear()
        stage.app._want_facts(0)
        await stage.pilot.pause()
        assert stage.app.desk is opened
        await stage.shows("old.log", "H1")
        # A finding of that run belongs to the run's own session.
        await stage.press("3", "h")
        await stage.until(lambda: desk.session.hypotheses)
        assert stage.app.desk is desk
        assert ids(opened.session) == ["H1"]


@piloted
async def test_sessions_that_cannot_be_listed_are_said(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, _):
        SessionStore().folder.parent.mkdir(parents=True, exist_ok=True)
        SessionStore().folder.write_text("no folder")
        await stage.press("S")
        await stage.until(lambda: any("cannot be read" in said for said in stage.notices))


# -- changing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["bad.log", "old.log"])
def test_a_session_is_renamed_whether_it_is_open_or_not(tmp_path: Path, which: str) -> None:
    @piloted
    async def walk() -> None:
        await earlier(tmp_path)
        async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
            await adopt(stage)
            screen = await list_sessions(stage)
            point_at(screen, which)
            await stage.press("R")
            await stage.pilot.pause()
            await stage.press("ctrl+u", *"boom")
            await accept(stage)
            await stage.until(lambda: any(row.title == "boom" for row in screen._rows))
            assert (desk.session.title == "boom") is (which == "bad.log")
        kept = {session.title for session in saved()}
        assert "boom" in kept
        assert not any(title.startswith(which) for title in kept)

    walk()


@pytest.mark.parametrize("which", ["bad.log", "old.log"])
def test_a_session_is_archived_and_brought_back(tmp_path: Path, which: str) -> None:
    @piloted
    async def walk() -> None:
        await earlier(tmp_path)
        async with at_a_desk(bad_log(tmp_path)) as (stage, _):
            await adopt(stage)
            screen = await list_sessions(stage)
            point_at(screen, which)
            await stage.press("A")
            await stage.until(lambda: any(row.is_archived for row in screen._rows))
        assert [which in one.title for one in saved() if one.is_archived] == [True]

    walk()


@piloted
async def test_the_open_session_is_deleted_and_a_draft_takes_its_place(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.until(lambda: desk.saving.state == "saved")
        screen = await list_sessions(stage)
        await stage.press("d")
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen))
        await stage.shows("It is the session that is open now")
        await stage.press("y")
        await stage.until(lambda: not screen._rows)
        await stage.press("escape")
        await stage.until(lambda: stage.app.desk not in (None, desk))
        assert stage.app.desk is not None
        assert stage.app.desk.is_draft
        await adopt(stage)
        assert ids(stage.app.desk.session) == ["H1"]
    (session,) = saved()
    assert session.id != desk.session.id


@piloted
async def test_another_session_is_deleted_and_this_one_goes_on(tmp_path: Path) -> None:
    await earlier(tmp_path)
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        screen = await list_sessions(stage)
        point_at(screen, "old.log")
        await stage.press("d")
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen))
        await stage.press("y")
        await stage.until(lambda: len(screen._rows) == 1)
        assert stage.app.desk is desk
    assert [one.id for one in saved()] == [desk.session.id]


@piloted
async def test_what_another_app_has_open_is_neither_renamed_nor_deleted(tmp_path: Path) -> None:
    log = bad_log(tmp_path / "other")
    async with at_a_desk(log) as (first, held):
        await adopt(first)
        async with at_a_desk(bad_log(tmp_path, "own.log")) as (stage, _):
            screen = await list_sessions(stage)
            stage.app.on_session_list_screen_renamed(screen.Renamed(held.session.id, "mine"))
            await stage.until(lambda: any("read-only" in said for said in stage.notices))
            quiet(stage)
            with mock.patch("mltd.sessions.storage.holder.is_this_process", return_value=False):
                stage.app.on_session_list_screen_deleted(screen.Deleted(held.session.id))
            await stage.until(lambda: any("cannot be deleted" in said for said in stage.notices))
        assert held.session.title != "mine"
    assert [ids(one) for one in saved()] == [["H1"]]


# -- reports -----------------------------------------------------------------------------------


@piloted
async def test_a_report_is_written_beside_where_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_a_desk(bad_log(tmp_path)) as (stage, _):
        await adopt(stage)
        await stage.press("x")
        await accept(stage)
        await stage.until(lambda: is_reported(stage, "bad.log"))
        quiet(stage)
        await stage.press("x", "ctrl+s")
        await stage.shows("there is such a file")
    look_at_report(tmp_path)


@piloted
async def test_a_report_of_another_session_has_the_curves_of_its_own_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await earlier(tmp_path)
    monkeypatch.chdir(tmp_path)
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        screen = await list_sessions(stage)
        point_at(screen, "old.log")
        await stage.press("x")
        await accept(stage)
        await stage.until(lambda: is_reported(stage, "old.log"))
        assert stage.app.desk is desk
        assert desk.is_draft
    look_at_report(tmp_path)


@piloted
async def test_a_report_that_could_not_be_written_is_said(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, _):
        await stage.hear(Reported(REPORT, problem="no space left on device"))
        assert stage.notices == ["no report was written: no space left on device"]


def look_at_report(folder: Path) -> None:
    (report,) = folder.glob("report-*.md")
    text = report.read_text()
    assert text.startswith("# ")
    assert "lr_too_high" in text
    pictures = list(folder.glob("report-*/*.svg"))
    assert pictures
    assert all(f"{p.parent.name}/{p.name}" in text for p in pictures)


# -- paths in the picker -----------------------------------------------------------------------


@piloted
async def test_a_path_that_is_typed_into_the_picker_is_opened(tmp_path: Path) -> None:
    other = bad_log(tmp_path / "far", "away.log")
    async with at_a_desk(bad_log(tmp_path / "near")) as (stage, desk):
        await typed_path(stage, "r", other)
        await stage.until(lambda: stage.is_main and stage.app.book.selected == 1)
        await stage.until(lambda: stage.app.desk not in (None, desk))
        assert stage.app.desk is not None
        assert stage.app.desk.session.runs[0].location == str(other)


@piloted
async def test_a_typed_path_that_leads_nowhere_is_said_and_nothing_hangs(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await typed_path(stage, "r", tmp_path / "no" / "such" / "x.log")
        await stage.until(lambda: any("there is no " in said for said in stage.notices))
        assert stage.is_main
        assert stage.app._expected == {}
        assert stage.app.desk is desk
        assert stage.app.book.selected == 0
