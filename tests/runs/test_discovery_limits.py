"""What discovery leaves out, survives and keeps in order."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.discovery import Purpose, discover, explore
from mltd.runs.discovery.tree import Limits
from mltd.runs.errors import InputError
from tests.runs.formats.trees import make, only


class TestWhatIsLeftOut:
    def test_files_that_are_no_logs(self, tmp_path: Path) -> None:
        make(tmp_path, "train.log")
        (tmp_path / "README.txt").write_text("How to train.\n")
        (tmp_path / "sales.csv").write_text("region,sales\nnorth,5\n")
        (tmp_path / "vocab.json").write_text('{"a": 1}')
        (tmp_path / "tokenizer_config.json").write_text("{}")
        (tmp_path / "a.out").write_bytes(b"\x7fELF" + bytes(range(32)) * 50)
        (tmp_path / "requirements.txt").write_text("torch\n")
        assert only(tmp_path) == {"log": ["train.log"]}

    def test_text_files_count_if_they_read_like_a_log(self, tmp_path: Path) -> None:
        make(tmp_path, "first_try.txt")
        assert only(tmp_path) == {"log": ["first_try.txt"]}

    @pytest.mark.parametrize("folder", [".cache", ".git", "node_modules", "site-packages"])
    def test_folders_nobody_trains_in(self, tmp_path: Path, folder: str) -> None:
        make(tmp_path, "train.log", f"{folder}/other.log")
        assert only(tmp_path) == {"log": ["train.log"]}

    def test_a_folder_of_data_is_noted(self, tmp_path: Path) -> None:
        make(tmp_path, "train.log", *(f"images/{i}.txt" for i in range(30)))
        found = explore(str(tmp_path), limits=Limits(folder=20))
        assert [run.paths(Purpose.LOG) for run in found.runs] == [[str(tmp_path / "train.log")]]
        assert "images holds 30 files" in found.notes[0]

    def test_a_folder_of_many_logs_is_no_data(self, tmp_path: Path) -> None:
        make(tmp_path, *(f"slurm-{i}.out" for i in range(30)))
        assert len(explore(str(tmp_path), limits=Limits(folder=20)).runs) == 30

    def test_too_many_entries_are_noted_and_the_nearest_runs_kept(self, tmp_path: Path) -> None:
        make(tmp_path, "a/train.log", *(f"b/c/{i}.dat" for i in range(60)), "b/c/d/train.log")
        found = explore(str(tmp_path), limits=Limits(entries=40))
        assert [run.name for run in found.runs] == ["a"]
        assert "stopped looking after 40 directory entries" in found.notes[0]

    def test_too_deep_is_noted(self, tmp_path: Path) -> None:
        make(tmp_path, "a/train.log", "b/c/d/e/train.log")
        found = explore(str(tmp_path), limits=Limits(depth=3))
        assert [run.name for run in found.runs] == ["a"]
        assert "deeper than 3 levels" in found.notes[0]

    def test_links_in_circles_are_survived(self, tmp_path: Path) -> None:
        root = make(tmp_path / "root", "a/train.log")
        (root / "a" / "up").symlink_to(root)
        (root / "a" / "further up").symlink_to(tmp_path)
        (root / "self").symlink_to(root / "self")
        (root / "gone").symlink_to(tmp_path / "nowhere")
        elsewhere = make(tmp_path / "elsewhere", "train.log")
        (elsewhere / "back").symlink_to(elsewhere)
        (root / "linked").symlink_to(elsewhere)
        found = explore(str(root))
        assert [file.path for run in found.runs for file in run.files] == [
            str(root / "a" / "train.log")
        ]
        assert found.notes == [
            f"{root}/linked leads out of the run's folder (to {elsewhere}), so it is not read; "
            "to have it read, name the folder itself"
        ]

    def test_an_unreadable_folder_is_noted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make(tmp_path, "train.log", "secret/x.log")
        real = os.scandir

        def refuse(path: str) -> os._ScandirIterator[str]:
            if str(path).endswith("secret"):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "scandir", refuse)
        found = explore(str(tmp_path))
        assert [run.name for run in found.runs] == [tmp_path.name]
        assert found.notes == [f"cannot look into {tmp_path}/secret: Permission denied"]


def test_the_order_does_not_depend_on_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, *(f"run{i}/train.log" for i in range(12)))
    forward = discover(str(tmp_path))
    real = os.scandir

    class Backward:
        def __init__(self, path: str) -> None:
            self._inner = real(path)

        def __enter__(self) -> list[os.DirEntry[str]]:
            return list(self._inner)[::-1]

        def __exit__(self, *_: object) -> None:
            self._inner.close()

        def close(self) -> None:
            self._inner.close()

    monkeypatch.setattr(os, "scandir", Backward)
    assert discover(str(tmp_path)) == forward
    assert [run.name for run in forward] == [f"run{i}" for i in range(12)]


part = st.sampled_from(
    ["train", "logs", "0", "1", "checkpoint-5", "wandb", "run-20240101_101010-a", "version_0", "x",
     "metrics", "params", "20230101_101010", "vis_data", ".hydra", "runs"]
)  # fmt: skip
leaf = st.sampled_from(
    ["train.log", "a.out", "a.err", "b.out", "metrics.csv", "results.csv", "trainer_state.json",
     "config.json", "events.out.tfevents.1.h.1.0", "run-a.wandb", "model.pt", "loss",
     "scalars.json", "20230101_101010.log", "notes.md", "c\udcff.log", "rank_0.log"]
)  # fmt: skip
trees = st.lists(st.tuples(st.lists(part, max_size=3), leaf), min_size=1, max_size=14)


@settings(max_examples=60, deadline=None)
@given(tree=trees)
def test_no_tree_breaks_it_and_no_file_is_in_two_runs(tree: list[tuple[list[str], str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), *("/".join([*parts, name]) for parts, name in tree))
        try:
            runs = discover(place)
        except InputError:
            return
        paths = [file.path for run in runs for file in run.files]
        assert len(paths) == len(set(paths))
        assert all(os.path.exists(path) for path in paths)
        assert len({run.name for run in runs}) == len(runs)
        assert all(run.is_readable for run in runs)
        for run in runs:
            for path in run.paths(Purpose.LOG):
                assert any(path in again.paths(Purpose.LOG) for again in discover(path))
