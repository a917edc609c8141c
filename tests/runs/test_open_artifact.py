"""Opening files of a run: what was found lies in its root, whatever links and swaps there are."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mltd.runs import open_artifact as door
from mltd.runs.open_artifact import (
    ANYWHERE,
    NotAFile,
    OutsideRoot,
    artifact_descriptor,
    open_artifact,
    reason_not_read,
)

SECRET = b"secret"
OWN = b"own"


@pytest.fixture(params=["proc", "no proc"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder beside a private file, also as on a system without /proc."""
    if request.param == "no proc":
        monkeypatch.setattr(door, "_DESCRIPTORS", str(tmp_path / "nowhere"))
    (tmp_path / "private").mkdir()
    (tmp_path / "private/secret").write_bytes(SECRET)
    (tmp_path / "run/inner").mkdir(parents=True)
    (tmp_path / "run/inner/own").write_bytes(OWN)
    return tmp_path


def read(path: Path | str, root: str | tuple[str, ...]) -> bytes:
    with artifact_descriptor(path, root) as descriptor:
        return os.read(descriptor, 100)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("plain", "inner/own"),
        ("absolute", "{tree}/run/inner/own"),
        ("up and down", "../run/inner/own"),
        ("chain", "first"),
    ],
)
def test_links_within_the_root_are_followed(tree: Path, name: str, target: str) -> None:
    (tree / "run/first").symlink_to("inner/../inner/own")
    (tree / "run" / name).symlink_to(target.format(tree=tree))
    assert read(tree / "run" / name, str(tree / "run")) == OWN


@pytest.mark.parametrize(
    "target", ["../private/secret", "{tree}/private/secret", "first", "inner/../../private/secret"]
)
def test_links_out_of_the_root_are_not_followed(tree: Path, target: str) -> None:
    (tree / "run/first").symlink_to("second")
    (tree / "run/second").symlink_to(tree / "private/secret")
    (tree / "run/config").symlink_to(target.format(tree=tree))
    with pytest.raises(OutsideRoot, match=r"leads out of the run's folder \(to .*private/secret\)"):
        open_artifact(tree / "run/config", str(tree / "run"))
    assert read(tree / "run/config", ANYWHERE) == SECRET


@pytest.mark.parametrize("name", ["run/../private/secret", "run/linked/secret", "private/secret"])
def test_neither_dots_nor_a_linked_folder_lead_out(tree: Path, name: str) -> None:
    (tree / "run/linked").symlink_to(tree / "private")
    with pytest.raises(OutsideRoot):
        open_artifact(f"{tree}/{name}", str(tree / "run"))


def test_a_folder_whose_name_begins_like_the_root_is_outside(tree: Path) -> None:
    (tree / "run2").mkdir()
    (tree / "run2/secret").write_bytes(SECRET)
    (tree / "run/config").symlink_to("../run2/secret")
    with pytest.raises(OutsideRoot):
        open_artifact(tree / "run/config", str(tree / "run"))


def test_a_root_may_be_reached_by_a_link_and_by_a_relative_name(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "latest").symlink_to("run")
    (tree / "run/config").symlink_to("../private/secret")
    assert read(tree / "latest/inner/own", str(tree / "latest")) == OWN
    monkeypatch.chdir(tree / "run")
    assert read("inner/own", ".") == OWN
    with pytest.raises(OutsideRoot):
        open_artifact("config", ".")


def test_of_several_roots_one_is_enough_and_none_allows_nothing(tree: Path) -> None:
    (tree / "run/config").symlink_to("../private/secret")
    both = (str(tree / "run"), str(tree / "private"))
    assert read(tree / "run/config", both) == SECRET
    with pytest.raises(OutsideRoot):
        open_artifact(tree / "run/inner/own", ())


def test_real_roots_are_not_resolved_again(tree: Path) -> None:
    roots = (str(tree / "run/inner"),)
    (tree / "run/inner").rename(tree / "run/old")
    (tree / "run/inner").symlink_to(tree / "private")
    with pytest.raises(OutsideRoot):
        open_artifact(tree / "run/inner/secret", roots)


