"""The command `pack`: from names to text that can be handed on."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mltd.tui.cli import main
from mltd.tui.complaint import UNUSABLE

SECRET = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZabcdefgh"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    lines = ["seed: 42"]
    for step in range(1, 121):
        loss = "nan" if step >= 100 else f"{2.5 - step / 60:.4f}"
        lines.append(f"step {step} loss {loss} lr 0.003")
    path.write_text("\n".join([*lines, f"login HF_TOKEN={SECRET}"]) + "\n")
    return path


def test_a_pack_goes_to_stdout(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", str(log)]) == 0
    said = capfd.readouterr()
    assert said.out.startswith("# Evidence pack: what mltd-tui knows about 1 training run")
    assert "nan_loss" in said.out
    assert SECRET not in said.out
    assert "tokens; masked: 1 " in said.err


def test_a_file_is_for_its_owner_alone_and_never_replaced_unasked(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "pack.md"
    assert main(["pack", str(log), "-o", str(target)]) == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    target.write_text("mine")
    assert main(["pack", str(log), "-o", str(target)]) == UNUSABLE
    said = capfd.readouterr().err
    assert "exists already" in said
    assert "add --force to replace it" in said
    assert target.read_text() == "mine"
    assert main(["pack", str(log), "-o", str(target), "--force"]) == 0
    assert target.read_text().startswith("# Evidence pack")
    assert sorted(os.listdir(tmp_path)) == ["pack.md", "train.log"]


def test_the_log_itself_is_never_replaced(log: Path, tmp_path: Path) -> None:
    before = log.read_bytes()
    link = tmp_path / "link.md"
    link.symlink_to(log)
    for target in (log, link):
        assert main(["pack", str(log), "-o", str(target), "--force"]) == UNUSABLE
    assert log.read_bytes() == before


def test_several_runs_make_one_pack(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "b" / "other.log"
    other.parent.mkdir()
    other.write_text(log.read_text().replace("nan", "0.5"))
    assert main(["pack", str(log), str(other)]) == 0
    said = capfd.readouterr().out
    assert "about 2 training runs" in said
    assert "run1/train.log" in said
    assert "run2/other.log" in said


def test_the_size_is_as_wished(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", str(log), "--tokens", "1000"]) == 0
    assert len(capfd.readouterr().out) <= 3500


@pytest.mark.parametrize("tokens", ["0", "-5", "999", "100000000"])
def test_a_size_that_makes_no_pack_is_refused(
    log: Path, tokens: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["pack", str(log), f"--tokens={tokens}"]) == UNUSABLE
    assert "give --tokens a number from 1,000 to 500,000" in capfd.readouterr().err


def test_what_is_not_there_is_a_sentence(
    log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["pack", str(tmp_path / "gone.log")]) == UNUSABLE
    said = capfd.readouterr()
    assert said.out == ""
    assert "gone.log" in said.err
    assert main(["pack", str(log), str(tmp_path / "gone.log")]) == UNUSABLE
    said = capfd.readouterr()
    assert said.out.startswith("# Evidence pack"), "the other run is told all the same"
    assert "gone.log" in said.out.partition("## What is missing")[2]


def test_paths_are_hidden_on_demand(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log.write_text(log.read_text() + "saved /home/jdoe77/ckpt/last.pt\n")
    assert main(["pack", str(log), "--redact"]) == 0
    assert "jdoe77" not in capfd.readouterr().out


def test_code_beside_the_run_is_shown_only_if_its_folder_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "project" / "train.py"
    code.parent.mkdir()
    code.write_text("import torch\nloss = model(batch).loss  # the guilty line\nloss.backward()\n")
    log = tmp_path / "runs" / "train.log"
    log.parent.mkdir()
    log.write_text(
        "step 1 loss 2.0\nstep 2 loss 1.9\nTraceback (most recent call last):\n"
        f'  File "{code}", line 2, in <module>\n    loss = model(batch).loss\n'
        "RuntimeError: shapes do not match\n"
    )
    assert main(["pack", str(log)]) == 0
    assert "the guilty line" not in capfd.readouterr().out
    assert main(["pack", str(log), "--source", str(code.parent)]) == 0
    assert "the guilty line" in capfd.readouterr().out
    assert main(["pack", str(log), "--source", str(tmp_path / "slip")]) == UNUSABLE
    assert "there is no folder" in capfd.readouterr().err
