"""Listings of another machine's folders: equal to what the system calls say."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.discovery.tree import CHECKPOINT_FOLDER, LOG_LIKE, SKIPPED_FOLDERS, Limits
from mltd.runs.errors import InputError
from mltd.runs.remote.listing import Listing, read_listing, unpacked
from mltd.runs.remote.listing_script import LOGS, path_script, script, stamps_script
from mltd.runs.remote.marks import Mark
from mltd.runs.remote.quoting import sh_quote
from tests.runs.remote.far_shells import KINDS, FarShell, far_shell

Shown = dict[bytes, dict[bytes, tuple[int, int, int]]]
"""Folder to name to type, size and time."""


def listed(far: FarShell, path: Path, limits: Limits | None = None) -> Listing:
    return read_listing(far.ask(path_script(os.fsencode(path), [], limits or Limits())))


def shown(listing: Listing) -> Shown:
    return {
        folder.path: {
            name: (stat.S_IFMT(entry.mode), entry.size, entry.modified)
            for name, entry in folder.entries.items()
        }
        for folder in listing.folders.values()
    }


class Model:
    """What a listing has to be, by system calls."""

    def __init__(self, top: bytes) -> None:
        self.top = top
        self.seen: set[bytes] = set()
        self.found: Shown = {}
        self.links: list[tuple[bytes, bytes, os.stat_result]] = []

    def walk(self) -> Shown:
        waiting = deque([self.top])
        saved: list[bytes] = []
        while waiting:
            place = waiting.popleft()
            real = os.path.realpath(place)
            if real in self.seen:
                continue
            self.seen.add(real)
            for name in self._list(place, is_walk=True):
                if os.fsdecode(name) in SKIPPED_FOLDERS:
                    continue
                is_saved = CHECKPOINT_FOLDER.fullmatch(os.fsdecode(name)) is not None
                (saved if is_saved else waiting).append(place + b"/" + name)
        for place in saved:
            self._list(place, is_walk=False)
        for place, name, status in self.links:
            # A link to a file is found at its own place, or leads out of the tree.
            if not stat.S_ISREG(status.st_mode):
                self._add(place, name, status)
        return self.found

    def _add(self, place: bytes, name: bytes, status: os.stat_result) -> None:
        kind = stat.S_IFMT(status.st_mode)
        self.found[place][name] = (kind, status.st_size, int(status.st_mtime // 1))

    def _list(self, place: bytes, *, is_walk: bool) -> Iterator[bytes]:
        """Notes the entries of a folder; gives the folders to look into."""
        self.found[place] = {}
        inner = []
        for name in os.listdir(place):
            path = place + b"/" + name
            if name.startswith(b".") and not (
                is_walk and name == b".hydra" and os.path.isdir(path)
            ):
                continue
            status = os.lstat(path)
            if not stat.S_ISLNK(status.st_mode):
                self._add(place, name, status)
            else:
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    if stat.S_ISDIR(status.st_mode):
                        if is_walk:
                            continue
                        self._add(place, name, status)
                    else:
                        self.links.append((place, name, status))
                        continue
            if stat.S_ISDIR(status.st_mode):
                inner.append(name)
        return iter(sorted(inner, key=lambda name: (name == b".hydra", name)))


odd_names = st.binary(min_size=1, max_size=12).map(
    lambda raw: raw.replace(b"/", b"'").replace(b"\0", b"\n")
)
special_names = st.sampled_from(
    [b"-n", b"-", b"--", b"*", b"?", b"[a]", b"a b", b"a\nb", b"'", b'"', b"$(x)", b"`x`", b"\\",
     b"\\0", b"%s", b"~", b".hydra", b".git", b"node_modules", b"checkpoint-5", b"x.ckpt",
     b"checkpoint-5x", b"global_step12", b"iter_0000005", b"\xff\xfe", b"\x81\x82", b"a\n",
     b"train.log", "größe".encode()]
)  # fmt: skip
names = (special_names | odd_names).filter(lambda name: name not in (b".", b".."))
nodes = st.recursive(
    st.integers(0, 5000) | st.sampled_from(["up", "away", "gone", "self", "pipe"]) | names,
    lambda inner: st.dictionaries(names, inner, max_size=5),
    max_leaves=14,
)
trees = st.dictionaries(names, nodes, max_size=6)


def build(place: bytes, tree: dict[bytes, object], top: bytes, away: bytes) -> None:
    for name, node in tree.items():
        path = place + b"/" + name
        match node:
            case dict():
                os.mkdir(path)
                build(path, node, top, away)
            case int():
                with open(path, "wb") as file:
                    file.truncate(node)
                os.utime(path, (node * 1000, node * 1000))
            case "pipe":
                os.mkfifo(path)
            case bytes():  # a link to a neighbour, which may be there or not
                os.symlink(b"./" + node, path)
            case word:
                targets = {"up": top, "away": away, "gone": b"nowhere", "self": name}
                os.symlink(targets[str(word)], path)


@pytest.fixture
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FarShell]:
    shell = far_shell("sh", tmp_path_factory.mktemp("far"))
    yield shell
    shell.close()


@pytest.fixture(scope="module", params=KINDS)
def any_far(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FarShell]:
    shell = far_shell(request.param, tmp_path_factory.mktemp("far"))
    yield shell
    shell.close()


@settings(max_examples=25)
@given(tree=trees, other=trees)
def test_a_listing_equals_what_the_system_says(
    any_far: FarShell,
    request: pytest.FixtureRequest,
    tree: dict[bytes, object],
    other: dict[bytes, object],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top, away = (os.path.join(os.fsencode(folder), name) for name in (b"top", b"away"))
        os.mkdir(top)
        os.mkdir(away)
        build(away, other, away, top)
        build(top, tree, top, away)
        found = shown(read_listing(any_far.ask(path_script(top, [], Limits(depth=30)))))
        expected = Model(top).walk()
        if "ls" in request.node.callspec.id:  # it tells the time to the minute or to the day

            def rough(tree: Shown) -> object:
                return {p: {n: e[:2] for n, e in inner.items()} for p, inner in tree.items()}

            assert rough(found) == rough(expected)
        else:
            assert found == expected


def test_many_runs_come_in_one_question(far: FarShell, tmp_path: Path) -> None:
    for run in range(200):
        (tmp_path / f"runs/{run}/ckpt").mkdir(parents=True)
        for number in range(5):
            (tmp_path / f"runs/{run}/{number}.log").touch()
            (tmp_path / f"runs/{run}/ckpt/{number}.pt").touch()
    found = listed(far, tmp_path / "runs")
    assert far.asked == 1
    assert sum(len(folder.entries) for folder in found.folders.values()) == 200 + 200 * 11
    assert far.received < 30_000  # of 130 kB before compression


def test_a_huge_flat_folder_is_named_and_not_sent(far: FarShell, tmp_path: Path) -> None:
    flat = tmp_path / "set/images"
    flat.mkdir(parents=True)
    for number in range(20_000):
        os.close(os.open(flat / f"{number}.jpg", os.O_CREAT))
    (tmp_path / "set/zz").mkdir()
    (tmp_path / "set/zz/train.log").touch()
    found = listed(far, tmp_path / "set")
    assert found.data_sets == {os.fsencode(flat): 20_000}
    assert os.fsencode(tmp_path / "set/zz") in found.folders
    assert found.notes("far:", Limits()) == [
        f"far:{flat} holds 20,000 files that are no logs; it was not looked into"
    ]
    assert far.received < 1000


class TestLimits:
    def test_entries(self, far: FarShell, tmp_path: Path) -> None:
        for number in range(30):
            (tmp_path / f"tree/a{number}/b/c").mkdir(parents=True)
        found = listed(far, tmp_path / "tree", Limits(entries=40))
        assert len(found.folders) < 20
        assert "stopped looking after 40 directory entries in h:/" in found.notes(
            "h:", Limits(entries=40)
        )[0].replace(str(tmp_path), "")

    def test_a_folder_of_logs_over_the_limit_is_cut(self, far: FarShell, tmp_path: Path) -> None:
        (tmp_path / "logs").mkdir()
        for number in range(3000):
            (tmp_path / f"logs/{number}.log").touch()
        (folder,) = listed(far, tmp_path / "logs", Limits(entries=1000)).folders.values()
        assert 1000 <= len(folder.entries) <= 1400

    def test_depth(self, far: FarShell, tmp_path: Path) -> None:
        (tmp_path / "t/a/b/c/d").mkdir(parents=True)
        found = listed(far, tmp_path / "t", Limits(depth=3))
        assert [path.count(b"/") - bytes(tmp_path).count(b"/") for path in found.folders] == [
            1,
            2,
            3,
        ]
        assert found.too_deep == [os.fsencode(tmp_path / "t")]

    def test_many_files_of_checkpoints_do_not_use_up_the_limit(
        self, far: FarShell, tmp_path: Path
    ) -> None:
        for step in range(3):
            (tmp_path / f"t/global_step{step}").mkdir(parents=True)
            for number in range(50):
                (tmp_path / f"t/global_step{step}/{number}.pt").touch()
        (tmp_path / "t/z").mkdir()
        found = listed(far, tmp_path / "t", Limits(entries=40))
        assert not found.too_many
        assert sum(folder.is_checkpoint for folder in found.folders.values()) == 3


def test_devices_and_sockets_are_told_apart_from_files(far: FarShell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
        found = listed(far, tmp_path)
    entries = found.folders[os.fsencode(tmp_path)].entries
    assert stat.S_ISFIFO(entries[b"pipe"].mode)
    assert stat.S_ISSOCK(entries[b"socket"].mode)
    assert not entries[b"pipe"].is_file


def test_times_of_folders_and_files_are_asked_again_in_one_question(
    any_far: FarShell, tmp_path: Path
) -> None:
    paths = [tmp_path / f"a {number}" for number in range(900)]
    for path in paths[:-1]:
        path.touch()
    found = read_listing(any_far.ask(stamps_script([os.fsencode(path) for path in paths])))
    assert len(found.stamps) == 899
    assert all(path.startswith(os.fsencode(tmp_path)) for path in found.stamps)


parts_of_names = st.sampled_from(
    ["checkpoint", "Checkpoint", "global", "step", "STEP", "_", "-", "iter", "12", "00005", "x",
     ".ckpt", ".distcp", ".CKPT", "log", ".out", ".o1", ".e123", "tfevents", ".jsonl", "stderr",
     ".wandb", ".Err"]
)  # fmt: skip
file_names = st.lists(parts_of_names, min_size=1, max_size=4).map("".join)


@settings(max_examples=10)
@given(names=st.lists(file_names, min_size=40, max_size=40))
def test_the_shell_decides_over_there_as_we_would_here(any_far: FarShell, names: list[str]) -> None:
    words = b" ".join(sh_quote(name.encode()) for name in names)
    main = b"for e in %s; do if is_saved $e; then echo 1; else echo 0; fi; " % words
    main += b"case $e in %s) echo 1 ;; *) echo 0 ;; esac; done" % LOGS.encode()
    lines = iter(unpacked(any_far.ask(script(main))).rpartition(b"\0")[2].split())
    for name in names:
        for pattern in (CHECKPOINT_FOLDER, LOG_LIKE):
            assert (next(lines) == b"1") is bool(pattern.fullmatch(name)), (name, pattern.pattern)


class TestAnswersThatCannotBe:
    @pytest.mark.parametrize(
        "tokens",
        [
            b"F\0/a\0N\x001\0./../x\0S\x0081a4 1 1 1 1\n\x000\0",
            b"F\0/a\0N\x001\0./..\0S\x0081a4 1 1 1 1\n\x000\0",
            b"F\0/a\0N\x001\0./b/c\0S\x0081a4 1 1 1 1\n\x000\0",
            b"F\0/a\0N\x002\0./b\0S\0\x000\0",
            b"F\0/a\0N\x00many\0",
            b"what\0",
            b"F\0/a",
        ],
    )
    def test_are_refused(self, tokens: bytes) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            read_listing([Mark((b"plain",)), tokens])

    def test_broken_compression_is_refused(self) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            read_listing([Mark((b"packed",)), b"no gzip"])

    @given(data=st.binary(max_size=60) | st.lists(st.sampled_from(
        [b"F", b"N", b"S", b"R", b"L", b"1", b"0", b"/a", b"./b", b"-\n", b"M", b"W", b""]
    )).map(b"\0".join))  # fmt: skip
    def test_no_answer_breaks_it(self, data: bytes) -> None:
        with contextlib.suppress(InputError):
            read_listing([data])
