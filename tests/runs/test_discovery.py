"""From what a user names to runs: files, pairs, single runs, many runs, globs, mistakes."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.discovery import Purpose, RunFiles, discover, explore
from mltd.runs.discovery.tree import Limits
from mltd.runs.errors import InputError
from tests.runs.formats.samples import EVENTS, METRIC, TABLE, TRAINER_STATE, WANDB

LOG = b"epoch 1 loss 2.5\nepoch 2 loss 2.25\n"
JSON_LINES = b'{"iteration": 19, "total_loss": 2.0, "lr": 1e-5}\n'
WEIGHTS = b"PK\x03\x04" + bytes(64)
CONTENTS = {
    ".csv": TABLE,
    ".wandb": WANDB,
    ".jsonl": JSON_LINES,
    ".json": JSON_LINES,
    ".pt": WEIGHTS,
    ".pth": WEIGHTS,
    ".ckpt": WEIGHTS,
    ".safetensors": WEIGHTS,
    ".bin": WEIGHTS,
}


def make(root: Path, *names: str) -> Path:
    """Create files with contents that suit their names; `name/` is an empty folder."""
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        content = CONTENTS.get(path.suffix, LOG)
        if "tfevents" in name:
            content = EVENTS
        elif path.name == "trainer_state.json":
            content = TRAINER_STATE
        elif path.name in ("config.json", "args.json", "wandb-metadata.json", "params.json"):
            content = b'{"lr": 0.1}'
        elif "/metrics/" in name and not path.suffix:
            content = METRIC
        path.write_bytes(content)
    return root


def shown(run: RunFiles, root: Path) -> dict[str, list[str]]:
    """Purpose to paths, relative and sorted."""
    found: dict[str, list[str]] = {}
    for file in run.files:
        found.setdefault(str(file.purpose), []).append(os.path.relpath(file.path, root))
    return found


def only(what: Path) -> dict[str, list[str]]:
    """The files of the one run that a directory holds."""
    (run,) = discover(str(what))
    return shown(run, what)


def names(what: Path | str) -> list[str]:
    return [run.name for run in discover(str(what))]


class TestOneFile:
    def test_streams_and_settings_beside_it_join(self, tmp_path: Path) -> None:
        make(tmp_path, "slurm-7.out", "slurm-7.err", "slurm-8.out", "config.yaml", "args.json")
        (run,) = discover(str(tmp_path / "slurm-7.out"))
        assert run.name == "slurm-7.out"
        assert run.root == str(tmp_path)
        assert shown(run, tmp_path) == {
            "log": ["slurm-7.err", "slurm-7.out"],
            "config": ["args.json", "config.yaml"],
        }

    @pytest.mark.parametrize(
        ("named", "other"),
        [
            ("x.err", "x.out"),
            ("train.o123", "train.e123"),
            ("stdout.log", "stderr.log"),
            ("job_stderr.txt", "job_stdout.txt"),
            ("run.out.log", "run.err.log"),
        ],
    )
    def test_pairs(self, tmp_path: Path, named: str, other: str) -> None:
        make(tmp_path, named, other)
        (run,) = discover(str(tmp_path / named))
        assert sorted(run.paths(Purpose.LOG)) == sorted(
            [str(tmp_path / named), str(tmp_path / other)]
        )

    def test_structured_content_is_metrics_whatever_the_name(self, tmp_path: Path) -> None:
        (tmp_path / "numbers").write_bytes(EVENTS)
        (run,) = discover(str(tmp_path / "numbers"))
        assert run.files[0].purpose is Purpose.METRICS

    def test_any_text_file_is_a_run_if_it_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "report.md").write_text("# nothing of note\n")
        assert names(tmp_path / "report.md") == ["report.md"]

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\0" * 70_000,
            b"\0" * 5000 + LOG,
            "loss 1.5\n".encode("utf-16"),
            "loss 1.5\n".encode("utf-16-le"),
            b"caf\xe9 loss 1\n",
        ],
    )
    def test_odd_texts_are_accepted(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "train.log").write_bytes(content)
        assert names(tmp_path / "train.log") == ["train.log"]

    def test_a_checkpoint_is_no_log(self, tmp_path: Path) -> None:
        make(tmp_path, "model.pt")
        with pytest.raises(InputError, match="is a checkpoint, not a log; try: mltd-tui inspect"):
            discover(str(tmp_path / "model.pt"))

    def test_a_binary_file_is_no_log(self, tmp_path: Path) -> None:
        (tmp_path / "a.out").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(32)) * 20)
        with pytest.raises(InputError, match="binary file"):
            discover(str(tmp_path / "a.out"))

    def test_compressed_files_are_looked_into(self, tmp_path: Path) -> None:
        (tmp_path / "train.log.1.gz").write_bytes(gzip.compress(LOG))
        (tmp_path / "old.csv.gz").write_bytes(gzip.compress(TABLE))
        assert names(tmp_path / "train.log.1.gz") == ["train.log.1.gz"]
        (run,) = discover(str(tmp_path / "old.csv.gz"))
        assert run.files[0].purpose is Purpose.METRICS
        assert only(tmp_path) == {"log": ["train.log.1.gz"], "metrics": ["old.csv.gz"]}

    @pytest.mark.parametrize("name", ["pipe", "/dev/null"])
    def test_pipes_and_devices_are_refused(self, tmp_path: Path, name: str) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="standard input"):
            discover(str(tmp_path / name))


class TestOneRun:
    def test_lightning_version(self, tmp_path: Path) -> None:
        make(tmp_path, "metrics.csv", "hparams.yaml", "checkpoints/epoch=1-step=10.ckpt")
        assert only(tmp_path) == {
            "metrics": ["metrics.csv"],
            "config": ["hparams.yaml"],
            "checkpoint": ["checkpoints/epoch=1-step=10.ckpt"],
        }

    def test_hugging_face_keeps_the_newest_state_only(self, tmp_path: Path) -> None:
        make(
            tmp_path,
            "checkpoint-500/trainer_state.json",
            "checkpoint-1000/trainer_state.json",
            "checkpoint-1000/model.safetensors",
            "runs/Nov01_host/events.out.tfevents.1700000000.host.1.0",
            "runs/Nov02_host/events.out.tfevents.1700090000.host.2.0",
            "train.log",
            "config.json",
        )
        assert only(tmp_path) == {
            "log": ["train.log"],
            "metrics": [
                "checkpoint-1000/trainer_state.json",
                "runs/Nov01_host/events.out.tfevents.1700000000.host.1.0",
                "runs/Nov02_host/events.out.tfevents.1700090000.host.2.0",
            ],
            "config": ["config.json"],
            "checkpoint": ["checkpoint-500", "checkpoint-1000"],
        }

    def test_the_final_state_wins_if_it_went_further(self, tmp_path: Path) -> None:
        make(tmp_path, "trainer_state.json", "checkpoint-15/trainer_state.json")
        assert only(tmp_path)["metrics"] == ["trainer_state.json"]  # global_step 20
        make(tmp_path, "checkpoint-25/trainer_state.json")
        assert only(tmp_path)["metrics"] == ["checkpoint-25/trainer_state.json"]

    def test_ultralytics(self, tmp_path: Path) -> None:
        make(tmp_path, "results.csv", "args.yaml", "weights/best.pt", "weights/last.pt")
        (tmp_path / "labels.jpg").write_bytes(b"\xff\xd8")
        assert only(tmp_path) == {
            "metrics": ["results.csv"],
            "config": ["args.yaml"],
            "checkpoint": ["weights/best.pt", "weights/last.pt"],
        }

    def test_detectron2(self, tmp_path: Path) -> None:
        make(tmp_path, "metrics.json", "log.txt", "config.yaml", "model_0000999.pth")
        assert only(tmp_path) == {
            "log": ["log.txt"],
            "metrics": ["metrics.json"],
            "config": ["config.yaml"],
            "checkpoint": ["model_0000999.pth"],
        }

    def test_openmmlab_old_and_new(self, tmp_path: Path) -> None:
        old = make(tmp_path / "old", "20230101_101010.log", "20230101_101010.log.json", "cfg.py")
        make(old, "20230102_101010.log", "20230102_101010.log.json")
        assert only(old) == {
            "log": ["20230101_101010.log", "20230102_101010.log"],
            "metrics": ["20230101_101010.log.json", "20230102_101010.log.json"],
            "config": ["cfg.py"],
        }
        new = make(
            tmp_path / "new",
            "rtmpose.py",
            "epoch_1.pth",
            "20230101_101010/20230101_101010.log",
            "20230101_101010/vis_data/scalars.json",
            "20230101_101010/vis_data/20230101_101010.json",
            "20230105_101010/20230105_101010.log",
        )
        assert only(new) == {
            "log": [
                "20230101_101010/20230101_101010.log",
                "20230105_101010/20230105_101010.log",
            ],
            "metrics": ["20230101_101010/vis_data/scalars.json"],
            "config": ["rtmpose.py"],
            "checkpoint": ["epoch_1.pth"],
        }

    def test_wandb_run(self, tmp_path: Path) -> None:
        run = make(
            tmp_path / "offline-run-20240101_101010-abc",
            "run-abc.wandb",
            "files/output.log",
            "files/config.yaml",
            "files/requirements.txt",
            "files/wandb-metadata.json",
            "logs/debug.log",
            "logs/debug-internal.log",
        )
        assert only(run) == {
            "log": ["files/output.log"],
            "metrics": ["run-abc.wandb"],
            "config": ["files/config.yaml", "files/wandb-metadata.json"],
        }

    def test_mlflow_run(self, tmp_path: Path) -> None:
        run = make(
            tmp_path / "mlruns/0/ab12",
            "metrics/train loss",
            "metrics/val/acc",
            "params/lr",
            "tags/mlflow.runName",
            "meta.yaml",
            "artifacts/model/data/model.pth",
        )
        for metric in ("metrics/train loss", "metrics/val/acc"):
            (run / metric).write_bytes(METRIC)
        assert only(run) == {
            "metrics": ["meta.yaml", "metrics/train loss", "metrics/val/acc"],
            "checkpoint": ["artifacts/model/data/model.pth"],
        }
        assert names(tmp_path / "mlruns") == ["0/ab12"]
        assert only(run / "metrics") == {"metrics": ["train loss", "val/acc"]}

    @pytest.mark.parametrize(
        "files",
        [
            ["rank_0.log", "rank_1.log", "rank_10.log"],
            ["log_rank0.txt", "log_rank3.txt"],
            ["0/stdout.log", "0/stderr.log", "1/stdout.log", "1/stderr.log"],
            ["workerlog.0", "workerlog.1"],
            ["log.txt", "log.txt.rank1"],
            ["train.log", "train.log.1"],
            ["train.log", "eval.log", "console.out"],
            ["exp7.log", "exp7.csv"],
            ["train/events.out.tfevents.1.h.1.0", "validation/events.out.tfevents.2.h.1.1"],
            ["events.out.tfevents.1.h.7.0", "a_x/events.out.tfevents.2.h.7.1",
             "a_y/events.out.tfevents.2.h.7.2"],
            ["slurm-1.out", "slurm-2.out", "metrics.csv", "last.ckpt"],
            ["slurm-1.out", "lightning_logs/version_0/metrics.csv"],
            ["logs/train.log", "config.yaml"],
            ["train.log", "wandb/run-20240101_101010-abc/run-abc.wandb"],
        ],
        ids=lambda files: " ".join(files),
    )  # fmt: skip
    def test_files_that_belong_together(self, tmp_path: Path, files: list[str]) -> None:
        make(tmp_path, *files)
        (run,) = discover(str(tmp_path))
        assert run.name == tmp_path.name
        assert sorted(os.path.relpath(f.path, tmp_path) for f in run.files) == sorted(files)

    def test_torchrun_attempts(self, tmp_path: Path) -> None:
        make(tmp_path, "none_abc/attempt_0/0/stdout", "none_abc/attempt_0/1/stdout")
        assert names(tmp_path) == ["none_abc/attempt_0"]
        make(tmp_path, "none_abc/attempt_1/0/stdout", "none_abc/attempt_1/1/stdout")
        assert names(tmp_path) == ["none_abc"]

    def test_hydra_keeps_its_settings_in_a_hidden_folder(self, tmp_path: Path) -> None:
        make(tmp_path, "train.log", ".hydra/config.yaml", ".git/logs/head.log")
        assert only(tmp_path) == {"log": ["train.log"], "config": [".hydra/config.yaml"]}


class TestManyRuns:
    def test_lightning_logs_in_natural_order(self, tmp_path: Path) -> None:
        for number in (10, 9, 0):
            make(tmp_path, f"version_{number}/metrics.csv", f"version_{number}/hparams.yaml")
        assert names(tmp_path) == ["version_0", "version_9", "version_10"]
        assert shown(discover(str(tmp_path))[1], tmp_path)["config"] == ["version_9/hparams.yaml"]

    def test_wandb_folder_without_its_links(self, tmp_path: Path) -> None:
        make(
            tmp_path,
            "run-20240101_101010-a/run-a.wandb",
            "offline-run-20240102_101010-b/run-b.wandb",
        )
        (tmp_path / "latest-run").symlink_to(tmp_path / "run-20240101_101010-a")
        assert names(tmp_path) == ["offline-run-20240102_101010-b", "run-20240101_101010-a"]

    @pytest.mark.parametrize(
        ("files", "expected"),
        [
            (["slurm-9.out", "slurm-9.err", "slurm-10.out"], ["slurm-9", "slurm-10"]),
            (["a.log", "b.log", "c.log"], ["a", "b", "c"]),
            (["lr1.csv", "lr2.csv"], ["lr1", "lr2"]),
            (["run-a.wandb", "run-b.wandb"], ["run-a", "run-b"]),
            (["x/metrics.csv", "y/metrics.csv", "config.yaml"], ["x", "y"]),
            (["sweep/0/.hydra/config.yaml", "sweep/0/job.log", "sweep/1/job.log"],
             ["sweep/0", "sweep/1"]),
            (["runs/exp/results.csv", "runs/exp2/results.csv"], ["runs/exp", "runs/exp2"]),
            (["a/events.out.tfevents.1.h.1.0", "b/events.out.tfevents.2.h.2.0"], ["a", "b"]),
            (["nohup.out", "lightning_logs/version_0/metrics.csv",
              "lightning_logs/version_1/metrics.csv"],
             ["ROOT", "lightning_logs/version_0", "lightning_logs/version_1"]),
            (["m/0/a/metrics/loss", "m/0/a/params/lr", "m/0/b/metrics/loss", "m/0/b/params/lr"],
             ["m/0/a", "m/0/b"]),
        ],
        ids=lambda value: " ".join(value),
    )  # fmt: skip
    def test_runs_that_stand_alone(
        self, tmp_path: Path, files: list[str], expected: list[str]
    ) -> None:
        make(tmp_path, *files)
        found = names(tmp_path)
        assert sorted(found) == sorted(
            tmp_path.name if name == "ROOT" else name for name in expected
        )

    def test_many_job_outputs_beside_one_table_are_many_runs(self, tmp_path: Path) -> None:
        make(tmp_path, "metrics.csv", *(f"slurm-{i}.out" for i in range(20)))
        assert len(discover(str(tmp_path))) == 21


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
        assert names(root) == ["a", "linked"]

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


class TestGlobs:
    def test_matches_become_runs_and_pairs_one(self, tmp_path: Path) -> None:
        make(tmp_path, "slurm-9.out", "slurm-9.err", "slurm-10.out", "notes.md", ".slurm-1.out")
        assert names(f"{tmp_path}/slurm-*") == ["slurm-9.err", "slurm-10.out"]
        assert names(f"{tmp_path}/slurm-?.out") == ["slurm-9.out"]
        assert names(f"{tmp_path}/slurm-1[0-9].out") == ["slurm-10.out"]

    def test_folders_at_any_depth(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make(tmp_path, "a/metrics.csv", "b/c/metrics.csv", "b/c/train.log", "b/c/last.ckpt")
        assert len(discover(f"{tmp_path}/**/metrics.csv")) == 2
        monkeypatch.chdir(tmp_path)
        runs = discover("**/metrics.csv")
        assert [run.files[0].path for run in runs] == ["a/metrics.csv", "b/c/metrics.csv"]
        assert names("*") == ["a", "b/c"]
        assert names("b/c/*") == ["metrics.csv", "train.log"]
        assert names("**") == ["a", "b/c"]

    def test_a_name_with_brackets_may_be_just_a_name(self, tmp_path: Path) -> None:
        make(tmp_path, "run[1].log", "run1.log")
        assert names(tmp_path / "run[1].log") == ["run[1].log"]

    def test_no_match_is_an_input_error(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"nothing that .* matches is a training run"):
            discover(f"{tmp_path}/*.log")

    def test_circles_are_survived(self, tmp_path: Path) -> None:
        make(tmp_path, "a/train.log")
        (tmp_path / "a" / "again").symlink_to(tmp_path)
        assert names(f"{tmp_path}/**/*.log") == ["train.log"]


class TestMistakes:
    def test_a_missing_file_suggests_its_neighbours(self, tmp_path: Path) -> None:
        make(tmp_path, "slurm-48213.out", "Train.log")
        with pytest.raises(InputError) as caught:
            discover(str(tmp_path / "slurm-48231.out"))
        assert "slurm-48213.out" in caught.value.hint
        with pytest.raises(InputError, match=r"there is: Train\.log"):
            discover(str(tmp_path / "train.lgo"))

    def test_a_missing_folder_on_the_way_is_named(self, tmp_path: Path) -> None:
        make(tmp_path, "experiments/train.log")
        with pytest.raises(InputError, match=f"in {tmp_path} there is: experiments"):
            discover(str(tmp_path / "experiment" / "train.log"))

    def test_nothing_like_it(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"nothing in .* has a name like that"):
            discover(str(tmp_path / "zzz"))

    def test_a_folder_without_logs(self, tmp_path: Path) -> None:
        make(tmp_path, "model.pt", "config.json")
        with pytest.raises(InputError, match="holds no training logs or metrics"):
            discover(str(tmp_path))

    @pytest.mark.parametrize("what", ["", "  ", "a\0b"])
    def test_no_name(self, what: str) -> None:
        with pytest.raises(InputError):
            discover(what)

    def test_a_file_taken_for_a_folder(self, tmp_path: Path) -> None:
        make(tmp_path, "train.log")
        with pytest.raises(InputError, match="cannot be used: Not a directory"):
            discover(str(tmp_path / "train.log" / "x"))

    def test_a_name_too_long(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be used"):
            discover(str(tmp_path / ("x" * 5000)))


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
