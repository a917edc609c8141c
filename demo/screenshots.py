"""Draw the pictures of the documentation from the demo: `make screenshots`.

The recordings are replayed to their end, the real engine reads them, and the app is drawn
without a terminal. Nothing is posed but the clock: for pictures of an experiment, the training
that diverges and the one that does not are run on the spot. They do not log their throughput, which
tells what else the machine had to do, and would decide the verdict by chance.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from textual.pilot import Pilot

from mltd.tui.app import HINTS, MltdApp, Wanted
from mltd.tui.bridge import Bridge
from mltd.tui.engine.protocol import Open
from mltd.tui.preferences import Memory
from mltd.tui.replay import Replay
from mltd.tui.screens.form import FormScreen
from mltd.tui.terminal import Terminal

DEMO = Path(__file__).parent
IMAGES = DEMO.parent / "docs" / "images"
BROKEN, CURED = "lr-1.2", "lr-0.4"
Scene = Callable[[MltdApp, Pilot[None]], Awaitable[None]]


@dataclass(frozen=True)
class Picture:
    """One picture: what is on it, how large, in which colours."""

    name: str
    run: str
    scene: Scene
    size: tuple[int, int] = (120, 36)
    theme: str = "dark"
    is_unicode: bool = True


async def _press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def _overview(app: MltdApp, pilot: Pilot[None]) -> None:
    """The curves on logarithmic axes, the findings with the keys."""
    await _press(pilot, "tab", "y", "j", "y", "k", "tab")


async def _curves(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "2", "n")


async def _findings(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "3")


async def _log(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "4")


async def _heat(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "5")


async def _picker(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "r")


async def _help(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "question_mark")


async def _compare(app: MltdApp, pilot: Pilot[None]) -> None:
    await _press(pilot, "o")
    await _press(pilot, *"healthy", "enter")


async def _checklist(app: MltdApp, pilot: Pilot[None]) -> None:
    """A finding that became a hypothesis, an experiment, and a cause that is confirmed."""
    await _press(pilot, "3", "h")
    await _until(pilot, lambda: app.desk is not None and bool(app.desk.session.hypotheses))
    await _press(pilot, "6", "e")
    await _until(pilot, lambda: isinstance(app.screen, FormScreen))
    await _press(pilot, "ctrl+s")
    await _until(pilot, lambda: app.screen is app.main_screen)
    await _press(pilot, "space", "L")
    await _press(pilot, *CURED, "enter")
    await _until(pilot, lambda: app.desk is not None and "E1" in app.desk.live)
    app.clear_notifications()


async def _verdict(app: MltdApp, pilot: Pilot[None]) -> None:
    """The same, with the curves of both runs on logarithmic axes."""
    await _checklist(app, pilot)
    await _press(pilot, "v")
    await _settle(pilot)
    await _press(pilot, "shift+tab", "y", "j", "y", "k", "tab")


async def _consent(app: MltdApp, pilot: Pilot[None]) -> None:
    """What would be sent to Claude; nobody agrees, so nothing is."""
    await _until(pilot, lambda: app.desk is not None)
    await _press(pilot, "c")
    await _until(pilot, lambda: app.screen is not app.main_screen)


async def _model(app: MltdApp, pilot: Pilot[None]) -> None:
    """The newest checkpoint of the training that diverged, its values read."""
    await _press(pilot, "8")
    await _until(pilot, lambda: _has_read(app, needs_values=False))
    await _press(pilot, "v")
    await _until(pilot, lambda: _has_read(app, needs_values=True))


def _has_read(app: MltdApp, *, needs_values: bool) -> bool:
    study = app.main_screen.model.study if app.main_screen.model is not None else None
    shown = study.shown if study is not None and study.look is None else None
    return shown is not None and (shown.page.has_values or not needs_values)


@cache
def _pair() -> Path:
    """A folder with the diverging training, and the same with a third of its learning rate."""
    folder = Path(tempfile.mkdtemp(prefix="mltd-demo-"))
    atexit.register(shutil.rmtree, folder)
    script = (DEMO / "trainings" / "diverging_learning_rate.py").read_text()
    for measured in (" samples_per_sec=%.0f", ", step * BATCH / (time.perf_counter() - started)"):
        if measured not in script:
            raise SystemExit(f"the training logs its throughput in another way: no {measured!r}")
        script = script.replace(measured, "")
    if (update := "        optimizer.step()\n") not in script:
        raise SystemExit("the training makes its steps in another way")
    script = script.replace(update, update + SAVING)
    trainings = []
    for name in (BROKEN, CURED):
        room = folder / name
        room.mkdir()
        rate = name.removeprefix("lr-")
        (room / "train.py").write_text(re.sub(r"(?m)^PEAK_LR = .*$", f"PEAK_LR = {rate}", script))
        with (room / "train.log").open("wb") as log:
            command = [sys.executable, "-u", "train.py"]
            trainings.append(subprocess.Popen(command, cwd=room, stdout=log, stderr=log))
    if any(training.wait() for training in trainings):
        raise SystemExit("the trainings for the pictures failed; is torch installed?")
    return folder


SAVING = """\
        if step % 500 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, f"checkpoint-{step}.pt")
