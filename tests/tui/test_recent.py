"""Recently opened runs: remembered, private, never in the way."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.state_files import state_directory
from mltd.tui.recent import MOST, RecentRuns, is_below


def test_the_newest_is_first_and_nothing_is_twice(tmp_path: Path) -> None:
    recent = RecentRuns(tmp_path / "recent.json")
    for name in ("/a", "/b", "/a"):
        recent.remember(name)
    assert RecentRuns(tmp_path / "recent.json").paths == ("/a", "/b")


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    recent = RecentRuns(tmp_path / "recent.json")
    for number in range(MOST + 3):
        recent.remember(f"/runs/{number}")
    assert len(recent.paths) == MOST
    assert recent.paths[0] == f"/runs/{MOST + 2}"


def test_it_lives_in_the_state_directory() -> None:
    RecentRuns().remember("/a")
    assert state_directory() == Path(os.environ["XDG_STATE_HOME"], "mltd")
    assert (state_directory() / "recent.json").is_file()


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o277])
def test_nobody_else_can_read_it_whatever_the_umask_is(tmp_path: Path, mask: int) -> None:
    file = tmp_path / "mltd" / "recent.json"
    before = os.umask(mask)
    try:
        RecentRuns(file).remember("/secret/run")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["recent.json"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b'{"paths": 3}', b"\xff\xfe", b'{"paths": [1, null, ""]}', b"[" * 9999],
)
def test_a_broken_file_is_no_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "recent.json"
    file.write_bytes(content)
    assert RecentRuns(file).paths == ()
    RecentRuns(file).remember("/a")
    assert RecentRuns(file).paths == ("/a",)


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "mltd").write_text("a file where the directory should be")
    recent = RecentRuns(tmp_path / "mltd" / "recent.json")
    recent.remember("/a")
    assert recent.paths == ()


def test_what_cannot_be_put_in_place_is_not_left_lying_about(tmp_path: Path) -> None:
    (tmp_path / "recent.json").mkdir()
    RecentRuns(tmp_path / "recent.json").remember("/a")
    assert [path.name for path in tmp_path.iterdir()] == ["recent.json"]


def test_runs_elsewhere_are_those_that_exist_outside(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "run").mkdir(parents=True)
    there.mkdir()
    recent = RecentRuns(tmp_path / "recent.json")
    for path in (here / "run", there, tmp_path / "gone"):
        recent.remember(str(path))
    assert recent.elsewhere(str(here)) == (str(there),)


@given(st.text(alphabet=st.characters(codec=None), max_size=20))
def test_any_name_can_be_remembered(name: str) -> None:
    file = state_directory() / "recent.json"
    recent = RecentRuns(file)
    recent.remember("/base/" + name)
    assert isinstance(recent.paths, tuple)
    if file.exists():
        json.loads(file.read_text())


def test_a_neighbour_with_the_same_beginning_is_not_below() -> None:
    assert is_below("/a/b", ["/a"])
    assert is_below("/a/", ["/a"])
    assert is_below("/x", ["/"])
    assert not is_below("/ab", ["/a"])
