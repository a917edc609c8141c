"""`check --follow`: a real process that follows a real file until it is interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.runs.remote.conftest import Configure, configure, sshd  # noqa: F401 - fixtures
from tests.runs.sources.sshd_server import SshdServer
from tests.waiting import PATIENCE


@contextmanager
def following(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "mltd.tui.cli", "check", "--follow", "--json", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_points(process: subprocess.Popen[str], wanted: int) -> Any:
    """Updates until the loss has that many points."""
    assert process.stdout is not None
    for line in process.stdout:
        run = json.loads(line)["run"]
        (loss,) = [series for series in run["series"] if series["name"] == "loss"]
        if loss["points"] >= wanted:
            return loss
    raise AssertionError("it ended early")


def test_updates_come_as_the_file_grows(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 0 loss 3.0\nstep 1 loss 2.5\n")
    with following(str(log)) as process:
        assert next_points(process, 2)["last"] == [1, 2.5]
        with log.open("a") as stream:
            stream.write("step 2 loss 2.0\n")
        assert next_points(process, 3)["last"] == [2, 2]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert errors == ""


def test_polling_can_be_forced(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 0 loss 3.0\nstep 1 loss 2.5\n")
    with following("--poll", "0.25", str(log)) as process:
        next_points(process, 2)
        with log.open("a") as stream:
            stream.write("step 2 loss 2.0\n")
        assert next_points(process, 3)["last"] == [2, 2]


def test_nothing_to_follow_is_unusable(tmp_path: Path) -> None:
    with following(str(tmp_path / "missing")) as process:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "missing" in errors


def next_document(process: subprocess.Popen[str], points: int) -> Any:
    """The first update in which the loss has that many points."""
    assert process.stdout is not None
    for line in process.stdout:
        told = json.loads(line)
        if any(s["name"] == "loss" and s["points"] >= points for s in told["run"]["series"]):
            return told
    raise AssertionError("it ended early")


def test_findings_come_and_are_withdrawn_as_the_file_grows(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    steady = [f"step {i} loss {4 - i / 50 + (i * 7 % 5) / 50:.4f}\n" for i in range(100)]
    log.write_text("".join(steady) + "step 100 loss nan\nstep 101 loss nan\nstep 102 loss nan\n")
    with following(str(log)) as process:
        first = next_document(process, 103)
        assert "nan_loss" in [f["id"] for f in first["findings"]]
        assert first["withdrawn"] == []
        # The run was resumed from before the trouble, and went through.
        with log.open("a") as stream:
            stream.writelines(
                f"step {i} loss {4 - i / 50 + (i * 7 % 5) / 50:.4f}\n" for i in range(90, 160)
            )
        second = next_document(process, 173)
        assert [f["id"] for f in second["findings"] if f["id"] == "nan_loss"] == []
        assert "nan_loss" in [f["id"] for f in second["withdrawn"]]


def test_a_lost_link_is_told_and_so_is_its_return(
    tmp_path: Path,
    configure: Configure,  # noqa: F811
    sshd: SshdServer,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLTD_SSH", configure(""))
    log = tmp_path / "train.log"
    log.write_text("step 0 loss 3.0\nstep 1 loss 2.5\n")
    with following(f"mltd-test:{log}") as process:
        next_points(process, 2)
        sshd.drop_connections()
        with log.open("a") as stream:
            stream.write("step 2 loss 2.0\n")
        assert next_points(process, 3)["last"] == [2, 2]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    told = errors.splitlines()
    assert all(line.startswith("mltd-tui: note: mltd-test: ") for line in told), told
    assert told[0].endswith("it is tried again")
    assert told[-1] == "mltd-tui: note: mltd-test: connected again"
