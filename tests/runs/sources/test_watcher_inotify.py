"""The watcher with real inotify on a local file system."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver

from mltd.runs.sources.watcher import REST_SECONDS, Watcher


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


@pytest.fixture
def watcher(path: Path) -> Iterator[Watcher]:
    with Watcher([path]) as subject:
        assert subject.wait(60) == {path}
        if subject.modes() != {path: "inotify"}:
            pytest.skip(f"no inotify here: {subject.notes()}")
        yield subject


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def settle(watcher: Watcher) -> None:
    """Let the events of one action pass, so that the next report is about the next action."""
    while watcher.wait(REST_SECONDS * 2):
        pass


def test_inotify_tells_of_creation_growth_and_rotation(path: Path, watcher: Watcher) -> None:
    for change in (
        path.touch,
        lambda: append(path, b"one\n"),
        lambda: path.rename(path.with_suffix(".1")),
        path.touch,
        lambda: path.chmod(0o600),
        path.unlink,
    ):
        settle(watcher)
        change()
        assert watcher.wait(60) == {path}
    assert watcher.modes() == {path: "inotify"}


def test_our_own_reading_wakes_nobody(path: Path, watcher: Watcher) -> None:
    path.write_bytes(b"one\n")
    settle(watcher)
    path.read_bytes()
    path.with_name("unrelated").write_bytes(b"x")
    assert watcher.wait(REST_SECONDS * 3) == set()


def test_the_target_of_a_link_is_watched_too(tmp_path: Path) -> None:
    for name in ("here", "first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log").touch()
    link = tmp_path / "here" / "latest.log"
    link.symlink_to(tmp_path / "first" / "log")
    with Watcher([link]) as watcher:
        watcher.wait(60)
        append(tmp_path / "first" / "log", b"x")
        assert watcher.wait(60) == {link}
        new = tmp_path / "here" / "new"
        new.symlink_to(tmp_path / "second" / "log")
        new.rename(link)
        assert watcher.wait(60) == {link}
        append(tmp_path / "second" / "log", b"x")
        assert watcher.wait(60) == {link}
        assert watcher.modes() == {link: "inotify"}


def test_a_change_that_inotify_cannot_see_switches_to_polling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing through a hard link in another directory raises no event in this one."""
    monkeypatch.setattr("mltd.runs.sources.watched_path.SAFETY_SECONDS", 0.2)
    monkeypatch.setattr("mltd.runs.sources.watched_path.GRACE_SECONDS", 0.1)
    (tmp_path / "elsewhere").mkdir()
    path, link = tmp_path / "train.log", tmp_path / "elsewhere" / "same"
    path.touch()
    link.hardlink_to(path)
    with Watcher([path]) as watcher:
        watcher.wait(60)
        append(link, b"unseen\n")
        assert watcher.wait(60) == {path}
        assert watcher.modes() == {path: "poll 0.25 s"}
        assert "missed a change" in watcher.notes()[path]


@pytest.mark.parametrize(
    ("code", "words"), [(errno.ENOSPC, "inotify watches"), (errno.EMFILE, "inotify instances")]
)
def test_running_out_of_inotify_means_polling(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def schedule(*args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(BaseObserver, "schedule", schedule)
    with Watcher([path]) as watcher:
        assert watcher.wait(60) == {path}
        assert watcher.modes() == {path: "poll 0.25 s"}
        assert words in watcher.notes()[path]
        path.write_bytes(b"one\n")
        assert watcher.wait(60) == {path}


def test_a_directory_removed_and_made_again_is_watched_again(tmp_path: Path) -> None:
    path = tmp_path / "run" / "train.log"
    path.parent.mkdir()
    path.touch()
    with Watcher([path]) as watcher:
        watcher.wait(60)
        shutil.rmtree(path.parent)
        while watcher.modes()[path] == "inotify":
            watcher.wait(2)
        assert watcher.notes()[path] == "its directory was removed"
        path.parent.mkdir()
        path.touch()
        while watcher.modes()[path] != "inotify":
            watcher.wait(2)
        settle(watcher)
        append(path, b"again\n")
        assert watcher.wait(60) == {path}
        assert watcher.modes() == {path: "inotify"}


def test_stop_ends_a_wait_from_another_thread(watcher: Watcher) -> None:
    timer = threading.Timer(0.05, watcher.stop)
    timer.start()
    assert watcher.wait(None) == set()
    timer.join()
    assert watcher.wait(None) == set()