"""
MAIN = "diverging-learning-rate"
PICTURES = (
    Picture("overview", MAIN, _overview, (140, 40)),
    Picture("overview-80x24", MAIN, _overview, (80, 24)),
    Picture("overview-160x48", MAIN, _overview, (160, 48)),
    *(
        Picture(f"theme-{theme}", MAIN, _overview, theme=theme)
        for theme in ("dark", "light", "high-contrast", "colour-blind", "ansi", "mono")
    ),
    Picture("curves", MAIN, _curves),
    Picture("findings", MAIN, _findings),
    Picture("log", "index-error-at-evaluation", _log),
    Picture("heat-map", "vanishing-gradients", _heat),
    Picture("picker", MAIN, _picker),
    Picture("compare", MAIN, _compare, (120, 40)),
    Picture("checklist", BROKEN, _checklist, (120, 40)),
    Picture("verdict", BROKEN, _verdict, (120, 40)),
    Picture("consent", MAIN, _consent, (120, 32)),
    Picture("model", BROKEN, _model, (120, 40)),
    Picture("help", MAIN, _help),
    Picture("ascii", MAIN, _overview, (80, 24), is_unicode=False),
)


async def draw(picture: Picture, replay: Replay, folder: Path) -> None:
    """Draw one picture once everything on it has come."""
    is_pair = picture.run == BROKEN
    directory = _pair() if is_pair else replay.directory
    wish = Open((str(directory),))
    terminal = Terminal(is_unicode=picture.is_unicode, colours=1 << 24)
    app = MltdApp(Wanted(wish, picture.theme), Bridge(wish), terminal=terminal)
    async with app.run_test(size=picture.size) as pilot:
        count = 2 if is_pair else len(replay.recordings)
        await _until(pilot, lambda: len(app.book.rows) == count)
        number = next(n for n, row in app.book.rows.items() if row.name == picture.run)
        app.main_screen.select(number)
        await _until(pilot, lambda: app.book.current.diagnosis is not None)
        states = 1 if is_pair else 2
        known = app.book.rows
        await _until(pilot, lambda: len({row.state for row in known.values()} - {""}) >= states)
        await _settle(pilot)
        await picture.scene(app, pilot)
        await _settle(pilot)
        (folder / f"{picture.name}.svg").write_text(app.export_screenshot(title=""))


async def _until(pilot: Pilot[None], is_reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_reached():
            await pilot.pause(0.05)


async def _settle(pilot: Pilot[None]) -> None:
    """Answers of the engine come within a moment."""
    for _ in range(12):
        await pilot.pause(0.1)


def main() -> None:
    """Draw all pictures, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--into", type=Path, default=IMAGES)
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with Replay() as replay:
        replay.finish()
        for picture in PICTURES:
            if not options.names or picture.name in options.names:
                with tempfile.TemporaryDirectory(prefix="mltd-state-") as state:
                    # What the user has done and chosen is nobody's business, and on no picture.
                    os.environ["XDG_STATE_HOME"] = state
                    # Whether somebody could log in decides what is offered.
                    os.environ["ANTHROPIC_API_KEY"] = "sk-ant-of-nobody"
                    os.environ["MLTD_MODEL"] = "claude-sonnet-5-5"
                    Memory().remember(hints_seen=HINTS)
                    asyncio.run(draw(picture, replay, options.into))
                print(picture.name)


if __name__ == "__main__":
    main()
