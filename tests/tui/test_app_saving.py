"""Where a session cannot be saved: work goes on, everybody is told, and nothing is lost."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from mltd.sessions.actions.hypotheses import RemoveHypothesis
from mltd.sessions.storage.store import SessionStore
from mltd.tui.desk.desk import private_name
from tests.tui.app_scene import Stage, piloted
from tests.tui.session_scene import accept, adopt, at_a_desk, bad_log, ids, quiet, saved


@contextmanager
def no_room() -> Iterator[None]:
    """No session can be created."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with mock.patch.object(SessionStore, "create", refuse):
        yield


def told(stage: Stage, text: str) -> int:
    return sum(text in said for said in stage.notices)


@piloted
async def test_no_room_for_a_session_is_said_loudly_and_nothing_is_lost(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        with no_room():
            await stage.press("3", "h")
            await stage.until(lambda: told(stage, "no session can be created") == 1)
            await stage.press("6")
            quiet(stage)
            await stage.shows("NOT SAVED (1)", "H1")
            stage.app._look_after_engine()
            await stage.pilot.pause()
            assert "NOT SAVED" in stage.text.splitlines()[0] + stage.text.splitlines()[1]
            await stage.press("u")
            assert desk.session.hypotheses == ()
            await stage.press("U")
            assert ids(desk.session) == ["H1"]
            # On a slow machine it was tried before by itself.
            before = desk.retry_after
            stage.app._retry(desk)
            stage.app._retry(desk)
            assert desk.retry_after == 4 * before
            assert told(stage, "no session can be created") == 1
        stage.app._retry(desk)
        await stage.until(lambda: desk.saving.state == "saved")
        await stage.until(lambda: told(stage, "on disk again") == 1)
        await stage.press("u")
        assert desk.session.hypotheses == ()
        await stage.press("U")
    (session,) = saved()
    assert ids(session) == ["H1"]
    assert stage.app.problems == []


@piloted
async def test_it_is_tried_again_by_itself(tmp_path: Path) -> None:
    with mock.patch("mltd.tui.desk.desk.FIRST_RETRY", 0.05):
        async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
            with no_room():
                await adopt(stage)
                await stage.until(lambda: desk.retry_after > 0.1)
                assert desk.needs_retry
            await stage.until(lambda: desk.saving.state == "saved")
    assert [ids(one) for one in saved()] == [["H1"]]


@piloted
async def test_what_has_no_file_at_the_end_is_kept_in_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rescue = tmp_path / "rescue"
    rescue.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(rescue))
    usual = SessionStore().folder
    create = SessionStore.create

    def only_elsewhere(store: SessionStore, title: str) -> object:
        if store.folder == usual:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return create(store, title)

    monkeypatch.setattr(SessionStore, "create", only_elsewhere)
    async with at_a_desk(bad_log(tmp_path)) as (stage, _):
        await adopt(stage)
    (problem,) = stage.app.problems
    assert "no session can be created" in problem
    folder = Path(problem.rpartition(" ")[2])
    assert folder.parent.parent == rescue
    assert ids(SessionStore().load(folder).session) == ["H1"]
    assert saved() == []


@piloted
async def test_a_suggested_folder_that_somebody_else_may_have_prepared_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared := tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(shared))
    (target := tmp_path / "elsewhere").mkdir()
    planted = shared / private_name()
    planted.symlink_to(target)
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        with no_room():
            desk.retry_after = 3600.0
            await adopt(stage)
            quiet(stage)
        await stage.press("s")
        await accept(stage)
        await stage.until(lambda: desk.saving.state == "saved")
    assert list(target.iterdir()) == []
    (fresh,) = set(shared.iterdir()) - {planted}
    assert len(saved(fresh)) == 1


@piloted
async def test_a_session_is_saved_elsewhere_and_goes_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    other = tmp_path / private_name()
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        with no_room():
            desk.retry_after = 3600.0
            await adopt(stage)
            quiet(stage)
        await stage.press("s")
        await accept(stage)
        await stage.until(lambda: desk.saving.state == "saved")
        assert told(stage, str(other)) == 1
        assert not desk.needs_retry
        await stage.press("u")
    (folder,) = other.iterdir()
    assert stage.app.problems == []
    assert stage.app.farewells[0].endswith(f"mltd-tui report {folder}")
    assert [ids(one) for one in saved(other)] == [[]]
    assert saved() == []


@piloted
async def test_another_session_that_is_saved_does_not_speak_for_this_one(tmp_path: Path) -> None:
    first, second = bad_log(tmp_path, "one.log"), bad_log(tmp_path, "two.log")
    async with at_a_desk(first, second) as (stage, desk):
        with no_room():
            desk.retry_after = 3600.0
            await adopt(stage)
            await stage.press("right_square_bracket")
            await stage.until(lambda: stage.app.desk not in (None, desk))
        await adopt(stage)
        await stage.until(lambda: stage.app.desk and stage.app.desk.saving.state == "saved")
        assert told(stage, "on disk again") == 0
        await stage.press("left_square_bracket")
        assert desk.needs_retry
        assert told(stage, "no session can be created") <= 1
        stage.app._retry(desk)
        await stage.until(lambda: told(stage, "on disk again") == 1)
    assert len(saved()) == 2


@piloted
async def test_the_first_thing_that_is_refused_makes_no_session(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        assert not stage.app.change(lambda desk: desk.do(RemoveHypothesis(id="H9")))
        await stage.until(lambda: told(stage, "H9") == 1)
        assert desk.is_draft
    assert saved() == []
