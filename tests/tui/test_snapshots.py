"""Pictures of every screen, theme and size; `pytest --snapshot-update` makes them anew."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mltd.sessions.storage.saver import Saving
from mltd.tui.app import MltdApp
from mltd.tui.engine.protocol import Open
from mltd.tui.screens.compare import CompareScreen
from mltd.tui.screens.form import FormScreen
from mltd.tui.screens.run_picker import RunPicker
from mltd.tui.screens.session_list import SessionListScreen
from mltd.tui.terminal import TRUE_COLOUR, Terminal
from mltd.tui.theming import ORDER
from tests.tui.app_scene import (
    NOW,
    Served,
    Stage,
    diverging,
    forget_hints,
    healthy,
    layered,
    make_app,
    write_log,
)
from tests.tui.session_scene import adopt, plan, quiet
from tests.tui.test_session_list import NOW as TODAY
from tests.tui.test_session_list import ROWS as SESSIONS
from tests.tui.triages import LIVE, MISSING, TRIAGE

Compare = Callable[..., bool]
Walk = Callable[[Stage], Awaitable[None]]
SIZES = [(80, 24), (160, 48)]


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock, no hints, no wishes of the environment."""
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("mltd.tui.triaging.LOAD_AFTER", 0.001)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    defaults = RunPicker.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "clock", lambda: NOW)
    forget_hints()

    def exported(app: MltdApp, **options: Any) -> str:
        return compact(App.export_screenshot(app, **options))

    monkeypatch.setattr(MltdApp, "export_screenshot", exported, raising=False)


