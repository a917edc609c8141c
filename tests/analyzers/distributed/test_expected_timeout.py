"""A time limit that a running job will run into."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.distributed.progress import clock, time_limit
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from tests.analyzers.distributed.told import finding, severity


def running(folder: Path, total: int, config: dict[str, object]) -> Run:
    """A job that grows: 60 steps of a minute each are done."""
    lines = [
        f"2025-01-01 {10 + step // 60:02d}:{step % 60:02d}:00 step {step}/{total} loss "
        f"{3 / (1 + step / 9):.4f}"
        for step in range(1, 61)
    ]
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    run = Run("growing")
    run.add_config(config)
    read_stream(run, str(path), iter([path.read_bytes()]))
    return run


def test_a_limit_that_comes_too_early_is_foreseen(tmp_path: Path) -> None:
    told = diagnose(running(tmp_path, 600, {"slurm": {"time": "02:00:00"}}))
    found = finding(told, "time_limit_ahead")
    assert found.severity is Severity.WARNING
    assert "near step 121" in found.title
    (best, *_) = told.root_causes
    assert best.id == "time_limit"
    assert best.confidence > 0.7
    assert "02:00:00 ->" in best.fixes[0].change


@pytest.mark.parametrize(
    ("total", "config"),
    [
        (100, {"slurm": {"time": "02:00:00"}}),
        (600, {"slurm": {"time": "1-00:00:00"}}),
        (600, {}),
        (600, {"time_limit": 5}),
    ],
)
def test_enough_time_or_an_unknown_limit_is_no_finding(
    tmp_path: Path, total: int, config: dict[str, object]
) -> None:
    assert severity(diagnose(running(tmp_path, total, config)), "time_limit_ahead") is None


def test_a_recording_has_no_time_left_to_run_out_of(tmp_path: Path) -> None:
    run = running(tmp_path, 600, {"slurm": {"time": "02:00:00"}})
    run.is_over = True
    assert severity(diagnose(run), "time_limit_ahead") is None


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        ({"timeout_min": 60}, 3600),
        ({"hydra": {"launcher": {"timeout_min": 90}}}, 5400),
        ({"walltime": "2-00:00:00"}, 172_800),
        ({"time_limit": "01:30:00"}, 5400),
        ({"sbatch": {"time": "30:00"}}, 1800),
        ({"time_limit": "soon"}, None),
        ({"walltime": True}, None),
        ({"time_limit": float("nan")}, None),
    ],
)
def test_limits_are_read_as_schedulers_write_them(
    config: dict[str, object], seconds: float | None
) -> None:
    run = Run("x")
    run.add_config(config)
    found = time_limit(RunView(run))
    assert (found[1] if found else None) == seconds


def test_durations_are_written_as_slurm_reads_them() -> None:
    assert clock(90_061) == "1-01:01:01"
    assert clock(3599) == "00:59:59"
