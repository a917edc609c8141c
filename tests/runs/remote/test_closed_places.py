"""Folders and files over there that may not be read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.discovery import Purpose
from mltd.runs.errors import InputError
from mltd.runs.remote.explore import explore_remote
from tests.runs.formats.trees import make
from tests.runs.remote.far_shells import FarShell, shell_of_nobody
from tests.runs.remote.remote_names import address


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those of the tests."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        yield Path(place)
        for folder, _, _ in os.walk(place):
            os.chmod(folder, 0o755)


@pytest.fixture
def far(open_place: Path) -> Iterator[FarShell]:
    shell = shell_of_nobody(open_place)
    yield shell
    shell.close()


def test_a_closed_folder_in_a_tree_is_noted(
    far: FarShell, open_place: Path, tmp_path: Path
) -> None:
    root = make(open_place / "runs", "train.log", "closed/x.log", "unlisted/y.log")
    (root / "closed").chmod(0)
    (root / "unlisted").chmod(0o711)
    found = explore_remote(address(root), far, tmp_path)
    (run,) = found.runs
    assert run.paths(Purpose.LOG) == [f"{tmp_path}/login01:{root}/train.log"]
    assert found.notes == [
        f"cannot look into login01:{root}/closed: Permission denied",
        f"cannot look into login01:{root}/unlisted: Permission denied",
    ]


def test_a_closed_folder_that_was_named(far: FarShell, open_place: Path, tmp_path: Path) -> None:
    root = make(open_place / "runs", "closed/x.log")
    (root / "closed").chmod(0)
    with pytest.raises(InputError) as caught:
        explore_remote(address(root / "closed"), far, tmp_path)
    assert caught.value.message == f"login01:{root}/closed cannot be listed: Permission denied"


def test_a_file_in_a_closed_folder(far: FarShell, open_place: Path, tmp_path: Path) -> None:
    root = make(open_place / "runs", "closed/x.log", "unlisted/y.log")
    (root / "closed").chmod(0)
    (root / "unlisted").chmod(0o711)
    with pytest.raises(InputError) as caught:
        explore_remote(address(root / "closed/x.log"), far, tmp_path)
    assert str(caught.value) == (
        f"login01:{root}/closed/x.log cannot be used: Permission denied; "
        f"you may not look into login01:{root}/closed"
    )
    assert len(explore_remote(address(root / "unlisted/y.log"), far, tmp_path).runs) == 1
    with pytest.raises(InputError, match="may not be listed by you"):
        explore_remote(address(root / "unlisted/z.log"), far, tmp_path)


def test_a_closed_file(far: FarShell, open_place: Path, tmp_path: Path) -> None:
    root = make(open_place / "runs", "a.log", "b.log")
    (root / "a.log").chmod(0)
    with pytest.raises(InputError, match=f"login01:{root}/a.log may not be read by you"):
        explore_remote(address(root / "a.log"), far, tmp_path)
    assert [run.name for run in explore_remote(address(root), far, tmp_path).runs] == ["a", "b"]
