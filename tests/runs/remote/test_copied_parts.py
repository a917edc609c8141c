"""How much of the files over there is copied so that discovery can look at it."""

from __future__ import annotations

import os
from pathlib import Path

from mltd.runs.discovery import Purpose
from mltd.runs.remote.explore import RemoteTree, explore_remote
from tests.runs.formats.samples import METRIC, TABLE, TRAINER_STATE
from tests.runs.formats.trees import make
from tests.runs.remote.far_shells import FarShell
from tests.runs.remote.remote_names import address


def test_checkpoints_have_their_sizes_and_no_bytes(
    far: FarShell, mirror: Path, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "train.log", "checkpoint-5/trainer_state.json")
    for name in ("last.ckpt", "checkpoint-5/model.safetensors"):
        with open(root / name, "wb") as file:
            file.truncate(3 << 30)
    explore_remote(address(root), far, mirror)
    here = mirror / f"login01:{root}"
    for name in ("last.ckpt", "checkpoint-5/model.safetensors"):
        assert (here / name).stat().st_size == 3 << 30
        assert (here / name).stat().st_blocks == 0
    assert (here / "checkpoint-5/trainer_state.json").read_bytes() == TRAINER_STATE
    assert far.received < 10_000


def test_settings_are_whole(far: FarShell, mirror: Path, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "train.log")
    text = "".join(f"key{i}: {i}\n" for i in range(20_000))
    (root / "config.yaml").write_text(text)
    (root / "huge_config.yaml").write_bytes(b"a: 1\n" * 300_000)
    found = explore_remote(address(root), far, mirror)
    assert (mirror / f"login01:{root}/config.yaml").read_text() == text
    assert found.runs[0].paths(Purpose.CONFIG) == [f"{mirror}/login01:{root}/config.yaml"]
    assert found.notes == [
        f"login01:{root}/huge_config.yaml is too large for settings (1,500,000 bytes); "
        "it was left out"
    ]


def test_settings_of_many_runs_wait_until_one_is_opened(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    names = [f"{i}/{n}" for i in range(70) for n in ("train.log", "c.yaml", "config.yaml")]
    root = make(tmp_path / "runs", *names)
    found = tree.explore(address(root))
    assert far.asked == 2
    settings_file = Path(found.runs[3].paths(Purpose.CONFIG)[0])
    assert settings_file.read_bytes() == b""
    tree.complete(found.runs[3])
    assert settings_file.read_bytes() == (root / "3/config.yaml").read_bytes()
    assert far.asked == 3


def test_mlflow_brings_its_small_files(far: FarShell, mirror: Path, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "0/ab/metrics/loss", "0/ab/params/lr", "0/ab/meta.yaml")
    (root / "0/ab/params/lr").write_text("0.001")
    (root / "0/ab/metrics/loss").write_bytes(METRIC)
    explore_remote(address(root), far, mirror)
    assert (mirror / f"login01:{root}/0/ab/params/lr").read_text() == "0.001"


def test_code_that_is_settings_comes_with_its_run(
    far: FarShell, mirror: Path, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "20230101_101010.log")
    (root / "cfg.py").write_text("lr = 0.1\n")
    explore_remote(address(root), far, mirror)
    assert (mirror / f"login01:{root}/cfg.py").read_text() == "lr = 0.1\n"


def test_the_newest_first_if_there_are_too_many(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    root = tmp_path / "runs"
    root.mkdir()
    for number in range(450):
        (root / f"{number}.csv").write_bytes(TABLE)
        os.utime(root / f"{number}.csv", (1_700_000_000 + number, 1_700_000_000 + number))
    found = tree.explore(address(root))
    assert len(found.runs) == 400
    assert found.runs[0].name == "50"
    assert "50 files were not looked into yet" in found.notes[0]
    rest = tree.refreshed(address(root))
    assert rest is not None
    assert len(rest.runs) == 450
    assert rest.notes == []


def test_nothing_of_a_tree_of_code_and_pictures(
    far: FarShell, mirror: Path, tmp_path: Path
) -> None:
    names = [f"src/a{i}/m{j}.py" for i in range(20) for j in range(40)]
    root = make(tmp_path / "runs", "train.log", *names)
    explore_remote(address(root), far, mirror)
    assert sum(len(files) for _, _, files in os.walk(mirror)) <= 21


def test_links_that_lead_out_are_neither_followed_nor_copied(
    far: FarShell, mirror: Path, tmp_path: Path
) -> None:
    root = make(tmp_path / "root", "a/train.log")
    elsewhere = make(tmp_path / "elsewhere", "train.log", "secret.yaml")
    (root / "a/up").symlink_to(root)
    (root / "self").symlink_to("self")
    (root / "gone").symlink_to("nowhere")
    (root / "a/latest.log").symlink_to("train.log")
    (elsewhere / "back").symlink_to(elsewhere)
    (root / "linked").symlink_to(elsewhere)
    (root / "a/config.yaml").symlink_to(elsewhere / "secret.yaml")
    found = explore_remote(address(root), far, mirror)
    assert [run.name for run in found.runs] == ["root"] or [r.name for r in found.runs] == ["a"]
    assert [os.path.basename(file.path) for run in found.runs for file in run.files] == [
        "train.log"
    ]
    said = "\n".join(found.notes)
    assert f"linked leads out of the run's folder (to {elsewhere})" in said
    assert "a/config.yaml leads out of the run's folder" in said
    assert not any(path.name in ("config.yaml", "linked") for path in mirror.rglob("*"))
    assert not any(path.is_symlink() for path in mirror.rglob("*"))
