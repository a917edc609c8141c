"""Runs of which something is missing: no crash, a clear sentence, requests that say what."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.analyzers.cases.checked import DATA, check

Captured = pytest.CaptureFixture[bytes]

TRACE = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 41, in <module>
    main()
  File "/home/me/train.py", line 30, in main
    batch = batch["labels"]
KeyError: 'labels'
"""


def test_only_a_loss_column(capfdbinary: Captured, tmp_path: Path) -> None:
    rows = [f"{step},{2.0 / (1 + step / 40):.4f}" for step in range(200)]
    (tmp_path / "metrics.csv").write_text("\n".join(["step,loss", *rows]) + "\n")
    told = check(capfdbinary, tmp_path)
    assert told.code == 0
    assert told.only["status"] == "healthy"
    assert told.only["root_causes"] == []


def test_only_a_loss_column_that_breaks_asks_for_the_rest(
    capfdbinary: Captured, tmp_path: Path
) -> None:
    rows = [f"{step},{2.0 / (1 + step / 40):.4f}" for step in range(200)]
    rows += [f"{step},nan" for step in range(200, 260)]
    (tmp_path / "metrics.csv").write_text("\n".join(["step,loss", *rows]) + "\n")
    told = check(capfdbinary, tmp_path)
    assert told.code == 1
    assert told.only["status"] == "needs_more_data"
    asked = " ".join(told.only["requests"])
    assert "grad_norm" in asked
    assert "learning rate" in asked
    assert "config" in asked


def test_only_an_error_stream(capfdbinary: Captured, tmp_path: Path) -> None:
    (tmp_path / "slurm-17.err").write_text(TRACE)
    told = check(capfdbinary, tmp_path)
    assert told.code == 1
    assert [f["id"] for f in told.only["findings"]].count("exception") == 1
    asked = " ".join(told.only["requests"])
    assert "standard output or metrics file" in asked


def test_an_empty_folder_is_unusable(capfdbinary: Captured, tmp_path: Path) -> None:
    told = check(capfdbinary, tmp_path)
    assert told.code == 2
    assert told.documents == []
    assert f"{tmp_path} holds no training logs or metrics" in told.err
    assert len(told.err.splitlines()) == 1


def test_a_config_without_a_log_asks_for_it(capfdbinary: Captured, tmp_path: Path) -> None:
    shutil.copy(DATA / "collapse" / "config.yaml", tmp_path)
    told = check(capfdbinary, tmp_path)
    if told.code == 2:
        assert told.documents == []
        assert "log" in told.err
    else:
        assert told.code == 0
        assert told.only["status"] == "no_metrics"
        assert any("training log" in request for request in told.only["requests"])


def test_an_empty_log_is_no_diagnosis(capfdbinary: Captured, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("")
    told = check(capfdbinary, tmp_path)
    assert told.code == 0
    assert told.only["status"] == "no_metrics"
    assert told.only["requests"]


def test_without_its_checkpoint_the_sizes_in_the_config_still_speak(
    capfdbinary: Captured, tmp_path: Path
) -> None:
    for name in ("train.log", "config.yaml"):
        shutil.copy(DATA / "collapse" / name, tmp_path)
    document = check(capfdbinary, tmp_path).only
    (shape,) = [f for f in document["findings"] if f["id"] == "param_imbalance"]
    assert shape["basis"] == "inference"
    assert {e["kind"] for e in shape["evidence"]} == {"config"}
    assert document["root_causes"][0]["id"] == "embedding_heavy"


def test_without_its_config_the_checkpoint_still_speaks(
    capfdbinary: Captured, tmp_path: Path
) -> None:
    for name in ("train.log", "checkpoint.pt"):
        shutil.copy(DATA / "collapse" / name, tmp_path)
    document = check(capfdbinary, tmp_path).only
    assert document["root_causes"][0]["id"] == "embedding_heavy"


def test_half_a_checkpoint_costs_nothing_but_its_evidence(
    capfdbinary: Captured, tmp_path: Path
) -> None:
    shutil.copy(DATA / "collapse" / "train.log", tmp_path)
    content = (DATA / "collapse" / "checkpoint.pt").read_bytes()
    (tmp_path / "checkpoint.pt").write_bytes(content[: len(content) // 2])
    told = check(capfdbinary, tmp_path)
    assert told.code == 1
    assert "mode_collapse" in [f["id"] for f in told.only["findings"]]
