"""Experiments in the app: planned from a fix, linked to a run, judged, recorded, undone."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from mltd.sessions.model.experiment import ExperimentStatus
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.result import Outcome
from mltd.sessions.model.run_ref import RunPart
from mltd.tui.desk.desk import Desk
from mltd.tui.engine.curve_protocol import CompareRequest
from mltd.tui.engine.protocol import StatusChanged
from mltd.tui.screens.compare import CompareScreen
from mltd.tui.screens.run_picker import RunPicker
from tests.tui.app_scene import NOW, Served, Stage, healthy, piloted, write_log
from tests.tui.session_scene import at_a_desk, bad_log, good_log, plan, quiet, saved


async def link(stage: Stage, desk: Desk) -> None:
    """The run beside this one came out of the experiment."""
    await stage.press("L")
    await stage.until(lambda: isinstance(stage.app.screen, RunPicker))
    await stage.press("enter")
    await stage.until(lambda: desk.session.experiments[0].run)


def compared(stage: Stage) -> int:
    """How often before and after of an experiment was asked for."""
    assert isinstance(stage.bridge, Served)
    return len([wish for wish in stage.bridge.of(CompareRequest) if wish.experiment])


@piloted
async def test_an_experiment_from_the_suggested_fix_to_its_verdict(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path)
    async with at_a_desk(bad, good) as (stage, desk):
        experiment = await plan(stage)
        assert "lr" in experiment.change
        assert experiment.success
        assert experiment.rollback
        assert experiment.status is ExperimentStatus.PLANNED
        await stage.press("space")
        assert desk.session.experiments[0].status is ExperimentStatus.RUNNING
        assert desk.session.hypotheses[0].status is HypothesisStatus.TESTING
        await stage.press("L")
        await stage.shows("Run of E1", "good")
        await stage.press("enter")
        await stage.until(lambda: desk.session.experiments[0].run == "R2")
        await stage.until(lambda: "E1" in desk.live)
        assert (desk.live["E1"].before, desk.live["E1"].after) == ("bad.log", "good.log")
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
        quiet(stage)
        await stage.shows("E1: lr", "✔ passed", "✔ train/loss improves by 10%")
        await stage.press("escape")
        assert stage.is_main
    (session,) = saved()
    assert session.experiments[0].run == "R2"
    assert session.runs[1].part is RunPart.EXPERIMENT


@piloted
async def test_a_run_that_is_over_and_conclusive_is_recorded_and_moves_the_hypothesis(
    tmp_path: Path,
) -> None:
    async with at_a_desk(bad_log(tmp_path), good_log(tmp_path)) as (stage, desk):
        await plan(stage)
        before = desk.session.hypotheses[0].confidence.value
        await link(stage, desk)
        await stage.until(lambda: desk.session.experiments[0].status.is_over)
        assert desk.session.experiments[0].status is ExperimentStatus.PASSED
        assert any("passed" in one.title for one in stage.app._notifications)
        hypothesis = desk.session.hypotheses[0]
        assert hypothesis.status is HypothesisStatus.CONFIRMED
        assert hypothesis.confidence.basis == "observation"
        assert before < hypothesis.confidence.value <= 0.95
        assert hypothesis.history[-1].source == "E1"


@piloted
async def test_a_recorded_verdict_that_is_undone_is_not_recorded_again(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path), good_log(tmp_path)) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: desk.session.experiments[0].status.is_over)
        await stage.press("u")
        assert desk.session.hypotheses[0].status is HypothesisStatus.TESTING
        assert desk.session.experiments[0].result is None
        asked = compared(stage)
        stage.app.look_at_experiments()
        await stage.pilot.pause()
        assert compared(stage) == asked + 1
        assert desk.session.experiments[0].result is None
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
        await stage.press("v")
        await stage.until(lambda: desk.session.experiments[0].status is ExperimentStatus.PASSED)


@piloted
async def test_a_run_that_goes_on_is_judged_again_as_it_grows_and_recorded_at_its_end(
    tmp_path: Path,
) -> None:
    good = tmp_path / "good.log"
    told = (line.replace("3.0e-04", "1.0e-03") for line in healthy(floor=0.3))
    lines = [line.replace("/1000", "/398") for line in told]
    write_log(good, lines[:180])
    async with at_a_desk(bad_log(tmp_path), good) as (stage, desk):
        bridge = stage.bridge
        assert isinstance(bridge, Served)
        await plan(stage)
        with mock.patch("mltd.tui.experimenting.OVER", frozenset({"finished"})):
            await link(stage, desk)
            await stage.until(lambda: "E1" in desk.live)
            first = desk.live["E1"]
            assert first.is_preliminary
            assert desk.session.experiments[0].status is ExperimentStatus.RUNNING
            stage.app.look_at_experiments()
            asked = compared(stage)
            stage.app.look_at_experiments()
            assert compared(stage) == asked
            with good.open("a") as file:
                file.write("\n".join([*lines[180:], "INFO Training completed successfully.\n"]))
            bridge.work(good)
            await stage.pilot.pause()
            status = stage.app.book.of(1).status
            assert status is not None
            await stage.hear(StatusChanged(status._replace(last_line_at=NOW)))
            stage.app.look_at_experiments()
            await stage.until(lambda: desk.session.experiments[0].status.is_over)
        assert first.changes[0].window == (320.0, 358.0)
        assert desk.live["E1"].changes[0].window == (360.0, 398.0)
        result = desk.session.experiments[0].result
        assert result is not None
        assert not result.is_preliminary


@piloted
async def test_a_run_that_falls_silent_is_judged_once_more(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        with mock.patch("mltd.tui.experimenting.OVER", frozenset({"stalled"})):
            await link(stage, desk)
            await stage.until(lambda: "E1" in desk.live)
            stage.app.look_at_experiments()
            status = stage.app.book.of(1).status
            assert status is not None
            assert desk.session.experiments[0].result is None
            await stage.hear(StatusChanged(status._replace(state="stalled")))
            stage.app.look_at_experiments()
            await stage.until(lambda: desk.session.experiments[0].result is not None)


@piloted
async def test_a_key_records_what_is_seen_though_the_run_goes_on(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        with mock.patch("mltd.tui.experimenting.OVER", frozenset({"finished"})):
            await link(stage, desk)
            await stage.until(lambda: "E1" in desk.live)
            assert desk.session.experiments[0].result is None
            await stage.press("v")
            await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
            await stage.shows("Record verdict")
            await stage.press("v")
            await stage.until(lambda: desk.session.experiments[0].result is not None)
        result = desk.session.experiments[0].result
        assert result is not None
        assert result.outcome is Outcome.PASSED


@piloted
async def test_a_verdict_needs_a_run(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, _):
        await plan(stage)
        stage.app.show_verdict("E1")
        await stage.until(lambda: any("has no run yet" in said for said in stage.notices))


@piloted
async def test_a_run_of_yesterday_is_opened_to_be_compared(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path / "a"), good_log(tmp_path / "b")
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: desk.session.experiments[0].status.is_over)
    async with at_a_desk(bad) as (stage, desk):
        quiet(stage)
        assert len(stage.app.book.rows) == 1
        pane = stage.app.main_screen.checklist
        assert pane is not None
        await stage.press("6")
        pane.select("E1")
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
        await stage.shows("before bad.log  after good.log", "train/loss")
        assert len(stage.app.book.rows) == 2
        assert stage.app.book.selected == 0


@piloted
async def test_a_run_of_yesterday_that_is_gone_is_said_and_nothing_hangs(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path / "a"), good_log(tmp_path / "b")
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: desk.session.experiments[0].status.is_over)
    good.unlink()
    good.parent.rmdir()
    async with at_a_desk(bad) as (stage, _):
        quiet(stage)
        stage.app.show_verdict("E1")
        await stage.until(lambda: any("there is no file" in said for said in stage.notices))
        assert stage.is_main
        assert stage.app._expected == {}


@piloted
async def test_the_run_of_an_experiment_may_be_typed_as_a_path(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path / "a"), good_log(tmp_path / "b")
    async with at_a_desk(bad) as (stage, desk):
        await plan(stage)
        await stage.press("L")
        await stage.until(lambda: isinstance(stage.app.screen, RunPicker))
        picker = stage.app.screen
        assert isinstance(picker, RunPicker)
        picker._filter(str(good))
        await stage.shows("Enter opens")
        await stage.press("enter")
        await stage.until(lambda: desk.session.experiments[0].run == "R2")
        assert desk.session.runs[1].location == str(good)
        assert stage.app.book.selected == 0


@piloted
async def test_a_run_that_did_well_becomes_the_baseline(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path), good_log(tmp_path)) as (stage, desk):
        await stage.press("6", "B")
        await stage.shows("A run that did well", "good")
        await stage.press("enter")
        await stage.until(lambda: len(desk.session.runs) == 2)
        assert desk.session.runs[1].part is RunPart.BASELINE
        assert desk.session.marks["baseline"].by == "app"
        assert desk.session.experiments == ()
        await stage.press("u")
        assert "baseline" not in desk.session.marks


@piloted
async def test_the_run_before_the_change_is_not_the_one_after_it(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path), good_log(tmp_path)) as (stage, desk):
        await plan(stage)
        stage.app.link_run("E1", 0)
        await stage.until(lambda: any("before the change" in said for said in stage.notices))
        assert desk.session.experiments[0].run == ""
        assert [run.part for run in desk.session.runs] == [RunPart.INCIDENT]
