"""`export`: every point of every column, exactly, in a table."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from mltd.tui.cli import main

LOG = "step 0 loss 3.125 lr 0.1\nval_loss: 2.5\nstep 10 loss nan lr 0.05\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "train.log").write_text(LOG)
    return tmp_path / "train.log"


def test_one_row_per_value(log: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", str(log), "--csv"]) == 0
    table = pd.read_csv(io.BytesIO(capfdbinary.readouterr().out))
    assert list(table.columns) == [
        "file", "metric", "role", "rank", "unit", "step", "epoch", "tokens", "samples", "time",
        "generation", "line", "value",
    ]  # fmt: skip
    loss = table[table.metric == "loss"]
    assert loss.step.tolist() == [0, 10]
    assert loss.value.tolist()[0] == 3.125
    assert loss.value.isna().tolist() == [False, True]
    val = table[table.metric == "val_loss"]
    assert (val.step.item(), val.line.item(), val.role.item()) == (0, 2, "val/loss")


def test_one_row_per_record(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert main(["export", str(log), "--csv", "--wide", "-o", str(target)]) == 0
    table = pd.read_csv(target)
    assert len(table) == 3
    assert table.lr.dropna().tolist() == [0.1, 0.05]
    assert table.val_loss.dropna().tolist() == [2.5]


def test_parquet_needs_a_place_to_go(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(log), "--parquet"]) == 2
    assert "-o FILE" in capfd.readouterr().err


def test_parquet_says_what_to_install(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mltd.runs.export.find_spec", lambda name: None)
    assert main(["export", str(log), "--parquet", "-o", str(tmp_path / "x.parquet")]) == 2
    assert "mltd-tui[parquet]" in capfd.readouterr().err


def test_parquet_is_written(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    assert main(["export", str(log), "--parquet", "-o", str(tmp_path / "x.parquet")]) == 0
    assert len(pd.read_parquet(tmp_path / "x.parquet")) == 5


def test_a_place_that_cannot_be_written(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(log), "-o", "/proc/nowhere/x.csv"]) == 2
    assert "cannot be written" in capfd.readouterr().err


def test_many_runs_are_too_many(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_text("step,loss\n1,2.0\n")
    assert main(["export", str(tmp_path)]) == 2
    assert "2 runs" in capfd.readouterr().err
