"""Patterns over there match what they would match here, and nothing deeper is listed."""

from __future__ import annotations

import fnmatch
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.discovery import explore
from mltd.runs.discovery.tree import Limits
from mltd.runs.errors import InputError
from mltd.runs.remote.address import Address, Host
from mltd.runs.remote.explore import RemoteTree, explore_remote
from mltd.runs.remote.globs import glob_commands, is_pattern, wider
from mltd.runs.remote.listing import read_listing
from mltd.runs.remote.listing_script import path_script
from tests.runs.formats.trees import make
from tests.runs.remote.far_shells import FarShell, far_shell
from tests.runs.remote.remote_names import HOST, address, comparable, there

FILES = [
    "a/train.log", "a/train.err", "a/config.yaml", "b/train.log", "b/deep/er/train.log",
    "c1/x.out", "c1/x.err", "c2/x.out", "c2/args.json", ".hidden/train.log", "odd [1]/train.log",
    "größe/träin.log", "a/.dot.log", "checkpoint-5/trainer_state.json", "top.log",
]  # fmt: skip


@pytest.fixture
def far(tmp_path: Path) -> Iterator[FarShell]:
    shell = far_shell("sh", tmp_path / "far side")
    yield shell
    shell.close()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    place = tmp_path / "odd [mirror] *" / "mltd-ssh-1"
    place.mkdir(parents=True)
    return place


@pytest.mark.parametrize(
    "pattern",
    ["*/train.log", "*/*.log", "?/train.log", "[ab]/train.log", "[!a]/train.log", "c[0-9]/x.out",
     "**/train.log", "**", "*", "b/**/*.log", "*.log", "gr??e/tr?in.log", "gr*/*", "a/.d*",
     ".h*/train.log", "*/x.*", "odd*/*", "odd \\[1]/*", "*[*/train.log", "b/*/er", "*/"],
)  # fmt: skip
def test_patterns_match_as_they_do_here(
    pattern: str, far: FarShell, mirror: Path, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", *FILES)
    found: object
    expected: object
    try:
        expected = comparable(explore(f"{root}/{pattern}"))
    except InputError as problem:
        expected = str(problem)
    try:
        found = there(explore_remote(address(f"{root}/{pattern}"), far, mirror), mirror)
    except InputError as problem:
        found = str(problem).replace("login01:", "")
    if isinstance(expected, str):  # a slash at the end is not repeated
        expected = expected.replace("*/ ", "* ")
    assert found == expected
    assert far.asked <= 3


def test_names_of_runs_begin_with_the_host(far: FarShell, mirror: Path, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a/train.log", "b/train.log")
    found = explore_remote(address(f"{root}/*"), far, mirror)
    assert [run.name for run in found.runs] == [f"login01:{root}/a", f"login01:{root}/b"]


def test_a_file_that_is_called_like_a_pattern(far: FarShell, mirror: Path, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a[1].log", "a1.log", "x*/train.log", "xy/train.log")
    (run,) = explore_remote(address(f"{root}/a[1].log"), far, mirror).runs
    assert run.name == "a[1].log"
    (run,) = explore_remote(address(f"{root}/x*"), far, mirror).runs
    assert run.root.endswith("/x*")


def test_an_address_with_brackets(far: FarShell, mirror: Path, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a/train.log")
    host = Host("::1", "anna", 2222)
    found = explore_remote(Address(host, os.fsencode(f"{root}/*/train.log")), far, mirror)
    assert found.runs[0].root == f"{mirror}/ssh:/anna@[::1]:2222{root}/a"
    with pytest.raises(InputError) as caught:
        explore_remote(Address(host, os.fsencode(f"{root}/*/nothing")), far, mirror)
    assert caught.value.message == (
        f"nothing that ssh:/anna@[::1]:2222{root}/*/nothing matches is a training run"
    )


def test_no_deeper_than_the_pattern_needs(far: FarShell, tmp_path: Path) -> None:
    root = os.fsencode(make(tmp_path / "runs", *(f"{i}/deep/er/x{i}.log" for i in range(5))))
    make(tmp_path / "runs", "0/train.log", "3/train.log")
    path = root + b"/*/train.log"
    found = read_listing(far.ask(path_script(path, [], Limits(), glob_commands(path))))
    assert set(found.folders) == {root + b"/0", root + b"/3"}


def test_a_few_files_of_a_huge_folder_are_picked(
    far: FarShell, mirror: Path, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "a1.log", "a2.log", "config.json")
    for number in range(2500):
        (root / f"{number}.dat").touch()
    found = explore_remote(address(f"{root}/*.log"), far, mirror)
    assert there(found, mirror) == comparable(explore(f"{root}/*.log"))
    assert far.received < 2000


def test_new_matches_are_noticed(far: FarShell, mirror: Path, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a/train.log", "b/")
    tree = RemoteTree(HOST, far, mirror)
    pattern = address(f"{root}/*/train.log")
    assert len(tree.explore(pattern).runs) == 1
    make(root, "b/train.log")
    found = tree.refreshed(pattern)
    assert found is not None
    assert len(found.runs) == 2
    make(root, "c/")
    for folder in (root, root / "a", root / "b", root / "c"):
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    tree.explore(pattern)
    assert tree.refreshed(pattern) is None
    make(root, "c/train.log")
    assert tree.refreshed(pattern) is not None
    (root / "a/train.log").unlink()
    assert len(tree.explore(pattern).runs) == 2


pieces = st.sampled_from(
    ["a", "b", "é", "*", "?", "[ab]", "[!a]", "[]x]", "[", "]", "'", "\\", "$"]
)
patterns = st.lists(pieces, min_size=1, max_size=5).map("".join).filter(lambda p: p != "**")
plain = st.text("abéx]['\\$-!", min_size=1, max_size=5)


@settings(max_examples=40)
@given(pattern=patterns, names=st.sets(plain, max_size=12))
def test_what_the_shell_lists_holds_all_that_matches(pattern: str, names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            Path(place, name).touch()
        script = b"printf '%s\\0' " + wider(pattern.encode())
        answer = subprocess.run(["sh"], input=script, cwd=place, capture_output=True, check=True)
        listed = {os.fsdecode(name) for name in answer.stdout.split(b"\0")}
    assert set(fnmatch.filter(names, pattern)) <= listed


def test_patterns_are_told_from_names() -> None:
    assert is_pattern(b"/a/*.log")
    assert is_pattern(b"/a/[x]")
    assert not is_pattern(b"/a/b.log")