@pytest.mark.parametrize("root", [ANYWHERE, "run"])
def test_what_is_no_regular_file_is_refused_without_waiting(tree: Path, root: str) -> None:
    os.mkfifo(tree / "run/pipe")
    (tree / "run/to pipe").symlink_to("pipe")
    (tree / "run/to device").symlink_to("/dev/zero")
    (tree / "run/to folder").symlink_to("inner")
    inside = str(tree / root) if root else ANYWHERE
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tree / "run/socket"))
        for name in ("pipe", "to pipe", "socket", "to device", "to folder", "inner"):
            with pytest.raises(NotAFile, match="it is a"):
                open_artifact(tree / "run" / name, inside)


def test_a_pipe_that_takes_the_place_of_a_file_after_the_first_look_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree / "run/inner/own"

    def swap() -> None:
        path.unlink()
        os.mkfifo(path)

    after_first_look(monkeypatch, swap)
    with pytest.raises(NotAFile, match="a named pipe"):
        open_artifact(path, str(tree / "run"))


@pytest.mark.parametrize("target", ["/proc/self/environ", "/proc/self/cmdline", "/proc/version"])
def test_what_the_kernel_makes_up_is_never_read(tree: Path, target: str) -> None:
    (tree / "run/config").symlink_to(target)
    for path, root in (
        (tree / "run/config", str(tree / "run")),
        (tree / "run/config", ANYWHERE),
        (target, "/proc"),
        (target, "/"),
    ):
        with pytest.raises(NotAFile, match="made up by the kernel"):
            open_artifact(path, root)


def test_a_missing_file_or_root_is_missing_and_a_loop_is_one(tree: Path) -> None:
    (tree / "run/loop").symlink_to("loop")
    (tree / "run/gone").symlink_to("nothing")
    for name in ("gone", "nothing", "inner/own/below"):
        with pytest.raises(OSError, match=r"No such file|Not a directory"):
            open_artifact(tree / "run" / name, str(tree / "run"))
    with pytest.raises(FileNotFoundError):
        open_artifact(tree / "run/inner/own", str(tree / "no folder"))
    assert "leads back to itself" in reason_not_read(tree / "run/loop", str(tree / "run"))
    assert reason_not_read(tree / "run/gone", str(tree / "run")) == ""
    assert reason_not_read(tree / "run/inner/own", str(tree / "run")) == ""
    with pytest.raises(ValueError, match="null"):
        open_artifact("a\0b", ANYWHERE)


def test_no_descriptor_is_left_open(tree: Path) -> None:
    (tree / "run/config").symlink_to("../private/secret")
    os.mkfifo(tree / "run/pipe")
    before = os.listdir("/proc/self/fd")
    for name in ("config", "pipe", "inner/own", "nothing", "inner"):
        reason_not_read(tree / "run" / name, str(tree / "run"))
    assert os.listdir("/proc/self/fd") == before


def after_first_look(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something once, right after the first look at the path."""
    look, is_done = os.stat, False

    def looked(path: Any, **options: Any) -> os.stat_result:
        nonlocal is_done
        status = look(path, **options)
        if not is_done:
            is_done = True
            act()
        return status

    monkeypatch.setattr(door.os, "stat", looked)  # type: ignore[attr-defined]


@pytest.mark.parametrize("swapped", ["run/inner/own", "run/inner"])
def test_a_link_that_appears_after_the_first_look_is_not_followed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    (tree / "private/own").write_bytes(SECRET)
    target = tree / "private" / ("own" if swapped.endswith("own") else "")

    def swap() -> None:
        (tree / swapped).rename(tree / "old")
        (tree / swapped).symlink_to(target)

    after_first_look(monkeypatch, swap)
    with pytest.raises(OutsideRoot):
        open_artifact(tree / "run/inner/own", str(tree / "run"))


@pytest.mark.parametrize("swapped", ["run/inner/own", "run/inner"])
def test_whoever_swaps_all_the_time_never_shows_the_other_file(tree: Path, swapped: str) -> None:
    (tree / "private/own").write_bytes(SECRET)
    target = tree / "private" / ("own" if swapped.endswith("own") else "")
    real = tree / "run/real"
    (tree / swapped).rename(real)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            for place in (target, real):
                (tree / "run/next").symlink_to(place)
                (tree / "run/next").replace(tree / swapped)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = refused = 0
    try:
        for _ in range(20_000):
            try:
                assert read(tree / "run/inner/own", str(tree / "run")) == OWN
                seen += 1
            except OSError:
                refused += 1
            if min(seen, refused) >= 50:
                break
    finally:
        is_over.set()
        swapper.join()
    assert seen
    assert refused
