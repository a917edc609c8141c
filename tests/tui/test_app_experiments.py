"""Experiments in the app: planned from a fix, linked to a run, judged, recorded, undone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from mltd.sessions.model.experiment import ExperimentStatus
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.model.result import Outcome
from mltd.sessions.model.run_ref import RunPart
from mltd.sessions.report import Options, build, material_of
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
        assert any("passed" in one.title for one in stage.app.notice_board.history)
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
async def test_a_stalled_run_has_a_preliminary_verdict_until_its_log_is_a_day_old(
    tmp_path: Path,
) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        bridge = stage.bridge
        assert isinstance(bridge, Served)
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: "E1" in desk.live)
        believed = desk.session.hypotheses
        for hours, state in ((0, "running"), (2, "stalled")):
            bridge.now = NOW + 3600 * hours
            bridge.work()
            await stage.pilot.pause()
            stage.app.look_at_experiments()
            await stage.until(lambda state=state: desk.live["E1"].run_state == state)  # type: ignore[misc]
            assert desk.live["E1"].outcome is Outcome.PASSED
            assert desk.live["E1"].is_preliminary
            assert desk.session.experiments[0].result is None
            assert desk.session.hypotheses == believed
        await stage.shows("the run has stalled, and may go on")
        bridge.now = NOW + 2 * 86_400
        bridge.work()
        await stage.pilot.pause()
        stage.app.look_at_experiments()
        await stage.until(lambda: desk.session.experiments[0].result is not None)
        assert desk.session.hypotheses[0].status is HypothesisStatus.CONFIRMED


@piloted
async def test_a_key_says_that_the_run_is_over_and_makes_its_verdict_final(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: "E1" in desk.live)
        believed = desk.session.hypotheses
        assert desk.session.experiments[0].result is None
        await stage.shows("preliminary: the run is still going", "Run is over")
        for _ in range(2):
            await stage.press("F")
            await stage.until(lambda: desk.session.experiments[0].result is not None)
            assert desk.session.hypotheses[0].status is HypothesisStatus.CONFIRMED
            assert not desk.live["E1"].is_preliminary
            await stage.press("u")
            assert desk.session.hypotheses == believed
            assert desk.session.experiments[0].is_run_over
            await stage.press("u")
            await stage.until(lambda: desk.live["E1"].is_preliminary)
            assert not desk.session.experiments[0].is_run_over
            assert desk.session.experiments[0].result is None


@piloted
async def test_before_and_after_offers_to_end_the_run_instead_of_recording(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: "E1" in desk.live)
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
        quiet(stage)
        await stage.shows("✔ passed so far", "preliminary: the run is still going", "Run is over")
        assert "Record verdict" not in stage.text
        await stage.press("v")
        assert desk.session.experiments[0].result is None
        await stage.press("F")
        await stage.until(lambda: desk.session.experiments[0].status is ExperimentStatus.PASSED)
        quiet(stage)
        await stage.until(lambda: "so far" not in stage.text)
        assert "Run is over" not in stage.text


@piloted
async def test_a_reopened_session_knows_that_the_run_is_over(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: "E1" in desk.live)
        await stage.press("F")
        await stage.until(lambda: desk.session.experiments[0].status.is_over)
        await stage.press("u")
    async with at_a_desk(bad, good) as (stage, desk):
        assert desk.session.experiments[0].is_run_over
        assert desk.session.experiments[0].result is None
        stage.app.compare_experiment("E1")
        await stage.until(lambda: "E1" in desk.live)
        assert not desk.live["E1"].is_preliminary


@piloted
async def test_a_report_names_the_verdict_so_far_as_preliminary(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path, is_over=False)
    async with at_a_desk(bad, good) as (stage, desk):
        await plan(stage)
        await link(stage, desk)
        await stage.until(lambda: "E1" in desk.live)
        session = desk.with_results_so_far()
        assert session.hypotheses == desk.session.hypotheses
    options = Options(at=desk.session.created)
    told = build(session, material_of(session, {}, {}), options).text
    assert "**Verdict: passed** (preliminary: the run is still going)." in told
    told = build(session, material_of(session, {}, {}), replace(options, as_json=True)).text
    first = json.loads(told)["recommended_fixes"][0]
    assert (first["experiment"], first["preliminary"]) == ("E1", True)


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
