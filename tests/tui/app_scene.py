"""The whole app for tests: with an engine of its own process, one beside it, or none at all."""

from __future__ import annotations

import asyncio
import gc
import math
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from unittest import mock

from textual.pilot import Pilot

from mltd.runs.sources.watcher import Watcher
from mltd.tui.app import MltdApp, Wanted
from mltd.tui.bridge import Bridge
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.protocol import (
    News,
    Open,
    Rows,
    RunRow,
    RunsFound,
    Select,
    StatusChanged,
    Wish,
)
from mltd.tui.engine.service import Service
from mltd.tui.preferences import Memory
from mltd.tui.settings import ScreenSettings
from mltd.tui.terminal import TRUE_COLOUR, Terminal
from mltd.tui.widgets.curves_pane import CurvesPane
from tests.waiting import PATIENCE

P = ParamSpec("P")
Kind = TypeVar("Kind", bound=Wish)
NOW = 1_790_000_000.0
"""The only moment there is in these tests."""
WRITTEN = NOW - 3.0
"""When the logs got their last line."""
COLOURFUL = Terminal(colours=TRUE_COLOUR)


def piloted(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that needs an event loop."""

    @wraps(test)
    def run(*given: P.args, **named: P.kwargs) -> None:
        asyncio.run(test(*given, **named))

    return run


class StandIn(Bridge):
    """Looks like a bridge: keeps what was wished, and says what the test wants it to say."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []
        self.is_closed = False
        self._hear: Callable[[News], None] | None = None
        self._died: Callable[[bool], None] | None = None
        self._unsaid: list[News] = []
        self._is_begun = False
        self.is_hasty = False
        """Say everything the moment somebody listens, whether there is a screen or not."""
        self._end = asyncio.Event()
        self.silent_for = 0.0

    @property
    def silence(self) -> float:
        return self.silent_for

    def send(self, wish: Wish) -> None:
        self.wishes.append(wish)

    async def listen(self, hear: Callable[[News], None], died: Callable[[bool], None]) -> None:
        self._hear, self._died = hear, died
        if self.is_hasty:
            self.begin()
        await self._end.wait()

    def begin(self) -> None:
        """Say what was kept back until the screen is there."""
        unsaid, self._unsaid, self._is_begun = self._unsaid, [], True
        self.tell(*unsaid)

    def tell(self, *news: News) -> None:
        """Say something now, or as soon as somebody listens."""
        if self._hear is None or not self._is_begun:
            self._unsaid += news
            return
        for each in news:
            self._hear(each)

    def die(self, *, is_restarted: bool = True) -> None:
        """Pretend that the engine ended."""
        assert self._died is not None
        self._died(is_restarted)

    def close(self) -> None:
        self.is_closed = True
        self._end.set()

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The wishes of one kind."""
        return [wish for wish in self.wishes if isinstance(wish, kind)]


class Served(StandIn):
    """The real engine in the same process: a wish is granted before `send` returns."""

    def __init__(self, wish: Open) -> None:
        super().__init__()
        self.now = NOW
        self._inbox = Inbox()
        # Nobody waits for it: what changed is said by hand.
        self._watcher = Watcher(poll_seconds=1.0)
        self._service = Service(
            lambda news: self.tell(_timeless(news)), self._inbox, self._watcher, lambda: self.now
        )
        self._inbox.wish(wish)
        self.work()

    def send(self, wish: Wish) -> None:
        super().send(wish)
        self._inbox.wish(wish)
        self._step()

    def work(self, *changed: Path) -> None:
        """Do everything that is to be done, now and in the next two seconds."""
        self._inbox.changed(set(changed))
        start = self.now
        for seconds in (0.0, 1.0, 2.0):
            self.now = start + seconds
            self._step()
        self.now = start

    def _step(self) -> None:
        is_busy = True
        while is_busy:
            # Something to hear keeps the step from waiting.
            self._inbox.wish(Select(-1))
            self._service.step()
            is_busy = self._service._patience() <= 0

    def close(self) -> None:
        super().close()
        self._watcher.close()


def _timeless(news: News) -> News:
    """The same on every machine and at any time."""
    match news:
        case StatusChanged():
            status = news.status
            written = WRITTEN if status.last_line_at is not None else None
            files = tuple(file._replace(mode="inotify") for file in status.files)
            return StatusChanged(
                status._replace(
                    last_line_at=written, lines_per_second=1.4, lag_seconds=0.0, files=files
                )
            )
        case RunsFound() | Rows():
            return news._replace(rows=tuple(map(_timeless_row, news.rows)))
        case _:
            return news


def _timeless_row(row: RunRow) -> RunRow:
    home = os.path.expanduser("~")
    return row._replace(path=row.path.replace(home, "/home/ada"))


class Stage:
    """An app that runs, and words for what is on its screen."""

    def __init__(self, app: MltdApp, pilot: Pilot[Any], bridge: Bridge) -> None:
        self.app, self.pilot, self.bridge = app, pilot, bridge
        self.main = app.main_screen
        self.press = pilot.press

    @property
    def text(self) -> str:
        """Everything that is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def notices(self) -> list[str]:
        """What the user was told so far, the newest last."""
        return [notice.text for notice in self.app.notice_board.history]

    async def begin(self) -> None:
        """Furnish the screen, stop the clock, and let the engine speak."""
        await self.until(lambda: self.main._is_furnished)
        self.main.header.now = lambda: NOW
        if isinstance(self.bridge, StandIn):
            self.bridge.begin()
        await self.pilot.pause()

    async def until(self, is_true: Callable[[], object]) -> None:
        """Wait for something that comes by itself."""
        async with asyncio.timeout(PATIENCE):
            while not is_true():
                assert self.app._exception is None, "the app broke"
                await self.pilot.pause(0.005)
        await self.pilot.pause()

    async def shows(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""
        try:
            await self.until(lambda: all(text in self.text for text in texts))
        except TimeoutError:
            raise AssertionError(f"{texts} never came on the screen:\n{self.text}") from None

    async def drawn(self) -> None:
        """Wait until all curves in sight are drawn with the data they asked for."""

        def is_drawn() -> bool:
            panes = [pane for screen in self.app.screen_stack for pane in screen.query(CurvesPane)]
            return "reading" not in self.text and all(pane._waiting is None for pane in panes)

        await self.pilot.pause()
        await self.until(is_drawn)

    async def hear(self, *news: News) -> None:
        """Let the engine say something, and the app take it in."""
        assert isinstance(self.bridge, StandIn)
        self.bridge.tell(*news)
        await self.pilot.pause()

    @property
    def is_main(self) -> bool:
        """True if nothing is in front of the main screen."""
        return self.app.screen is self.main

    @property
    def focused(self) -> str:
        """The id of what has the focus."""
        return (self.app.focused and self.app.focused.id) or ""

    @property
    def view(self) -> str:
        """The view that the main screen shows."""
        return self.main._view


def make_app(
    bridge: Bridge,
    *names: Path | str,
    terminal: Terminal = COLOURFUL,
    theme: str | None = None,
    settings: ScreenSettings | None = None,
    is_survey: bool = False,
) -> MltdApp:
    """The app on some runs."""
    wish = Open(tuple(map(str, names)), is_survey=is_survey)
    return MltdApp(
        Wanted(wish, theme, settings or ScreenSettings()), bridge, terminal=terminal
    )  # fmt: skip


@asynccontextmanager
async def staged(
    bridge: Bridge, *names: Path | str, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[Stage]:
    """Run the app until the test is done with it."""
    app = make_app(bridge, *names, **options)
    # What one test leaves behind is garbage to the next.
    with mock.patch.object(gc, "freeze"):
        async with app.run_test(size=size, notifications=True) as pilot:
            stage = Stage(app, pilot, bridge)
            await stage.begin()
            yield stage


@asynccontextmanager
async def served(*names: Path | str, **options: Any) -> AsyncIterator[Stage]:
    """Run the app with an engine that answers at once."""
    wish = Open(tuple(map(str, names)), is_survey=options.get("is_survey", False))
    async with staged(Served(wish), *names, **options) as stage:
        yield stage


def forget_hints() -> None:
    """Be a user who knows the keys."""
    Memory().remember(hints_seen=99)


# -- logs --------------------------------------------------------------------------------------


def write_log(path: Path, lines: Iterable[str]) -> Path:
    """A log whose last line is three seconds old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    os.utime(path, (WRITTEN, WRITTEN))
    return path


def diverging(steps: int = 400, bad_from: int = 300, lr: str = "3.0e-03") -> Iterable[str]:
    """A training that falls apart: the gradients grow, then the loss, then nothing is finite."""
    yield "INFO model has 124.4M parameters, batch size 64, AdamW, bf16"
    for step in range(0, steps, 2):
        ripple = math.sin(step / 3) * 0.08
        late = max(0, step - bad_from + 40)
        loss = 0.9 + 5.1 * 0.985**step + ripple + (late / 12) ** 2
        norm = 0.6 + 0.2 * math.sin(step / 5) + 1.13**late - 1
        shown = "nan" if step >= bad_from else f"{loss:.4f}"
        shown_norm = "inf" if step >= bad_from else f"{norm:.3f}"
        yield f"INFO step {step}/1000 | loss {shown} | grad_norm {shown_norm} | lr {lr}"
        if step % 50 == 48:
            yield f"INFO step {step}/1000 | val_loss {shown if late else f'{loss + 0.21:.4f}'}"
        if step == bad_from:
            yield "WARNING non-finite loss, skipping the update"


def healthy(steps: int = 400, floor: float = 0.9) -> Iterable[str]:
    """A training that does what it should."""
    for step in range(0, steps, 2):
        loss = floor + 5.1 * 0.994**step + math.sin(step / 3) * 0.05
        yield f"INFO step {step}/1000 | loss {loss:.4f} | grad_norm 0.8{step % 7} | lr 3.0e-04"


def layered(steps: int = 240, layers: int = 8) -> Iterable[str]:
    """A training whose first layers stop learning."""
    for step in range(0, steps, 4):
        told = ""
        for layer in range(layers):
            norm = (0.5 + layer / 10) * 10 ** (-(step / 60) * (layers - layer) / layers)
            told += f" | grad_norm/blocks.{layer} {norm:.3e}"
        yield f"step {step} | loss {2.3 - step / 4000:.4f}{told}"