@pytest.fixture(autouse=True)
def _same_zone() -> Iterator[None]:
    """Moments are shown in local time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def logs(own_home: Path) -> tuple[Path, ...]:
    runs = own_home / "runs"
    return (
        write_log(runs / "lr-3e-3.log", diverging()),
        write_log(runs / "lr-3e-4.log", healthy()),
        write_log(runs / "lr-3e-4-wide.log", healthy(floor=0.4)),
    )


@pytest.fixture
def layers(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "deep.log", layered(steps=120, layers=4))


_GROUND = re.compile(
    r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    r' shape-rendering="crispEdges"/>'
)
_NEEDLESS = re.compile(
    r' clip-path="url\(#[\w-]+-line-\d+\)"'
    r'|\s*<clipPath id="[\w-]+-line-\d+">.*?</clipPath>'
    r"|\s*@font-face \{.*?\}",
    re.DOTALL,
)


def compact(svg: str) -> str:
    """The same picture in a third of the bytes, and without a font from somewhere else."""
    grounds: list[tuple[str, str, float, float, str]] = []
    for fill, x, y, width, height in _GROUND.findall(svg):
        start, end = float(x), float(x) + float(width)
        # Neighbours of one colour become one; cells are 12 wide, so that rounding is no gap.
        if grounds and grounds[-1][:2] == (fill, y) and abs(grounds[-1][3] - start) < 1:
            start = grounds.pop()[2]
        grounds.append((fill, y, start, end, height))
    drawn = "\n".join(
        f'<rect fill="{fill}" x="{start:g}" y="{y}" width="{end - start:.1f}" height="{height}"/>'
        for fill, y, start, end, height in grounds
    )
    drawn = f'<g shape-rendering="crispEdges">\n{drawn}\n</g>'
    svg = _GROUND.sub("", _GROUND.sub("GROUNDS", svg, count=1)).replace("GROUNDS", drawn)
    return _NEEDLESS.sub("", svg).replace("&#160;", "\u00a0")


def is_same(compare: Compare, size: tuple[int, int], walk: Walk, *names: Path, **more: Any) -> bool:
    """Start the app, walk to a screen, and compare it with its picture."""

    async def before(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, MltdApp)
        stage = Stage(app, pilot, bridge)
        await stage.begin()
        await stage.drawn()
        await stage.until(lambda: app.desk is not None)
        await walk(stage)
        await settled(stage)
        assert stage.app.notice_board.shown == [], "a picture of a failure is no picture"

    bridge = Served(Open(tuple(map(str, names))))
    app = make_app(bridge, *names, **more)
    return compare(app, terminal_size=size, run_before=before)


async def settled(stage: Stage) -> None:
    """Wait until the picture stays the same."""
    seen, before = 0, None
    while seen < 3:
        await stage.pilot.pause(0.01)
        now = stage.app.screen._compositor.render_strips()
        seen, before = (seen + 1, now) if now == before else (0, now)


def triaged(stage: Stage) -> None:
    """Show a triage in full swing, whatever the run is."""
    pane = stage.app.main_screen.checklist
    assert pane is not None
    stage.app.main_screen.add_class("-has-session")
    pane.set_session(TRIAGE, suggested="E4", missing=MISSING, live=LIVE)
    pane.set_undo("E1 passed: val/loss fell by 41.9%", "")
    pane.saving = Saving("saved")


def checklist(row: str) -> Walk:
    """The checklist with the cursor on a row."""

    async def walk(stage: Stage) -> None:
        triaged(stage)
        await stage.press("6", "g")
        # How far a list is scrolled depends on where it was before.
        await settled(stage)
        assert stage.app.main_screen.checklist is not None
        assert stage.app.main_screen.checklist.select(row)

    return walk


async def overview(stage: Stage) -> None:
    triaged(stage)
    await stage.drawn()


async def form(stage: Stage) -> None:
    await adopt(stage)
    await stage.press("e")
    await stage.until(lambda: isinstance(stage.app.screen, FormScreen))


async def verdict(stage: Stage) -> None:
    await plan(stage)
    await stage.press("L", "enter")
    assert stage.app.desk is not None
    desk = stage.app.desk
    await stage.until(lambda: "E1" in desk.live)
    await stage.press("v")
    await stage.until(lambda: isinstance(stage.app.screen, CompareScreen))
    await stage.drawn()
    quiet(stage)


async def sessions(stage: Stage) -> None:
    screen = SessionListScreen(SESSIONS, current="s1", clock=TODAY.timestamp)
    await stage.app.push_screen(screen)


def keys(*pressed: str) -> Walk:
    async def walk(stage: Stage) -> None:
        for key in pressed:
            await stage.press(key)
            await stage.drawn()

    return walk


ALONE = {
    "overview": (),
    "curves": ("2", "end", "left", "left"),
    "findings": ("3", "enter"),
    "log": ("4", "up", "up"),
    "help": ("question_mark",),
    "metrics": ("2", "m"),
    "filter": ("4", "ampersand"),
}
BESIDE = {"picker": ("r",), "compare": ("right_square_bracket", "o", *"wide", "enter")}
by_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@by_size
@pytest.mark.parametrize("screen", ALONE)
def test_a_screen(
    snap_compare: Compare, logs: tuple[Path, ...], screen: str, size: tuple[int, int]
) -> None:
    assert is_same(snap_compare, size, keys(*ALONE[screen]), logs[0])


@by_size
@pytest.mark.parametrize("screen", BESIDE)
def test_a_screen_of_several_runs(
    snap_compare: Compare, logs: tuple[Path, ...], screen: str, size: tuple[int, int]
) -> None:
    assert is_same(snap_compare, size, keys(*BESIDE[screen]), *logs)


@by_size
@pytest.mark.parametrize("row", ["H1", "E3", "seeds"])
def test_the_checklist(
    snap_compare: Compare, logs: tuple[Path, ...], row: str, size: tuple[int, int]
) -> None:
    assert is_same(snap_compare, size, checklist(row), logs[0])


@by_size
@pytest.mark.parametrize("screen", [form, sessions], ids=lambda walk: walk.__name__)
def test_a_screen_of_a_session(
    snap_compare: Compare, logs: tuple[Path, ...], screen: Walk, size: tuple[int, int]
) -> None:
    assert is_same(snap_compare, size, screen, logs[0])


def test_the_overview_of_a_session(snap_compare: Compare, logs: tuple[Path, ...]) -> None:
    assert is_same(snap_compare, SIZES[1], overview, logs[0])


@by_size
def test_the_verdict(snap_compare: Compare, logs: tuple[Path, ...], size: tuple[int, int]) -> None:
    assert is_same(snap_compare, size, verdict, logs[0], logs[2])


@by_size
@pytest.mark.parametrize("theme", ["light", "mono"])
def test_the_checklist_in_a_theme(
    snap_compare: Compare, logs: tuple[Path, ...], theme: str, size: tuple[int, int]
) -> None:
    assert is_same(snap_compare, size, checklist("H1"), logs[0], theme=theme)


@by_size
def test_the_heat_map(snap_compare: Compare, layers: Path, size: tuple[int, int]) -> None:
    assert is_same(snap_compare, size, keys("5", "left", "left", "down"), layers)


@by_size
@pytest.mark.parametrize("theme", [name for name in ORDER if name != "dark"])
def test_a_theme(
    snap_compare: Compare, logs: tuple[Path, ...], theme: str, size: tuple[int, int]
) -> None:
    assert is_same(snap_compare, size, keys(), logs[0], theme=theme)


@by_size
def test_without_unicode(
    snap_compare: Compare, logs: tuple[Path, ...], size: tuple[int, int]
) -> None:
    ascii_only = Terminal(is_unicode=False, colours=TRUE_COLOUR)
    assert is_same(snap_compare, size, keys(), logs[0], terminal=ascii_only)
