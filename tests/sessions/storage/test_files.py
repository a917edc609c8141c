"""Files are on the disk before they take the place of others."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.storage.creating import create_session
from mltd.sessions.storage.files import make_private_folder, replace_durably, sync_folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system is asked for, in order; a sync with the name of what is synced."""
    asked: list[str] = []
    for name in ("write", "fsync", "replace", "mkdir"):
        real = getattr(os, name)

        def noted(*args: Any, name: str = name, real: Any = real, **options: Any) -> Any:
            synced = os.readlink(f"/proc/self/fd/{args[0]}") if name == "fsync" else ""
            what = "folder" if os.path.isdir(synced) else "file"
            asked.append(f"sync {what} {Path(synced).name.partition('.')[0]}" if synced else name)
            return real(*args, **options)

        monkeypatch.setattr(os, name, noted)
    return asked


def test_a_file_is_replaced_only_by_one_that_is_on_the_disk(
    tmp_path: Path, calls: list[str]
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    calls.clear()
    replace_durably(folder / "journal.jsonl", b"new")
    assert calls == ["write", "sync file journal", "replace", "sync folder here"]
    assert [file.name for file in folder.iterdir()] == ["journal.jsonl"]


def test_a_new_session_is_on_the_disk_with_its_folders(tmp_path: Path, calls: list[str]) -> None:
    create_session(tmp_path / "state" / "sessions", "some", b"header\n")
    assert calls.index("sync folder state") > calls.index("mkdir")
    assert calls[-2:] == ["sync folder some", "sync folder sessions"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_what_cannot_be_finished_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space"):
        replace_durably(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["journal.jsonl"]


def test_a_file_system_that_cannot_sync_folders_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = [errno.EINVAL, errno.EIO]

    def fail(*_: Any) -> None:
        raise OSError(problems.pop(0), "x")

    monkeypatch.setattr(os, "fsync", fail)
    sync_folder(tmp_path)
    with pytest.raises(OSError, match="x"):
        sync_folder(tmp_path)


def test_a_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(NotADirectoryError):
            make_private_folder(folder)
