"""Folders of killed processes are removed, those of living ones and of others never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mltd.runs.owned_folder import (
    FOREIGN_AGE,
    TempFolder,
    lock_of,
    remove_leftovers,
    remove_temp_leftovers,
    take_lock,
)
from mltd.runs.remote.mirror_root import MirrorRoot, remove_old_copies
from mltd.runs.remote.names import FOLDER

MAKE = """
import sys
from mltd.runs.owned_folder import TempFolder
folder = TempFolder("stdin")
(folder.path / "copy").write_text("secret")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / f"mltd-{os.getuid()}"


def left_behind(base: Path) -> Path:
    """The folder of a process that was killed."""
    command = [sys.executable, "-c", MAKE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.parent == base
        remove_temp_leftovers()
        assert (folder / "copy").read_text() == "secret", "its process was alive"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert folder.exists()
    return folder


def test_nothing_is_left_of_one_that_was_closed(base: Path) -> None:
    with TempFolder("stdin") as folder:
        assert folder.path.parent == base
        assert folder.path.stat().st_mode & 0o777 == 0o700
    assert list(base.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next_start(base: Path) -> None:
    folder = left_behind(base)
    with TempFolder("stdin") as living:
        remove_old_copies()
        assert not folder.exists()
        assert living.path.exists()
    assert list(base.iterdir()) == []


def test_nothing_is_made_by_looking(base: Path) -> None:
    remove_temp_leftovers()
    assert not base.exists()


def test_old_mirrors_are_removed_whatever_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "mltd"
    for number in (1, 3):
        (folder / f"{FOLDER}{number}" / "host:" / "scratch").mkdir(parents=True)
        (folder / f"{FOLDER}{number}.lock").touch()
    (folder / "other").mkdir()
    (folder / "other.lock").touch()
    with MirrorRoot() as mirror:
        assert mirror.path.name == f"{FOLDER}1"
        remove_old_copies()
        assert mirror.path.is_dir()
        assert not (folder / f"{FOLDER}3").exists()
    assert sorted(os.listdir(folder)) == ["other", "other.lock"]


def test_a_lock_of_another_host_is_trusted_for_a_week(tmp_path: Path) -> None:
    place = tmp_path / "mltd-ssh-1"
    place.mkdir()
    lock_of(place).write_text("another-host 4711\n")
    assert take_lock(place) == -1
    remove_leftovers(tmp_path)
    assert place.is_dir()
    old = time.time() - FOREIGN_AGE - 60
    os.utime(lock_of(place), (old, old))
    remove_leftovers(tmp_path)
    assert not place.exists()


def test_links_and_places_open_to_others_are_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    base = tmp_path / "base"
    base.mkdir(mode=0o700)
    (base / "stdin-1").symlink_to(outside)
    (base / "stdin-1.lock").touch()
    (base / "stdin-2.lock").symlink_to(outside / "kept")
    remove_leftovers(base)
    assert (outside / "kept").exists()
    (base / "stdin-3").mkdir()
    (base / "stdin-3.lock").touch()
    base.chmod(0o777)
    remove_leftovers(base)
    assert (base / "stdin-3").exists()
