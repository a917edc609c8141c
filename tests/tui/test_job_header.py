"""The header of a run that a job trains: state, time left, and what is waited for."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from mltd.tui.engine.job_row import JobRow
from mltd.tui.engine.protocol import Health, LogFile, RunStatus
from mltd.tui.findings.spans import Line, text_of
from mltd.tui.widgets.run_freshness import freshness
from mltd.tui.widgets.run_header_rows import Look, header_rows
from tests.tui.app_scene import NOW
from tests.tui.job_rows import DONE, PENDING, RUNNING, SHORT, TASKS, TIMEOUT

WIDTHS = (60, 80, 100, 120, 160, 300)
LOG = LogFile("/home/ada/runs/resnet/slurm-48213.out", lines=500, mode="inotify")
STATUS = RunStatus(
    0,
    "48213 resnet50",
    "running",
    step=12_300,
    total_steps=100_000,
    eta_seconds=7980,
    interval_seconds=1.0,
    last_line_at=NOW - 3,
    lines_per_second=12.3,
    health=Health.FINE,
    files=(LOG,),
)
UNWRITTEN = STATUS._replace(
    state="unknown",
    reason="nothing was logged yet",
    last_line_at=None,
    step=None,
    lines_per_second=0.0,
    health=Health.UNKNOWN,
    files=(LOG._replace(lines=0),),
)


def rows(job: JobRow, width: int = 80, status: RunStatus = STATUS) -> tuple[Line, Line]:
    known = status._replace(job=job)
    look = Look(known, (2, 5), freshness(known, NOW), "", "/home/ada", "", NOW)
    return header_rows(look, width)


def told(job: JobRow, width: int = 80, status: RunStatus = STATUS) -> tuple[str, str]:
    first, second = rows(job, width, status)
    return text_of(first), text_of(second)


def meanings(job: JobRow, status: RunStatus = STATUS) -> set[str]:
    return {span.meaning for span in rows(job, 80, status)[1]}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("status", [STATUS, UNWRITTEN], ids=["written", "unwritten"])
def test_every_job_fits_every_width_to_the_cell(width: int, status: RunStatus) -> None:
    for job in (RUNNING, SHORT, PENDING, TASKS, TIMEOUT, DONE, JobRow("x" * 90)):
        for state in ("running", "failed", "stalled", "unknown"):
            known = status._replace(state=state, reason="why " * 40)
            for row in told(job, width, known):
                assert cell_len(row) == width
                assert row.isprintable()


def test_a_job_tells_its_state_and_the_time_that_is_left() -> None:
    first, second = told(RUNNING)
    assert "2/5" in first
    assert "last line 3 s ago" in second
    assert "RUNNING 1:02 of 4:00 h, 2:57 left on gpu03" in second
    assert second.rstrip().endswith("inotify")


def test_a_narrow_header_keeps_the_time_that_is_left() -> None:
    assert "RUNNING 1:02 of 4:00 h, 2:57 left" in told(RUNNING, 72)[1]
    assert "2:57 left" in told(RUNNING, 60)[1]


def test_a_wide_header_also_says_where_the_log_is() -> None:
    assert "on gpu03  ~/runs/resnet/slurm-48213.out" in told(RUNNING, 160)[1]


def test_little_time_left_is_a_warning_and_not_by_colour_alone() -> None:
    assert "▲ RUNNING 3:45 of 4:00 h, 14 min left" in told(SHORT)[1]
    assert "severity-warning" in meanings(SHORT)
    assert "severity-warning" not in meanings(RUNNING)


def test_a_job_that_waits_is_what_the_run_waits_for() -> None:
    first, second = told(TASKS, 80, UNWRITTEN)
    assert "◌ pending" in first
    assert "nothing was logged" not in first
    assert second.strip() == "waiting for job 48215_[8-40%4]: pending (JobArrayTaskLimit)"
    assert "· as many tasks of the array run" in told(TASKS, 160, UNWRITTEN)[1]
    assert "slurm-48213.out" in told(TASKS, 160, UNWRITTEN)[1]
    assert "pending (Resources), starts about " in told(PENDING, 80, UNWRITTEN)[1]


def test_a_log_that_is_newer_than_the_answer_knows_better() -> None:
    first, second = told(PENDING)
    assert "▶ running" in first
    assert "job 48220: pending 12 s ago, begun since" in second
    requeued = PENDING._replace(restarts=1)
    waits = STATUS._replace(last_line_at=NOW - 600, state="stalled")
    assert "job 48220: pending (Resources)" in told(requeued, 120, waits)[1]


def test_a_job_that_runs_and_writes_nothing_says_so() -> None:
    first, second = told(RUNNING, 100, UNWRITTEN)
    assert "▶ running" in first
    assert "RUNNING 1:02 of 4:00 h, 2:57 left on gpu03 · nothing is written yet" in second


@pytest.mark.parametrize("state", ["running", "stalled", "unknown"])
def test_the_end_of_a_job_is_no_silence(state: str) -> None:
    over = STATUS._replace(state=state, last_line_at=NOW - 7200)
    first, second = told(TIMEOUT, 100, over)
    assert "✖ timed out" in first
    assert "STALE" not in first
    assert "TIMEOUT, SIGTERM after 4 h on gpu01" in second
    assert "severity-critical" in meanings(TIMEOUT, over)
    assert "severity-critical" not in meanings(DONE, over)


def test_of_a_failure_a_narrow_header_says_how_and_why() -> None:
    why = "RuntimeError: CUDA out of memory"
    failed = STATUS._replace(state="failed", reason=why, lines_per_second=0.0)
    job = TIMEOUT._replace(state="FAILED", ending="exit code 1")
    second = told(job, 80, failed)[1]
    assert "FAILED, exit code 1  RuntimeError: CUDA" in second


def test_what_a_scheduler_said_long_ago_is_not_told_as_new() -> None:
    old = RUNNING._replace(asked_at=NOW - 300)
    assert "as of 5 min ago" in told(old, 120)[1]
