"""`export`: every point of every column, exactly, in a table."""

from __future__ import annotations

import csv
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
    assert "folder /proc/nowhere does not exist" in capfd.readouterr().err


def test_many_runs_are_too_many(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_text("step,loss\n1,2.0\n")
    assert main(["export", str(tmp_path)]) == 2
    assert "2 runs" in capfd.readouterr().err


HOSTILE = 'step,=HYPERLINK("http://x"),-loss,+a,@b,lo\x1b]0;x\x07ss\n1,-2.5,1,2,3,4\n2,3,-1,2,3,4\n'


@pytest.mark.parametrize("form", [[], ["--wide"]])
def test_no_cell_is_a_formula_or_an_escape_code(
    form: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = tmp_path / "=cmd\x1b[31m.csv"
    log.write_text(HOSTILE)
    assert main(["export", str(log), *form]) == 0
    out = capfdbinary.readouterr().out
    assert not [byte for byte in out if byte < 32 and byte != 10]
    header, *rows = csv.reader(io.StringIO(out.decode()))
    names = header if form else [row[1] for row in rows]
    assert {'\'=HYPERLINK("http://x")', "'-loss", "'+a", "'@b", r"lo\x1b]0;x\x07ss"} <= {*names}
    # Numbers stay numbers, also those below zero.
    assert "-2.5" in {cell for row in rows for cell in row}


def test_a_path_that_begins_a_formula_is_text(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("=cmd.csv").write_text("step,loss\n1,2.0\n")
    assert main(["export", "=cmd.csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1].startswith("'=cmd.csv,")
