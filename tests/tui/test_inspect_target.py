"""What `inspect` takes a name for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.tui.inspect.target import find_target


def put(path: Path, age: float = 0.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (2e9 - age, 2e9 - age))
    return path


def test_a_file_is_itself(tmp_path: Path) -> None:
    path = put(tmp_path / "odd name: 1.pt")
    assert find_target(str(path)).path == str(path)
    assert find_target(str(path)).folder == ""


@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "pytorch_model-00001-of-00002.bin", "model.safetensors.index.json"],
)
def test_a_checkpoint_folder_is_itself(name: str, tmp_path: Path) -> None:
    put(tmp_path / name)
    put(tmp_path / "optimizer.pt")
    put(tmp_path / "checkpoint-10" / "model.safetensors")
    assert find_target(str(tmp_path)).path == str(tmp_path)


def test_of_numbered_folders_the_newest_is_taken(tmp_path: Path) -> None:
    put(tmp_path / "checkpoint-900" / "model.safetensors", age=50)
    newest = put(tmp_path / "checkpoint-1000" / "model.safetensors", age=10).parent
    os.utime(tmp_path / "checkpoint-900")
    found = find_target(str(tmp_path))
    assert (found.path, found.folder) == (str(newest), str(tmp_path))
    assert found.said == "the newest of 2 checkpoints there"


def test_files_deep_in_a_run_are_found_and_optimizers_are_none(tmp_path: Path) -> None:
    inner = tmp_path / "lightning_logs" / "version_0" / "checkpoints"
    only = put(inner / "epoch=1-step=20.ckpt", age=30)
    put(inner / "optimizer.pt")
    put(tmp_path / "rng_state_0.pth")
    put(tmp_path / "train.log")
    found = find_target(str(tmp_path))
    assert found.path == str(only)
    assert found.said == "the only checkpoint there"


def test_links_that_go_round_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(tmp_path)
    put(tmp_path / "a.pt", age=5)
    assert find_target(str(tmp_path)).said == "the only checkpoint there"
