"""The app at work on a session: runs to open, and the steps that most tests begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from mltd.sessions.model.experiment import Experiment
from mltd.sessions.model.session import Session
from mltd.sessions.storage.store import SessionStore
from mltd.tui.desk.desk import Desk
from mltd.tui.screens.form import FormScreen
from tests.tui.app_scene import Stage, diverging, healthy, served, write_log


def bad_log(folder: Path, name: str = "bad.log") -> Path:
    """A run that falls apart, and logs no val loss that a guard would ask for."""
    return write_log(folder / name, (line for line in diverging() if "val_loss" not in line))


def good_log(folder: Path, name: str = "good.log", *, is_over: bool = True) -> Path:
    """The same run after a change that helps."""
    # With the rate that the analyzers propose for the bad one.
    told = (line.replace("lr 3.0e-04", "lr 1.0e-03") for line in healthy(floor=0.3))
    lines = [line.replace("/1000", "/398") for line in told]
    end = ["INFO Training completed successfully."]
    return write_log(folder / name, [*lines, *end] if is_over else lines[:-1])


@asynccontextmanager
async def at_a_desk(*names: Path, **options: Any) -> AsyncIterator[tuple[Stage, Desk]]:
    """The app, when it has found the session of the first run or begun a draft."""
    # Nobody waits for the first picture here.
    with mock.patch("mltd.tui.triaging.LOAD_AFTER", 0.001):
        async with served(*names, **options) as stage:
            await stage.until(lambda: stage.app.desk is not None)
            assert stage.app.desk is not None
            yield stage, stage.app.desk


async def adopt(stage: Stage) -> None:
    """Make the worst finding a hypothesis, and look at the checklist."""
    await stage.press("3", "h")
    await stage.until(lambda: stage.app.desk and stage.app.desk.session.hypotheses)
    await stage.press("6")
    quiet(stage)


async def plan(stage: Stage) -> Experiment:
    """Adopt the worst finding and plan what is suggested to test it."""
    await adopt(stage)
    await stage.press("e")
    await accept(stage)
    assert stage.app.desk is not None
    return stage.app.desk.session.experiments[-1]


async def accept(stage: Stage) -> None:
    """Take a form as it is filled in."""
    await stage.until(lambda: isinstance(stage.app.screen, FormScreen))
    await stage.press("ctrl+s")
    await stage.until(lambda: not isinstance(stage.app.screen, FormScreen))


def quiet(stage: Stage) -> None:
    """Take notices away: they lie over what is to be seen, for seconds."""
    stage.app.clear_notifications()


def saved(folder: Path | None = None) -> list[Session]:
    """The sessions on disk, the one that was changed last first."""
    store = SessionStore(folder)
    return [store.load(summary.id).session for summary in store.summaries()]


def ids(session: Session) -> list[str]:
    """What is believed in a session."""
    return [one.id for one in session.hypotheses]
