"""The whole app: from a finding to its place, from a curve to the log and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Evidence, EvidenceKind, Severity
from mltd.tui.engine.curve_protocol import Place, PlaceRequest
from mltd.tui.engine.protocol import Diagnosed
from mltd.tui.screens.main import MainScreen
from tests.tui.app_scene import Stage, StandIn, diverging, healthy, piloted, served, write_log
from tests.tui.verdicts import cause, finding, verdict_of


@pytest.fixture
def log(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "train.log", diverging())


@pytest.fixture
def calm_log(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "train.log", healthy())


def verdict(ref: str, kind: EvidenceKind = EvidenceKind.LOG) -> Diagnosed:
    evidence = Evidence(kind, ref, "quoted [here]")
    return Diagnosed(0, verdict_of(finding(severity=Severity.WARNING, evidence=(evidence,))))


def current_line(stage: Stage) -> str:
    line = stage.main.log_pane.viewport.current
    return line.line.data.decode() if line is not None else ""


def cursor(stage: Stage) -> float | None:
    place = stage.main.curves._scene.cursor
    return place.x if place is not None else None


def chart(stage: Stage) -> str:
    board = stage.main.curves._board
    return board.charts[board.selected].key


@piloted
async def test_evidence_in_a_metric_leads_to_its_place_on_the_curve(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("3", "enter", "enter")
        assert stage.view == "overview"
        assert stage.focused == "curves"
        assert chart(stage) == "gradients"
        assert cursor(stage) == 264


@piloted
async def test_evidence_in_the_log_leads_to_its_line(calm_log: Path) -> None:
    async with served(calm_log) as stage:
        await stage.hear(verdict("train.log:150"))
        stage.main.findings.focus()
        await stage.press("enter", "enter")
        expected = list(healthy())[149]
        await stage.until(lambda: current_line(stage) == expected)
        assert stage.focused == "log"
        assert not stage.main.log_pane.is_following
        assert expected in stage.text


@pytest.mark.parametrize(
    ("diagnosed", "said"),
    [
        (verdict("other[1].log:7"), "other[1].log is not one of this run's logs"),
        (verdict("no_such_metric@7", EvidenceKind.SERIES), "no_such_metric is not drawn"),
        (verdict("lr", EvidenceKind.CONFIG), "lr has no line in the log and no place on a curve"),
    ],
)
def test_evidence_without_a_place_is_told(calm_log: Path, diagnosed: Diagnosed, said: str) -> None:
    @piloted
    async def check() -> None:
        async with served(calm_log) as stage:
            await stage.hear(diagnosed)
            await stage.press("3", "enter", "enter")
            await stage.until(lambda: stage.notices == [said])
            assert stage.view == "findings"

    check()


@piloted
async def test_the_cursor_of_a_curve_leads_to_its_line_and_the_line_back_to_it(log: Path) -> None:
    async with served(log) as stage:
        await stage.drawn()
        stage.main.curves.focus()
        await stage.press("home", "right", "right")
        there = cursor(stage)
        assert there is not None
        await stage.press("enter")
        await stage.until(lambda: current_line(stage).startswith(f"INFO step {there:.0f}/1000"))
        assert stage.focused == "log"
        await stage.press("down", "down", "enter")
        await stage.until(lambda: stage.focused == "curves")
        assert cursor(stage) == there + 4


@piloted
async def test_a_line_leads_to_the_curve_out_of_a_zoomed_log(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("4", "up", "enter")
        await stage.until(lambda: stage.focused == "curves")
        assert stage.view == "overview"
        assert cursor(stage) == 398


@piloted
async def test_without_a_cursor_enter_on_a_curve_asks_for_nothing(log: Path) -> None:
    async with served(log) as stage:
        stage.main.curves.focus()
        await stage.press("enter")
        assert isinstance(stage.bridge, StandIn)
        assert stage.bridge.of(PlaceRequest) == []


@piloted
async def test_a_line_that_logs_no_point_is_told(log: Path) -> None:
    async with served(log) as stage:
        bridge = stage.bridge
        assert isinstance(bridge, StandIn)
        await stage.press("home")
        await stage.until(lambda: current_line(stage).startswith("INFO model"))
        await stage.press("enter")
        await stage.until(lambda: bridge.of(PlaceRequest))
        assert stage.notices == ["no point of a curve belongs to this line"]


@piloted
async def test_a_late_answer_to_an_older_jump_is_ignored(log: Path) -> None:
    async with served(log) as stage:
        await stage.drawn()
        await stage.hear(Place(999_999_999, 0, str(log), 3, 4.0))
        assert stage.focused == "log"
        assert cursor(stage) is None


@piloted
async def test_a_finding_or_a_cause_is_adopted_as_a_hypothesis(
    calm_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopted = []
    monkeypatch.setattr(
        "mltd.tui.triaging.TriagingApp.on_main_screen_adopted",
        lambda _, event: adopted.append(event),
        raising=False,
    )
    async with served(calm_log) as stage:
        both = verdict_of(finding(), causes=(cause(),))
        await stage.hear(Diagnosed(0, both))
        await stage.press("3", "h", "enter", "down", "h")
        await stage.pilot.pause()
    assert adopted == [
        MainScreen.Adopted(0, finding(), None),
        MainScreen.Adopted(0, None, cause()),
    ]
