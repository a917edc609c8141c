"""Folders in the temporary directory: ours alone under a known name, or fresh ones."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from mltd.runs.private_temp import private_temp_folder
from mltd.runs.remote.mirror_root import MirrorRoot

NAME = "mltd-test"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory as /tmp is, which is the temporary one."""
    (folder := tmp_path / "tmp").mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def plant(kind: str, folder: Path) -> None:
    """Put something that somebody else may have made in the place of a folder."""
    match kind:
        case "link":
            (target := folder.parent.parent / "private").mkdir(mode=0o700)
            folder.symlink_to(target)
        case "file":
            folder.touch(mode=0o600)
        case "open":
            folder.mkdir()
            folder.chmod(0o755)
        case "strange":
            if os.geteuid() != 0:
                pytest.skip("only root can give directories away")
            folder.mkdir(mode=0o700)
            os.chown(folder, 12345, -1)


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.lstat().st_mode)


KINDS = pytest.mark.parametrize("kind", ["link", "file", "open", "strange"])


def test_a_known_name_is_made_and_found_again(shared: Path) -> None:
    before = os.umask(0o277)
    try:
        folder = private_temp_folder(NAME)
    finally:
        os.umask(before)
    assert folder == shared / NAME
    assert mode(folder) == 0o700
    assert private_temp_folder(NAME) == folder


@KINDS
def test_what_somebody_else_may_have_prepared_is_left_alone(kind: str, shared: Path) -> None:
    plant(kind, shared / NAME)
    before = (shared / NAME).lstat()
    folder = private_temp_folder(NAME)
    assert folder.parent == shared
    assert folder.name.startswith(f"{NAME}-")
    assert mode(folder) == 0o700
    assert (shared / NAME).lstat() == before
    assert private_temp_folder(NAME) != folder


def test_a_place_where_others_could_replace_it_gets_a_fresh_one_each_time(shared: Path) -> None:
    shared.chmod(0o777)
    assert private_temp_folder(NAME) != private_temp_folder(NAME)


@KINDS
def test_copies_of_remote_logs_are_never_put_where_somebody_else_prepared(
    kind: str, shared: Path, tmp_path: Path
) -> None:
    usual = shared / f"mltd-{os.getuid()}"
    plant(kind, usual)
    (blocked := tmp_path / "file").touch()
    before = usual.lstat()
    with MirrorRoot(blocked / "cache") as root:
        place = root.path
        assert place.parent.parent == shared
        assert place.parent != usual
        assert mode(place) == mode(place.parent) == 0o700
    assert usual.lstat() == before
    assert not place.parent.exists()
    if kind == "link":
        assert list(usual.iterdir()) == []


def test_copies_of_remote_logs_have_the_same_place_each_time(shared: Path, tmp_path: Path) -> None:
    (blocked := tmp_path / "file").touch()
    places = []
    for _ in range(2):
        with MirrorRoot(blocked / "cache") as root:
            places.append(root.path)
    assert places[0] == places[1]
    assert places[0].parent == shared / f"mltd-{os.getuid()}"
