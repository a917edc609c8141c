"""A second look at another machine: what is new, what is gone, and what it costs."""

from __future__ import annotations

import os
from pathlib import Path

from mltd.runs.discovery import explore
from mltd.runs.remote.explore import RemoteTree
from tests.runs.formats.samples import TABLE
from tests.runs.formats.trees import make
from tests.runs.remote.far_shells import FarShell
from tests.runs.remote.remote_names import address, comparable, there


def test_brings_what_is_new_and_takes_away_what_is_gone(
    tree: RemoteTree, mirror: Path, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "a/train.log", "b/train.log", "c/train.log")
    tree.explore(address(root))
    make(root, "d/train.log", "a/metrics.csv")
    (root / "b/train.log").unlink()
    (root / "c/train.log").unlink()
    (root / "c").rmdir()
    found = tree.explore(address(root))
    assert there(found, mirror) == comparable(explore(str(root)))
    here = mirror / f"login01:{root}"
    assert sorted(os.listdir(here)) == ["a", "b", "d"]


def test_what_has_not_changed_is_not_asked_for(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "a/train.log", "a/config.yaml", "b/metrics.csv")
    tree.explore(address(root))
    before = far.asked
    tree.explore(address(root))
    assert far.asked == before + 1


def test_a_log_that_grew_keeps_its_beginning(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    root = tmp_path / "runs"
    root.mkdir()
    (root / "train.log").write_bytes(b"step 1 loss 2.0\n" * 1000)
    tree.explore(address(root))
    with open(root / "train.log", "ab") as file:
        file.write(b"step 2 loss 1.0\n" * 1000)
    os.utime(root / "train.log", (1_700_000_000, 1_700_000_000))
    before = far.asked
    tree.explore(address(root))
    assert far.asked == before + 1
    assert os.stat(tree.place(address(root / "train.log"))).st_mtime == 1_700_000_000


def test_a_file_that_was_replaced_is_asked_for(tree: RemoteTree, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "results.csv")
    tree.explore(address(root))
    (root / "new").write_bytes(b"epoch,loss\n1,2.0\n" * 30)
    os.replace(root / "new", root / "results.csv")
    tree.explore(address(root))
    copied = Path(tree.place(address(root / "results.csv")))
    assert copied.read_bytes() == (root / "results.csv").read_bytes()
    (root / "results.csv").write_bytes(b"")
    make(root, "train.log")
    tree.explore(address(root))
    assert copied.read_bytes() == b""


def test_a_file_that_became_a_folder_and_back(tree: RemoteTree, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a.log", "x.log")
    tree.explore(address(root))
    (root / "a.log").unlink()
    make(root, "a.log/inner.log")
    tree.explore(address(root))
    assert os.path.isfile(tree.place(address(root / "a.log/inner.log")))
    (root / "a.log/inner.log").unlink()
    (root / "a.log").rmdir()
    make(root, "a.log")
    tree.explore(address(root))
    assert os.path.isfile(tree.place(address(root / "a.log")))


def test_files_that_are_followed_are_left_alone(tree: RemoteTree, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a/train.log", "b/train.log")
    tree.explore(address(root))
    copied = Path(tree.place(address(root / "a/train.log")))
    copied.write_bytes(b"what the follower has written")
    (root / "a/train.log").write_bytes(b"another")
    tree.explore(address(root), followed=[copied])
    assert copied.read_bytes() == b"what the follower has written"
    (root / "a/train.log").unlink()
    (root / "a").rmdir()
    tree.explore(address(root), followed=[copied])
    assert copied.read_bytes() == b"what the follower has written"


def test_is_cheap_as_long_as_nothing_happens(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", *(f"{i}/train.log" for i in range(30)))
    for folder in [root, *root.iterdir()]:
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    tree.explore(address(root))
    before, received = far.asked, far.received
    assert tree.refreshed(address(root)) is None
    assert far.asked == before + 1
    assert far.received - received < 2000
    make(root, "7/metrics.csv")
    found = tree.refreshed(address(root))
    assert found is not None
    assert there(found, Path(tree.place(address("/"))).parent) == comparable(explore(str(root)))


def test_a_table_that_had_no_rows_is_looked_at_again(tree: RemoteTree, tmp_path: Path) -> None:
    root = make(tmp_path / "runs", "a.log")
    (root / "b.csv").write_bytes(b"")
    os.utime(root, (1_700_000_000, 1_700_000_000))
    tree.explore(address(root))
    assert tree.refreshed(address(root)) is None
    (root / "b.csv").write_bytes(TABLE)
    found = tree.refreshed(address(root))
    assert found is not None
    assert len(found.runs) == 2


def test_what_changed_a_moment_ago_may_change_again_unseen(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "a.log")
    tree.explore(address(root))
    assert tree.refreshed(address(root)) is not None


def test_copies_are_looked_at_without_asking(
    far: FarShell, tree: RemoteTree, tmp_path: Path
) -> None:
    root = make(tmp_path / "runs", "a.log")
    found = tree.explore(address(root))
    before = far.asked
    assert comparable(tree.explore_copies(address(root))) == comparable(found)
    assert far.asked == before
