"""The triage in the app: from a finding to a hypothesis, an experiment, a verdict, a report."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.model.experiment import ExperimentStatus
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.session import Session
from mltd.sessions.storage.store import SessionStore
from mltd.tui.desk.desk import Desk
from mltd.tui.screens.compare import CompareScreen
from mltd.tui.screens.form import FormScreen
from mltd.tui.screens.session_list import SessionListScreen
from tests.tui.app_scene import Stage, diverging, healthy, piloted, served, write_log


def bad_log(folder: Path) -> Path:
    return write_log(folder / "bad.log", diverging())


def good_log(folder: Path) -> Path:
    lines = [line.replace("/1000", "/398") for line in healthy(floor=0.3)]
    return write_log(folder / "good.log", [*lines, "INFO Training completed successfully."])


@asynccontextmanager
async def at_a_desk(*names: Path, **options: Any) -> AsyncIterator[tuple[Stage, Desk]]:
    """The app, when it has found the session of the first run or begun a draft."""
    async with served(*names, **options) as stage:
        await stage.until(lambda: stage.app.desk is not None)
        assert stage.app.desk is not None
        yield stage, stage.app.desk


async def adopt(stage: Stage) -> None:
    """Make the worst finding a hypothesis, and look at the checklist."""
    await stage.press("3", "h")
    await stage.until(lambda: stage.app.desk and stage.app.desk.session.hypotheses)
    await stage.press("6")


async def accept(stage: Stage) -> None:
    await stage.until(lambda: isinstance(stage.app.screen, FormScreen))
    await stage.press("ctrl+s")
    await stage.until(lambda: stage.is_main)


def saved(state: Path | None = None) -> list[Session]:
    store = SessionStore(state)
    return [store.load(summary.id).session for summary in store.summaries()]


@piloted
async def test_looking_alone_makes_no_session(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await stage.press("6")
        await stage.shows("draft", "Intake and evidence", "Logs collected")
        assert desk.is_draft
    assert saved() == []


@piloted
async def test_a_finding_becomes_a_hypothesis_on_disk(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        hypothesis = desk.session.hypotheses[0]
        assert hypothesis.cause == "lr_too_high"
        assert hypothesis.evidence
        assert hypothesis.confidence.value <= hypothesis.confidence.ceiling
        await stage.until(lambda: desk.saving.state == "saved")
        await stage.shows("H1", "saved")
    (session,) = saved()
    assert session.hypotheses[0].statement == hypothesis.statement
    assert session.runs[0].location == str(tmp_path / "bad.log")
    assert session.diagnoses[0].body["status"]


@piloted
async def test_a_finding_that_is_adopted_twice_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.press("3", "h")
        await stage.until(lambda: any("that is H1 already" in said for said in stage.notices))
        assert len(desk.session.hypotheses) == 1


@piloted
async def test_a_run_that_is_opened_again_has_its_session_again(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, _):
        await adopt(stage)
    async with at_a_desk(log) as (stage, desk):
        assert [one.id for one in desk.session.hypotheses] == ["H1"]
        assert not desk.why_read_only
    moved = tmp_path / "elsewhere" / "renamed.out"
    moved.parent.mkdir()
    log.rename(moved)
    async with at_a_desk(moved) as (stage, desk):
        assert [one.id for one in desk.session.hypotheses] == ["H1"]
    assert len(saved()) == 1


@piloted
async def test_undo_and_redo(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.press("u")
        assert desk.session.hypotheses == ()
        await stage.press("U")
        assert [one.id for one in desk.session.hypotheses] == ["H1"]


@piloted
async def test_an_experiment_from_the_suggested_fix_to_its_verdict(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path)
    async with at_a_desk(bad, good) as (stage, desk):
        await adopt(stage)
        await stage.press("e")
        await accept(stage)
        (experiment,) = desk.session.experiments
        assert "lr" in experiment.change
        assert experiment.success
        # The run after the change logs no val loss: such a guard could not be decided.
        assert experiment.status is ExperimentStatus.PLANNED
        await stage.press("space")
        assert desk.session.experiments[0].status is ExperimentStatus.RUNNING
        assert desk.session.hypotheses[0].status is HypothesisStatus.TESTING
        await stage.press("L")
        await stage.shows("Run of E1", "good")
        await stage.press("enter")
        await stage.until(lambda: desk.session.experiments[0].run == "R2")
        await stage.until(lambda: "E1" in desk.live)
        result = desk.live["E1"]
        assert result.before == "bad.log" or "bad" in result.before
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
        await stage.shows("E1", "train/loss")
        await stage.press("escape")
    (session,) = saved()
    assert session.experiments[0].run == "R2"
    assert session.runs[1].part.value == "experiment"


@piloted
async def test_a_finished_run_that_passes_confirms_the_hypothesis(tmp_path: Path) -> None:
    bad = write_log(tmp_path / "bad.log", (one for one in diverging() if "val_loss" not in one))
    async with at_a_desk(bad, good_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.press("e")
        await accept(stage)
        before = desk.session.hypotheses[0].confidence.value
        await stage.press("space", "L", "enter")
        await stage.until(lambda: desk.session.experiments[0].status.is_over)
        assert desk.session.experiments[0].status is ExperimentStatus.PASSED
        hypothesis = desk.session.hypotheses[0]
        assert hypothesis.status is HypothesisStatus.CONFIRMED
        assert hypothesis.confidence.basis == "observation"
        assert before < hypothesis.confidence.value <= 0.95
        assert hypothesis.history[-1].source == "E1"
        await stage.press("u")
        assert desk.session.hypotheses[0].status is HypothesisStatus.TESTING


@piloted
async def test_a_report_is_written_beside_where_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_a_desk(bad_log(tmp_path)) as (stage, _):
        await adopt(stage)
        await stage.press("x")
        await accept(stage)
        await stage.until(lambda: any("report-bad" in said for said in stage.notices))
        await stage.press("x", "ctrl+s")
        await stage.shows("there is such a file")
    look_at_report(tmp_path)


def look_at_report(folder: Path) -> None:
    (report,) = folder.glob("report-*.md")
    text = report.read_text()
    assert text.startswith("# ")
    assert "lr_too_high" in text
    pictures = list(folder.glob("report-*/*.svg"))
    assert pictures
    assert all(f"{p.parent.name}/{p.name}" in text for p in pictures)


@piloted
async def test_the_list_opens_another_session_and_its_run(tmp_path: Path) -> None:
    first = bad_log(tmp_path / "one")
    second = write_log(tmp_path / "two" / "worse.log", diverging(bad_from=200))
    async with at_a_desk(first) as (stage, _):
        await adopt(stage)
    async with at_a_desk(second) as (stage, desk):
        await adopt(stage)
        await stage.press("S")
        await stage.until(lambda: isinstance(stage.app.screen, SessionListScreen))
        await stage.shows("worse", "bad.log")
        await stage.press("slash", *"bad.log", "enter", "enter")
        await stage.until(lambda: stage.is_main and stage.app.desk is not desk)
        await stage.until(lambda: stage.app.book.selected == 1)
        assert stage.app.desk is not None
        assert stage.app.desk.session.runs[0].location == str(first)
        assert stage.view == "checklist"


@piloted
async def test_a_second_app_reads_only_and_says_so(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, desk):
        await adopt(stage)
        await stage.until(lambda: desk.saving.state == "saved")
        async with at_a_desk(log) as (other, second):
            await other.press("6")
            await other.shows("read-only")
            await other.press("a")
            assert second.why_read_only
            assert len(second.session.hypotheses) == 1


@piloted
async def test_no_room_for_a_session_is_said_loudly_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, desk):
        with monkeypatch.context() as full:
            full.setattr(SessionStore, "create", no_room)
            await adopt(stage)
            await stage.shows("NOT SAVED", "H1")
        desk.retry()
        await stage.until(lambda: desk.saving.state == "saved")
    (session,) = saved()
    assert [one.id for one in session.hypotheses] == ["H1"]
