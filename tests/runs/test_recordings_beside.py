"""A named log brings the probe's recording that is surely its own, and no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mltd.runs.discovery import discover
from mltd.runs.discovery.recordings import is_recording_name

HEADER = {"mltd_probe": 1, "kind": "header", "layers": ["a"], "parameters": [1], "modules": []}
STEP = {"kind": "step", "step": 1, "total": {"grad_norm": 1.0}, "grad_norm": [1.0]}
RECORDING = "".join(json.dumps(record) + "\n" for record in (HEADER, STEP))
LOG = "step 1 loss 2.0\nstep 2 loss 1.9\n"


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(RECORDING if "probe" in name else LOG)


def named(path: Path) -> list[list[str]]:
    return [sorted(Path(file.path).name for file in run.files) for run in discover(str(path))]


@pytest.mark.parametrize(
    ("log", "files", "taken"),
    [
        ("train.log", ["mltd-probe.jsonl"], ["mltd-probe.jsonl"]),
        ("slurm-7.out", ["mltd-probe.jsonl"], ["mltd-probe.jsonl"]),
        ("train.log", ["train.probe.jsonl", "other.log"], ["train.probe.jsonl"]),
        ("lr3.log", ["lr3.probe.jsonl", "lr4.log", "lr4.probe.jsonl"], ["lr3.probe.jsonl"]),
        ("train.log", ["mltd-probe.jsonl", "mltd-probe-2.jsonl"],
         ["mltd-probe-2.jsonl", "mltd-probe.jsonl"]),
        ("train.log", ["mltd-probe.rank1.jsonl"], ["mltd-probe.rank1.jsonl"]),
        # Two runs, and one recording of either.
        ("lr3.log", ["mltd-probe.jsonl", "lr4.log"], []),
        ("lr3.log", ["lr4.probe.jsonl"], []),
    ],
)  # fmt: skip
def test_a_log_takes_the_recording_of_its_run(
    tmp_path: Path, log: str, files: list[str], taken: list[str]
) -> None:
    fill(tmp_path, log, *files)
    assert named(tmp_path / log) == [sorted([log, *taken])]


def test_a_file_that_only_has_the_name_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, "train.log")
    (tmp_path / "mltd-probe.jsonl").write_text('{"loss": 1}\n')
    assert named(tmp_path / "train.log") == [["train.log"]]


def test_a_recording_alone_is_a_run(tmp_path: Path) -> None:
    fill(tmp_path, "train.log", "mltd-probe.jsonl")
    assert named(tmp_path / "mltd-probe.jsonl") == [["mltd-probe.jsonl"]]


def test_a_pattern_that_matches_both_gives_one_run(tmp_path: Path) -> None:
    fill(tmp_path, "mltd-probe.jsonl", "train.log")
    assert named(tmp_path / "*") == [["mltd-probe.jsonl", "train.log"]]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("mltd-probe.jsonl", True),
        ("mltd-probe-2.rank3.jsonl", True),
        ("run_probe.jsonl", True),
        ("mltd-probe.jsonl.gz", True),
        ("probes.jsonl", False),
        ("probe.log", False),
    ],
)
def test_recordings_are_known_by_their_names(name: str, *, is_one: bool) -> None:
    assert is_recording_name(name) is is_one
