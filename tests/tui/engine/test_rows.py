"""Rows of the run picker: what is known about a run, in plain values."""

from __future__ import annotations

import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.discovery import Purpose, RunFile, RunFiles
from mltd.runs.ingest import load
from mltd.tui.engine.protocol import Health
from mltd.tui.engine.rows import TREND_POINTS, health, make_row, trend
from tests.analyzers.made import finding, make_run

FILES = RunFiles("made", "/runs/made", [RunFile("/runs/made/train.log", Purpose.LOG)])


def test_a_run_that_was_not_read_has_no_state_yet() -> None:
    row = make_row(3, FILES, None, None, is_open=False)
    assert (row.run, row.name, row.path, row.state, row.headline) == (
        3, "made", "/runs/made", "", "",
    )  # fmt: skip


def test_a_run_that_cannot_be_read_says_why() -> None:
    row = make_row(0, RunFiles("weights", "/runs/weights"), None, None, is_open=False)
    assert (row.state, row.headline) == ("unknown", "no log and no metrics to read")
    row = make_row(0, FILES, None, None, is_open=False, problem="train.log: permission denied")
    assert (row.state, row.headline) == ("unknown", "train.log: permission denied")


def test_a_row_tells_step_loss_and_trend() -> None:
    run = make_run({"train/loss": [4.0, 3.0, 2.0], "aux/loss": [9.0, 9.0, 9.5]}, steps=[0, 10, 20])
    run.totals.update(step=100.0, epoch=3.0)
    row = make_row(0, FILES, run, None, is_open=True)
    assert (row.step, row.total_steps, row.total_epochs) == (20.0, 100.0, 3.0)
    assert (row.last_loss, row.trend) == (2.0, (4.0, 3.0, 2.0))
    assert row.is_open
    assert row.health is Health.UNKNOWN


def test_a_run_that_logs_no_training_loss_shows_its_validation_loss() -> None:
    row = make_row(0, FILES, make_run({"val_loss": [2.0, 1.0, 1.5]}), None, is_open=False)
    assert row.last_loss == 1.5


def test_a_lost_loss_is_shown_as_lost() -> None:
    row = make_row(0, FILES, make_run({"loss": [2.0, 1.0, math.nan]}), None, is_open=False)
    assert row.last_loss is not None
    assert math.isnan(row.last_loss)


def test_the_worst_finding_is_the_headline() -> None:
    diagnosis = Diagnosis(
        "needs_more_data",
        (finding("mild", Severity.INFO), finding("bad", Severity.CRITICAL), finding("so_so")),
    )
    row = make_row(0, FILES, make_run({"loss": [2.0, 1.0, 0.5]}), diagnosis, is_open=False)
    assert (row.health, row.headline) == (Health.CRITICAL, "bad at 3.0")


@pytest.mark.parametrize(
    ("diagnosis", "expected"),
    [
        (None, Health.UNKNOWN),
        (Diagnosis("no_metrics"), Health.UNKNOWN),
        (Diagnosis("healthy"), Health.FINE),
        (Diagnosis("healthy", (finding("x", Severity.INFO),)), Health.INFO),
    ],
)
def test_health_is_one_word(diagnosis: Diagnosis | None, expected: Health) -> None:
    assert health(diagnosis) is expected


def test_without_metrics_the_headline_says_so() -> None:
    row = make_row(0, FILES, make_run({}), Diagnosis("no_metrics"), is_open=False)
    assert row.headline == "no metrics found"


def test_modified_is_the_newest_of_the_files(tmp_path: Path) -> None:
    old, new = tmp_path / "train.log", tmp_path / "metrics.csv"
    for moment, path in enumerate((old, new), 1):
        path.write_text("step,loss\n1,2\n2,1\n3,1\n")
        os.utime(path, (moment * 1000, moment * 1000))
    kinds = {new: Purpose.METRICS, old: Purpose.LOG, tmp_path / "gone": Purpose.LOG}
    files = RunFiles("r", str(tmp_path), [RunFile(str(p), kind) for p, kind in kinds.items()])
    assert make_row(0, files, None, None, is_open=False).modified == 2000.0
    files.files.pop()
    assert make_row(0, files, load(files).run, None, is_open=False).step == 3.0


def test_a_row_holds_no_numpy_values() -> None:
    """The screen, which has no numpy, could not read it otherwise."""
    run = make_run({"loss": [2.0, 1.0, 0.5]})
    run.totals["step"] = np.float64(9)
    assert b"numpy" not in pickle.dumps(make_row(0, FILES, run, Diagnosis("healthy"), is_open=True))


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=200))
def test_a_trend_is_short_and_tells_of_every_bad_value(values: list[float]) -> None:
    drawn = trend(np.array(values, dtype=np.float64))
    assert len(drawn) == min(TREND_POINTS, len(values))
    assert all(math.isfinite(value) or math.isnan(value) for value in drawn)
    assert any(map(math.isnan, drawn)) == any(not math.isfinite(value) for value in values)


def test_a_trend_is_made_of_means() -> None:
    assert trend(np.arange(48.0)) == tuple(2 * k + 0.5 for k in range(24))
