"""Draw the pictures of the documentation from the demo: `make screenshots`.

The recordings are replayed to their end, the real engine reads them, and the app is drawn
without a terminal. Nothing is posed but the clock.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from mltd.tui.app import MltdApp, Wanted
from mltd.tui.bridge import Bridge
from mltd.tui.engine.protocol import Open
from mltd.tui.replay import Replay
from mltd.tui.terminal import Terminal

IMAGES = Path(__file__).parent.parent / "docs" / "images"
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
    Picture("help", MAIN, _help),
    Picture("ascii", MAIN, _overview, (80, 24), is_unicode=False),
)


async def draw(picture: Picture, replay: Replay, folder: Path) -> None:
    """Draw one picture once everything on it has come."""
    wish = Open((str(replay.directory),))
    terminal = Terminal(is_unicode=picture.is_unicode, colours=1 << 24)
    app = MltdApp(Wanted(wish, picture.theme), Bridge(wish), terminal=terminal)
    async with app.run_test(size=picture.size) as pilot:
        await _until(pilot, lambda: len(app.book.rows) == len(replay.recordings))
        number = next(n for n, row in app.book.rows.items() if row.name == picture.run)
        app.main_screen.select(number)
        await _until(pilot, lambda: app.book.current.diagnosis is not None)
        await _until(pilot, lambda: len({row.state for row in app.book.rows.values()} - {""}) > 1)
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
                asyncio.run(draw(picture, replay, options.into))
                print(picture.name)


if __name__ == "__main__":
    main()
