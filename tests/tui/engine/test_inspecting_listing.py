"""Checkpoints by their names and directories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.tui.engine.inspecting.listing import copy_command, list_checkpoints, places_of


def touch(path: Path, size: int = 8, at: float = 1_000.0) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\0" * size)
    os.utime(path, (at, at))
    return str(path)


@pytest.mark.parametrize(
    ("name", "step", "epoch"),
    [
        ("step-300.pt", 300, None),
        ("epoch=3-step=1200.ckpt", 1200, 3.0),
        ("ckpt_epoch_12.pth", None, 12.0),
        ("checkpoint-500", 500, None),
        ("model_iter0004000.pt", 4000, None),
        ("best.pt", None, None),
        ("resnet50.pth", None, None),
    ],
)
def test_names_tell_how_far_it_was(
    tmp_path: Path, name: str, step: int | None, epoch: float | None
) -> None:
    (row,) = list_checkpoints([touch(tmp_path / name)], str(tmp_path))
    assert (row.step, row.epoch) == (step, epoch)
    assert row.name == name


def test_shards_are_one_checkpoint_and_what_lies_beside_weights_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-500"
    names = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    shards = [touch(folder / name, 100, 2_000.0) for name in names]
    beside = touch(folder / "optimizer.pt", 50, 2_000.0)
    older = touch(tmp_path / "first.pt")
    rows = list_checkpoints([older, *shards, beside], str(tmp_path))
    assert [row.name for row in rows] == ["checkpoint-500", "first.pt"]
    assert rows[0].bytes == 250
    assert rows[0].modified == 2_000.0


def test_an_optimizer_alone_is_better_than_nothing(tmp_path: Path) -> None:
    (row,) = list_checkpoints([touch(tmp_path / "optimizer.pt")], str(tmp_path))
    assert row.name == "optimizer.pt"


def test_what_is_gone_is_left_out(tmp_path: Path) -> None:
    assert list_checkpoints([str(tmp_path / "gone.pt"), "a\0b.pt"], str(tmp_path)) == ()


def test_places_are_told_once(tmp_path: Path) -> None:
    logs = [str(tmp_path / "a.log"), str(tmp_path / "logs" / "b.log")]
    assert places_of(str(tmp_path), logs) == (str(tmp_path), str(tmp_path / "logs"))


@pytest.mark.parametrize(
    ("copy", "command"),
    [
        ("login01:/scratch/run/a.pt", "scp -r login01:/scratch/run/a.pt ."),
        ("anna@login01:/my run/a.pt", "scp -r 'anna@login01:/my run/a.pt' ."),
        ("ssh:/anna@login01:2222/run/a.pt", "scp -r -P 2222 anna@login01:/run/a.pt ."),
    ],
)
def test_a_remote_one_has_the_command_that_brings_it_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy: str, command: str
) -> None:
    mirror = tmp_path / "mltd-ssh-1"
    monkeypatch.setenv("MLTD_MIRROR", str(mirror))
    path = touch(Path(f"{mirror}/{copy}"))
    assert copy_command(path) == command
    (row,) = list_checkpoints([path], os.path.dirname(path))
    assert row.copy_command == command
    assert list_checkpoints([touch(tmp_path / "here.pt")], "")[0].copy_command == ""
