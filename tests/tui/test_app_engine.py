"""The whole app with an engine in a process of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mltd.tui.bridge import Bridge
from mltd.tui.engine.protocol import Open
from tests.tui.app_scene import Stage, diverging, healthy, piloted, staged, write_log


@asynccontextmanager
async def opened(*names: Path, **options: Any) -> AsyncIterator[Stage]:
    """The app as a user would start it."""
    bridge = Bridge(Open(tuple(map(str, names))))
    try:
        async with staged(bridge, *names, **options) as stage:
            yield stage
    finally:
        bridge.close()


@pytest.fixture
def log(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "train.log", diverging())


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


@piloted
async def test_a_log_is_opened_judged_and_followed_and_its_places_are_found(log: Path) -> None:
    async with opened(log) as stage:
        await stage.shows("✖ critical 3", "exploding gradients", "val_loss nan")
        await stage.drawn()
        append(log, "INFO step 400/1000 | loss nan | the newest line")
        await stage.shows("the newest line", "step 400/1,000")
        await stage.press("3", "enter", "enter")
        await stage.until(lambda: stage.focused == "curves")
        await stage.press("enter")
        await stage.until(lambda: stage.focused == "log")
        await stage.shows("INFO step 264/1000")
        await stage.press("up", "enter")
        await stage.until(lambda: stage.focused == "curves")


@piloted
async def test_an_engine_that_is_killed_is_started_again_and_the_user_stays(
    log: Path, own_home: Path
) -> None:
    other = write_log(own_home / "runs" / "other.log", healthy())
    async with opened(log, other) as stage:
        await stage.shows("✖ critical 3", "1/2")
        await stage.press("right_square_bracket")
        await stage.shows("✔ healthy", "2/2")
        bridge = stage.bridge
        os.kill(bridge._process.pid, signal.SIGKILL)
        before = stage.app.book.of(1).status
        await stage.until(lambda: any("was started again" in n for n in stage.notices))
        await stage.until(lambda: stage.app.book.of(1).status is not before)
        append(other, "INFO step 400/1000 | loss 1.2 | after the fall")
        await stage.shows("after the fall", "step 400/1,000", "2/2")


@piloted
async def test_a_file_that_is_not_there_yet_is_waited_for(own_home: Path) -> None:
    log = own_home / "later.log"
    async with opened(log) as stage:
        await stage.shows("waiting for", "later.log")
        write_log(log, healthy())
        await stage.shows("step 398/1,000", "INFO step 398/1000")
