"""Pictures of the picker and the header with jobs; `pytest --snapshot-update` makes them anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from mltd.tui.app import MltdApp
from mltd.tui.engine.protocol import JobsAsked, RunsFound
from tests.tui.app_scene import NOW, Stage, StandIn, make_app
from tests.tui.job_rows import ROWS
from tests.tui.test_snapshots import (
    SIZES,
    Compare,
    _same_everywhere,
    _same_zone,
    by_size,
    settled,
)

__all__ = ["_same_everywhere", "_same_zone"]
TROUBLE = (
    "the Slurm controller cannot be reached (squeue: Unable to contact slurm controller); "
    "it may be restarting; log files can be opened by their names meanwhile"
)


def is_same(
    compare: Compare, size: tuple[int, int], asked: JobsAsked, name: str, **options: Any
) -> bool:
    """Open the picker on jobs in every state, and compare it with its picture."""
    bridge = StandIn()
    bridge.tell(RunsFound(ROWS), asked)

    async def before(pilot: Pilot[Any]) -> None:
        assert isinstance(pilot.app, MltdApp)
        stage = Stage(pilot.app, pilot, bridge)
        await stage.begin()
        if not options.get("is_survey"):
            await stage.press("r")
        await stage.press("down")
        await settled(stage)

    app = make_app(bridge, name, **options)
    return compare(app, terminal_size=size, run_before=before)


@by_size
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_picker_with_jobs(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    asked = JobsAsked(NOW - 12)
    assert is_same(snap_compare, size, asked, "/home/ada/runs", theme=theme, is_survey=True)


def test_the_picker_while_the_cluster_is_silent(snap_compare: Compare) -> None:
    asked = JobsAsked(NOW - 240, (TROUBLE,))
    assert is_same(snap_compare, SIZES[0], asked, "/home/ada/runs", is_survey=True)


def test_the_picker_with_jobs_below_what_was_named(snap_compare: Compare, tmp_path: Path) -> None:
    asked = JobsAsked(NOW - 12)
    assert is_same(snap_compare, SIZES[0], asked, "/home/ada/runs/baseline.log")
