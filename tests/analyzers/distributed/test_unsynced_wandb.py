"""Offline data of a run is named with the command that syncs it, and only that run's."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from tests.analyzers.distributed.told import STEPS

HOUR = 3600.0


def write(path: Path, data: str | bytes, ago: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    os.utime(path, (time.time() - ago,) * 2)
    return path


def offline(place: Path, name: str, ago: float = HOUR) -> Path:
    """`wandb/offline-run-<date>_<time>-<id>/run-<id>.wandb`."""
    folder = place / "wandb" / f"offline-run-{name}"
    record = folder / f"run-{name.rpartition('-')[2]}.wandb"
    write(record, b":W&B\x32\xbe\x00", ago)
    return folder


def log_in(place: Path, *lines: str, ago: float = HOUR) -> Path:
    return write(place / "train.log", STEPS + "".join(f"{line}\n" for line in lines), ago)


def told(path: Path) -> Diagnosis:
    (files,) = discover(str(path))
    said = diagnose(load(files).run)
    assert said.problems == ()
    return said


def found(path: Path) -> Finding | None:
    ours = [one for one in told(path).findings if one.id == "unsynced_wandb"]
    assert len(ours) <= 1
    return ours[0] if ours else None


def test_the_sync_command_is_in_the_title_of_a_run_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offline(tmp_path, "20240101_000000-abc")
    log = log_in(tmp_path, "Training completed")
    monkeypatch.chdir(tmp_path)
    finding = found(log)
    assert finding is not None
    assert finding.title == (
        "W&B data of this run is on this machine alone: "
        "wandb sync wandb/offline-run-20240101_000000-abc"
    )
    assert finding.severity is Severity.INFO
    monkeypatch.chdir("/")
    again = found(log)
    assert again is not None
    assert f"wandb sync {tmp_path}/wandb/offline-run-20240101_000000-abc" in again.title


def test_a_failed_run_has_it_as_the_fix(tmp_path: Path) -> None:
    folder = offline(tmp_path, "20240101_000000-abc")
    log = log_in(tmp_path, "KeyError: 'a'")
    finding = found(log)
    assert finding is not None
    assert finding.severity is Severity.WARNING
    (cause,) = [one for one in told(log).root_causes if one.id == "tracker_offline"]
    assert cause.fixes[0].example == f"wandb sync {folder}"


def test_a_synced_folder_is_no_finding_even_if_the_log_said_offline(tmp_path: Path) -> None:
    folder = offline(tmp_path, "20240101_000000-abc")
    log = log_in(tmp_path, "wandb: W&B syncing is set to `offline` in this directory.")
    assert found(log) is not None
    (folder / "run-abc.wandb.synced").touch()
    assert found(log) is None


def test_the_folders_of_other_runs_are_left_out(tmp_path: Path) -> None:
    offline(tmp_path, "20230101_000000-old", ago=90 * HOUR)
    log = log_in(tmp_path, "Training completed")
    assert found(log) is None
    offline(tmp_path, "20240101_000000-abc")
    finding = found(log)
    assert finding is not None
    assert "20230101" not in finding.title


def test_two_that_may_be_its_own_are_not_claimed(tmp_path: Path) -> None:
    offline(tmp_path, "20240101_000000-abc")
    offline(tmp_path, "20240101_000001-def")
    assert found(log_in(tmp_path, "Training completed")) is None
    finding = found(
        log_in(tmp_path, "wandb: wandb sync /x/wandb/offline-run-20240101_000001-def", "done")
    )
    assert finding is not None
    assert finding.title.endswith(f"wandb sync {tmp_path}/wandb/offline-run-20240101_000001-def")


def test_an_online_run_is_synced_by_itself(tmp_path: Path) -> None:
    write(tmp_path / "wandb/run-20240101_000000-abc/run-abc.wandb", b":W&B\x32\xbe\x00", HOUR)
    assert found(log_in(tmp_path, "Training completed")) is None


def test_an_online_run_whose_tracker_died_can_be_synced_from_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "wandb/run-20240101_000000-abc"
    write(folder / "run-abc.wandb", b":W&B\x32\xbe\x00", HOUR)
    log = log_in(tmp_path, "wandb: WARNING wandb-core exited unexpectedly with code 1", "x")
    (cause,) = [one for one in told(log).root_causes if one.id == "tracker_offline"]
    assert cause.fixes[0].example == f"wandb sync {folder}"


def test_a_run_that_goes_on_is_information_without_a_command(tmp_path: Path) -> None:
    offline(tmp_path, "20240101_000000-abc", ago=1.0)
    finding = found(log_in(tmp_path, ago=1.0))
    assert finding is not None
    assert finding.severity is Severity.INFO
    assert "wandb sync" not in finding.title


def test_the_setting_is_evidence(tmp_path: Path) -> None:
    offline(tmp_path, "20240101_000000-abc")
    write(tmp_path / "config.json", json.dumps({"wandb": {"mode": "offline"}, "lr": 1}), HOUR)
    write(tmp_path / "args.json", json.dumps({"wandb_mode": "offline"}), HOUR)
    finding = found(log_in(tmp_path, "Training completed"))
    assert finding is not None
    assert "config" in {one.kind.value for one in finding.evidence}


def test_a_job_s_output_sees_the_tracker_s_folder_of_its_project(tmp_path: Path) -> None:
    offline(tmp_path, "20240101_000000-abc")
    log = write(tmp_path / "slurm_logs/48213-vgae.out", STEPS + "Training completed\n", HOUR)
    finding = found(log)
    assert finding is not None
    assert "offline-run-20240101_000000-abc" in finding.title
