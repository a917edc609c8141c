"""The triage in the app: from a finding to a hypothesis that is there again the next day."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from mltd.sessions.actions.hypotheses import AddEvidence
from mltd.sessions.model.constraints import Topic
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.run_ref import RunPart
from mltd.tui.app import MltdApp, Wanted
from mltd.tui.engine.protocol import Diagnosed, FactsRequest, Open
from mltd.tui.replay import Replay
from mltd.tui.screens.confirm import ConfirmScreen
from mltd.tui.screens.form import FormScreen
from tests.tui.app_scene import (
    COLOURFUL,
    Served,
    Stage,
    diverging,
    healthy,
    piloted,
    served,
    write_log,
)
from tests.tui.session_scene import accept, adopt, at_a_desk, bad_log, good_log, ids, quiet, saved


@piloted
async def test_looking_alone_makes_no_session(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await stage.press("6")
        await stage.shows("draft", "Intake and evidence", "Logs collected")
        assert desk.session.runs
        assert desk.session.diagnoses
        assert desk.is_draft
    assert saved() == []
    assert stage.app.farewells == []


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
    assert stage.app.farewells == [f"session {session.title}: mltd-tui report {session.id}"]


@piloted
async def test_a_finding_that_is_adopted_before_sessions_are_loaded_waits(tmp_path: Path) -> None:
    with mock.patch("mltd.tui.triaging.LOAD_AFTER", 3600.0):
        async with served(bad_log(tmp_path)) as stage:
            await stage.press("3", "h")
            assert stage.app.desk is None
            await stage.press("6", "a")
            assert any("no session yet" in said for said in stage.notices)
            await stage.press("S")
            assert any("still being loaded" in said for said in stage.notices)
            stage.app._load()
            await stage.until(lambda: stage.app.desk and stage.app.desk.session.hypotheses)
    assert [ids(one) for one in saved()] == [["H1"]]


@piloted
async def test_a_finding_that_is_adopted_twice_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.press("3", "h")
        await stage.until(lambda: any("that is H1 already" in said for said in stage.notices))
        assert ids(desk.session) == ["H1"]


@piloted
async def test_a_run_that_is_opened_again_has_its_session_again(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, _):
        await adopt(stage)
    async with at_a_desk(log) as (stage, desk):
        assert ids(desk.session) == ["H1"]
        assert not desk.why_read_only
        assert any("1 hypothesis" in said for said in stage.notices)
    assert len(saved()) == 1


@piloted
async def test_a_log_that_was_moved_is_still_the_same_run(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, desk):
        await adopt(stage)
        ticked = {item for item, mark in desk.session.marks.items() if mark.by == "app"}
    moved = tmp_path / "elsewhere" / "renamed.out"
    moved.parent.mkdir()
    log.rename(moved)
    async with at_a_desk(moved) as (stage, desk):
        assert ids(desk.session) == ["H1"]
        assert [(run.id, run.location) for run in desk.session.runs] == [("R1", str(moved))]
        assert stage.app.number_of(desk.session.runs[0]) == 0
        assert ticked <= set(desk.session.marks)
    assert len(saved()) == 1


@piloted
async def test_undo_and_redo(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.press("u")
        assert desk.session.hypotheses == ()
        await stage.press("U")
        assert ids(desk.session) == ["H1"]


@piloted
async def test_facts_of_the_log_are_known_and_a_person_has_the_last_word(tmp_path: Path) -> None:
    lines = ["torch 2.4.1", "GPU 0: NVIDIA A100-SXM4-80GB", *diverging()]
    log = write_log(tmp_path / "bad.log", lines)
    async with at_a_desk(log) as (stage, desk):
        fact = desk.session.constraints.facts[Topic.HARDWARE]
        assert fact.is_prefilled
        assert stage.app.main_screen.checklist is not None
        stage.app.main_screen.checklist.select("hardware", "fact")
        await stage.press("6", "space")
        assert not desk.session.constraints.facts[Topic.HARDWARE].is_prefilled
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, FormScreen))
        await stage.press("ctrl+u", *"one abacus")
        await accept(stage)
        before = len(desk.triage.entries)
        stage.app.bridge.send(FactsRequest(0))
        await stage.pilot.pause()
        assert desk.session.constraints.facts[Topic.HARDWARE].value == "one abacus"
        assert len(desk.triage.entries) == before


@piloted
async def test_a_growing_log_does_not_fill_the_journal(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, desk):
        await adopt(stage)
        bridge = stage.bridge
        assert isinstance(bridge, Served)
        lines = desk.gathered["R1"].seen.lines
        before = 0
        for step in range(400, 420, 2):
            with log.open("a") as file:
                file.write(f"INFO step {step}/1000 | loss nan | grad_norm inf | lr 3.0e-03\n")
            bridge.work(log)
            bridge.send(FactsRequest(0))
            await stage.pilot.pause()
            # That it is not over, as it seemed to be, is news; more of the same is none.
            before = before or len(desk.triage.entries)
        await stage.until(lambda: desk.gathered["R1"].seen.lines == lines + 10)
        assert len(desk.triage.entries) == before


@piloted
async def test_facts_are_asked_for_only_now_and_then(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, _):
        bridge = stage.bridge
        assert isinstance(bridge, Served)
        asked = len(bridge.of(FactsRequest))
        diagnosis = stage.app.book.of(0).diagnosis
        assert diagnosis is not None
        for _ in range(3):
            await stage.hear(Diagnosed(0, diagnosis))
        assert len(bridge.of(FactsRequest)) == asked == 1


@piloted
async def test_another_run_has_another_session(tmp_path: Path) -> None:
    first, second = bad_log(tmp_path, "one.log"), bad_log(tmp_path, "two.log")
    async with at_a_desk(first, second) as (stage, desk):
        await adopt(stage)
        await stage.press("right_square_bracket")
        await stage.until(lambda: stage.app.desk is not None and stage.app.desk is not desk)
        other = stage.app.desk
        assert other is not None
        assert other.is_draft
        await stage.press("6")
        await stage.shows("two.log", "draft")
        await stage.press("left_square_bracket")
        assert stage.app.desk is desk
        await stage.shows("H1")
    assert len(saved()) == 1


@piloted
async def test_two_runs_of_one_session_share_it(tmp_path: Path) -> None:
    bad, good = bad_log(tmp_path), good_log(tmp_path)
    async with at_a_desk(bad, good) as (stage, desk):
        await adopt(stage)
        await stage.press("e")
        await accept(stage)
        await stage.press("L", "enter")
        await stage.until(lambda: desk.session.experiments[0].run)
        await stage.press("right_square_bracket")
        await stage.until(lambda: stage.app.book.selected == 1)
        assert stage.app.desk is desk
        assert [run.part for run in desk.session.runs] == [RunPart.INCIDENT, RunPart.EXPERIMENT]
    async with at_a_desk(good) as (stage, desk):
        assert ids(desk.session) == ["H1"]


@piloted
async def test_evidence_is_shown_where_it_stands(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        line = EvidenceRef(kind=RefKind.LOG, ref="bad.log:160", run="R1")
        assert stage.app.change(lambda desk: desk.do(AddEvidence(id="H1", evidence=line)))
        pane = stage.app.main_screen.checklist
        assert pane is not None
        for number, view in ((0, "curves"), (-1, "log")):
            await stage.press("6")
            pane.post_message(pane.EvidenceChosen(desk.session.hypotheses[0].evidence[number]))
            await stage.until(lambda view=view: stage.focused == view)  # type: ignore[misc]
            assert stage.view == "overview"
        await stage.shows("step 318/1000")


@piloted
async def test_evidence_in_another_run_of_the_session_leads_to_that_run(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path), good_log(tmp_path)) as (stage, desk):
        await adopt(stage)
        await stage.press("right_square_bracket")
        await stage.until(lambda: stage.app.book.selected == 1)
        pane = stage.app.main_screen.checklist
        assert pane is not None
        stage.app.desk = desk
        pane.post_message(pane.EvidenceChosen(desk.session.hypotheses[0].evidence[0]))
        await stage.until(lambda: stage.app.book.selected == 0 and stage.focused == "curves")


@piloted
async def test_the_first_change_leaves_the_cursor_where_it_is(tmp_path: Path) -> None:
    async with at_a_desk(bad_log(tmp_path)) as (stage, desk):
        pane = stage.app.main_screen.checklist
        assert pane is not None
        await stage.press("6")
        pane.select("revision", "check")
        await stage.press("space")
        assert not desk.is_draft
        assert pane.selected is not None
        assert pane.selected.row == ("check", "revision")


@piloted
async def test_a_second_app_reads_only_says_so_and_may_take_over(tmp_path: Path) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, first):
        await adopt(stage)
        await stage.until(lambda: first.saving.state == "saved")
        async with at_a_desk(log) as (other, second):
            assert second.why_read_only
            quiet(other)
            await other.press("6")
            await other.shows("read-only", "Take over")
            await other.press("a")
            assert other.is_main
            assert ids(second.session) == ["H1"]
            await other.press("T")
            await other.until(lambda: isinstance(other.app.screen, ConfirmScreen))
            await other.press("y")
            await other.until(lambda: other.is_main and other.app.desk is not second)
            third = other.app.desk
            assert third is not None
            assert not third.why_read_only
            quiet(other)
            await other.press("u")
            assert third.session.hypotheses == ()
            await other.until(lambda: third.saving.state == "saved")


@piloted
async def test_a_demo_keeps_its_sessions_as_long_as_its_recordings(tmp_path: Path) -> None:
    with Replay(["overfitting"], speed=1000) as replay:
        log = bad_log(tmp_path)
        wish = Open((str(log),))
        bridge = Served(wish)
        app = MltdApp(Wanted(wish), bridge, terminal=COLOURFUL, replay=replay)
        with mock.patch("gc.freeze"), mock.patch("mltd.tui.triaging.LOAD_AFTER", 0.001):
            async with app.run_test() as pilot:
                stage = Stage(app, pilot, bridge)
                await stage.begin()
                await stage.until(lambda: app.desk is not None)
                await adopt(stage)
        kept = replay.directory / ".sessions"
        assert [ids(one) for one in saved(kept)] == [["H1"]]
    assert saved() == []
    assert not kept.exists()


@piloted
async def test_a_log_that_was_written_anew_leaves_its_earlier_session_alone(
    tmp_path: Path,
) -> None:
    log = bad_log(tmp_path)
    async with at_a_desk(log) as (stage, _):
        await adopt(stage)
    (before,) = saved()
    write_log(log, healthy(floor=0.5))
    async with at_a_desk(log) as (stage, desk):
        assert desk.is_draft
        assert any("written anew" in said for said in stage.notices)
    assert saved() == [before]
