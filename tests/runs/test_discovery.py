"""Directories: what belongs to one run, and what are many runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.runs.discovery import discover
from tests.runs.formats.samples import METRIC
from tests.runs.formats.trees import make, names, only, shown


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

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("mpt-tiny.yaml", "max_duration: 400ba\noptimizer:\n  lr: 1.0e-3\n"),
            ("axolotl.yml", "base_model: tiny\nnum_epochs: 3\nlearning_rate: 0.003\n"),
            ("config.py", "batch_size = 16\nlearning_rate = 0.6\n"),
        ],
    )
    def test_the_only_settings_beside_a_log(self, tmp_path: Path, name: str, content: str) -> None:
        make(tmp_path, "train.log")
        (tmp_path / name).write_text(content)
        assert only(tmp_path) == {"log": ["train.log"], "config": [name]}

    @pytest.mark.parametrize(
        ("names", "content"),
        [
            (["a.yaml", "b.yaml"], "lr: 0.1\nepochs: 3\n"),
            (["classes.yaml"], "names: [cat, dog]\nlr: 3\n"),
            (["environment.yml"], "lr: 0.1\nepochs: 3\n"),
        ],
    )
    def test_what_else_lies_beside_a_log(
        self, tmp_path: Path, names: list[str], content: str
    ) -> None:
        make(tmp_path, "train.log")
        for name in names:
            (tmp_path / name).write_text(content)
        assert only(tmp_path) == {"log": ["train.log"]}

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
