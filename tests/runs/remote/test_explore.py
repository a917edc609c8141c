"""Runs on another machine: found as local ones are, and called by their names over there."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from mltd.runs.discovery import Purpose, explore
from mltd.runs.discovery.tree import Limits
from mltd.runs.errors import InputError
from mltd.runs.remote.address import Address
from mltd.runs.remote.explore import RemoteTree, explore_remote
from mltd.runs.remote.refusals import NotThere
from tests.runs.formats.samples import TABLE
from tests.runs.formats.trees import make
from tests.runs.remote.far_shells import KINDS, FarShell, far_shell
from tests.runs.remote.remote_names import HOST, address, comparable, there
from tests.runs.test_discovery_limits import trees


class TestDirectories:
    @pytest.mark.parametrize(
        "files",
        [
            ["metrics.csv", "hparams.yaml", "checkpoints/epoch=1-step=10.ckpt"],
            ["checkpoint-500/trainer_state.json", "checkpoint-1000/trainer_state.json",
             "checkpoint-1000/model.safetensors", "train.log", "config.json",
             "runs/Nov01_host/events.out.tfevents.1700000000.host.1.0"],
            ["trainer_state.json", "checkpoint-15/trainer_state.json"],
            ["20230101_101010.log", "20230101_101010.log.json", "cfg.py", "tool/x.py"],
            ["rtmpose.py", "epoch_1.pth", "20230101_101010/20230101_101010.log",
             "20230101_101010/vis_data/scalars.json", "20230105_101010/20230105_101010.log"],
            ["last_checkpoint", "20230101_101010/a.log", "20230105_101010/a.log"],
            ["offline-run-20240101_101010-abc/run-abc.wandb",
             "offline-run-20240101_101010-abc/files/output.log",
             "offline-run-20240101_101010-abc/files/config.yaml",
             "offline-run-20240101_101010-abc/files/wandb-metadata.json",
             "offline-run-20240101_101010-abc/logs/debug-internal.log"],
            ["m/0/a/metrics/loss", "m/0/a/params/lr", "m/0/a/meta.yaml", "m/0/b/metrics/loss",
             "m/0/b/params/lr", "m/0/b/artifacts/model/data/model.pth"],
            ["0/stdout.log", "0/stderr.log", "1/stdout.log", "1/stderr.log"],
            ["0/stdout.log", "0/picture.png", "1/stdout.log", "1/stderr.log"],
            ["train/events.out.tfevents.1.h.1.0", "validation/events.out.tfevents.2.h.1.1"],
            ["train/events.out.tfevents.1.h.1.0", "train/x.png",
             "validation/events.out.tfevents.2.h.1.1"],
            ["slurm-9.out", "slurm-9.err", "slurm-10.out"],
            ["metrics.csv", *(f"slurm-{i}.out" for i in range(20))],
            ["train.log", ".hydra/config.yaml", ".git/logs/head.log", "node_modules/a.log"],
            ["x/metrics.csv", "y/metrics.csv", "config.yaml", "first_try.txt", "README.md"],
            ["odd\udcff/tr'ain$(x).log", "a b/-n.log", "new\nline/train.log"],
        ],
        ids=lambda files: " ".join(files)[:60].encode("ascii", "replace").decode(),
    )  # fmt: skip
    def test_are_read_as_if_they_were_here(
        self, files: list[str], far: FarShell, mirror: Path, tmp_path: Path
    ) -> None:
        root = make(tmp_path / "runs", *files)
        found = explore_remote(address(root), far, mirror)
        assert there(found, mirror) == comparable(explore(str(root)))
        assert far.asked <= 3

    @pytest.mark.parametrize("kind", KINDS)
    def test_with_any_tools_over_there(self, kind: str, mirror: Path, tmp_path: Path) -> None:
        root = make(tmp_path / "runs", "a/train.log", "a/metrics.csv", "a/config.yaml", "b/x.out")
        shell = far_shell(kind, tmp_path / "far side")
        found = explore_remote(address(root), shell, mirror)
        shell.close()
        assert there(found, mirror) == comparable(explore(str(root)))
        copied = mirror / f"login01:{root}/a/metrics.csv"
        assert copied.read_bytes() == TABLE

    @settings(max_examples=40)
    @given(tree=trees)
    def test_no_tree_is_read_otherwise_than_here(self, tree: list[tuple[list[str], str]]) -> None:
        with tempfile.TemporaryDirectory() as place:
            root = make(Path(place, "runs"), *("/".join([*parts, name]) for parts, name in tree))
            far = shared_far()
            Path(place, "mirror").mkdir()
            mirror = Path(place, "mirror")
            expected: object
            found: object
            try:
                expected = comparable(explore(str(root)))
            except InputError as problem:
                expected = str(problem)
            try:
                found = there(explore_remote(address(root), far, mirror), mirror)
            except InputError as problem:
                found = str(problem).replace("login01:", "")
            assert found == expected

    def test_two_questions_find_them(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        root = make(
            tmp_path / "runs", *(f"{i}/{n}" for i in range(9) for n in ("train.log", "args.yaml"))
        )
        assert len(explore_remote(address(root), far, mirror).runs) == 9
        assert far.asked == 2

    def test_paths_are_those_of_copies_and_names_those_over_there(
        self, far: FarShell, mirror: Path, tmp_path: Path
    ) -> None:
        root = make(tmp_path / "runs", "train.log", *(f"images/{i}.txt" for i in range(30)))
        found = explore_remote(address(root), far, mirror, limits=Limits(folder=20))
        assert found.runs[0].paths(Purpose.LOG) == [f"{mirror}/login01:{root}/train.log"]
        assert found.notes == [
            f"login01:{root}/images holds 30 files that are no logs; it was not looked into"
        ]
        assert not list((mirror / f"login01:{root}/images").iterdir())

    def test_from_the_home(self, far: FarShell, mirror: Path) -> None:
        make(Path(os.fsdecode(far.home)), "runs/train.log")
        found = explore_remote(address("runs"), far, mirror)
        assert found.runs[0].root == f"{mirror}/login01:{os.fsdecode(far.home)}/runs"

    def test_without_a_run(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(InputError) as caught:
            explore_remote(address(tmp_path / "empty"), far, mirror)
        assert caught.value.message == f"login01:{tmp_path}/empty holds no training logs or metrics"
        assert str(mirror) not in str(caught.value)

    def test_that_is_a_data_set(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        root = make(tmp_path / "set", *(f"{i}.txt" for i in range(30)))
        with pytest.raises(InputError) as caught:
            explore_remote(address(root), far, mirror, limits=Limits(folder=20))
        assert caught.value.message == f"login01:{root} holds no training logs or metrics"
        assert "holds 30 files that are no logs" in caught.value.hint


class TestFiles:
    def test_with_what_lies_beside_them(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        root = make(tmp_path / "runs", "slurm-1.out", "slurm-1.err", "config.json", "slurm-2.out")
        found = explore_remote(address(root / "slurm-1.out"), far, mirror)
        assert there(found, mirror) == comparable(explore(str(root / "slurm-1.out")))
        assert far.asked == 2
        assert sorted(os.listdir(mirror / f"login01:{root}")) == [
            "config.json",
            "slurm-1.err",
            "slurm-1.out",
        ]

    def test_without_what_links_beside_them_lead_to(
        self, far: FarShell, mirror: Path, tmp_path: Path
    ) -> None:
        root = make(tmp_path / "runs", "train.log", "args.json")
        (tmp_path / "secret.json").write_text('{"lr": 1}')
        (root / "config.json").symlink_to(tmp_path / "secret.json")
        (root / "latest.log").symlink_to(tmp_path / "runs/train.log")
        for name in ("train.log", "latest.log"):
            found = explore_remote(address(root / name), far, mirror)
            names = [os.path.basename(file.path) for run in found.runs for file in run.files]
            assert names == [name, "args.json"]
            assert "config.json leads out of the run's folder" in found.notes[0]
        assert not list(mirror.rglob("config.json"))

    def test_with_any_name(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        for name in (b"*", b"a[1].log", b"-rf", b"\xff'\"$(x)\n", b"train .log ", b"results"):
            place = os.fsencode(tmp_path) + b"/" + name
            with open(place, "wb") as file:
                file.write(b"step 1 loss 2.0\n")
            (run,) = explore_remote(Address(HOST, place), far, mirror).runs
            assert [os.fsencode(path) for path in run.paths(Purpose.LOG)] == [
                os.fsencode(mirror) + b"/login01:" + place
            ]

    def test_in_a_huge_folder_cost_no_more(
        self, far: FarShell, mirror: Path, tmp_path: Path
    ) -> None:
        for number in range(3000):
            (tmp_path / f"{number}.dat").touch()
        make(tmp_path, "train.log")
        explore_remote(address(tmp_path / "train.log"), far, mirror)
        assert far.received < 1000

    def test_only_the_beginning_is_copied_and_has_their_time(
        self, far: FarShell, mirror: Path, tmp_path: Path
    ) -> None:
        big = b"step 1 loss 2.0\n" * 100_000
        (tmp_path / "train.log").write_bytes(big)
        os.utime(tmp_path / "train.log", (1_700_000_000, 1_700_000_000))
        explore_remote(address(tmp_path / "train.log"), far, mirror, skew=100)
        copied = mirror / f"login01:{tmp_path}/train.log"
        assert copied.read_bytes() == big[: 1 << 14]
        assert copied.stat().st_mtime == 1_699_999_900

    def test_that_are_missing(self, tree: RemoteTree, tmp_path: Path) -> None:
        make(tmp_path / "runs", "train.log")
        with pytest.raises(NotThere) as caught:
            tree.explore(address(tmp_path / "runs/tran.log"))
        assert (
            caught.value.message
            == f"there is no file or directory login01:{tmp_path}/runs/tran.log"
        )
        assert caught.value.hint == f"in login01:{tmp_path}/runs there is: train.log"
        assert caught.value.may_appear
        assert os.path.isdir(os.path.dirname(tree.place(address(tmp_path / "runs/tran.log"))))
        with pytest.raises(NotThere, match=f"nothing in login01:{tmp_path} has a name") as caught:
            tree.explore(address(tmp_path / "zzz/yyy/train.log"))
        assert not caught.value.may_appear
        with pytest.raises(InputError, match=r"because train\.log is not a directory"):
            tree.explore(address(tmp_path / "runs/train.log/x"))
        with pytest.raises(NotThere, match="in login01:/ there is: tmp"):
            tree.explore(address("/tmpp/x"))

    def test_that_appear_later(self, tree: RemoteTree, tmp_path: Path) -> None:
        with pytest.raises(NotThere):
            tree.explore(address(tmp_path / "train.log"))
        make(tmp_path, "train.log")
        found = tree.refreshed(address(tmp_path / "train.log"))
        assert found is not None
        assert len(found.runs) == 1

    def test_that_are_none(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        os.symlink("loop", tmp_path / "loop")
        os.symlink("nowhere", tmp_path / "dangling")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(tmp_path / "socket"))
            for name in ("pipe", "socket"):
                with pytest.raises(InputError, match=f"login01:.*{name} is a pipe or a device"):
                    explore_remote(address(tmp_path / name), far, mirror)
        with pytest.raises(InputError, match="/dev/null is a pipe or a device"):
            explore_remote(address("/dev/null"), far, mirror)
        for name in ("loop", "dangling"):
            with pytest.raises(InputError, match="symbolic link that leads nowhere"):
                explore_remote(address(tmp_path / name), far, mirror)

    def test_that_are_no_logs(self, far: FarShell, mirror: Path, tmp_path: Path) -> None:
        (tmp_path / "model.pt").write_bytes(b"PK\3\4" + bytes(100))
        (tmp_path / "a.out").write_bytes(b"\x7fELF" + bytes(range(32)) * 50)
        with pytest.raises(InputError) as caught:
            explore_remote(address(tmp_path / "model.pt"), far, mirror)
        assert str(caught.value) == (
            f"login01:{tmp_path}/model.pt is a checkpoint, not a log; "
            f"try: mltd-tui inspect login01:{tmp_path}/model.pt"
        )
        with pytest.raises(InputError, match="binary file of no known format"):
            explore_remote(address(tmp_path / "a.out"), far, mirror)


_SHARED: list[FarShell] = []


def shared_far() -> FarShell:
    """One shell for all the examples of a property."""
    if not _SHARED:
        _SHARED.append(far_shell("sh", Path(tempfile.mkdtemp())))
    return _SHARED[0]


@pytest.fixture(scope="module", autouse=True)
def _end_of_the_shared_shell() -> Iterator[None]:
    yield
    while _SHARED:
        _SHARED.pop().close()
