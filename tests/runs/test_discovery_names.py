"""What a user names: one file, a glob, a mistake."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from mltd.runs.discovery import Purpose, discover
from mltd.runs.errors import InputError
from tests.runs.formats.samples import EVENTS, TABLE
from tests.runs.formats.trees import LOG, make, names, only, shown


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


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("train_loop.INFO", "I0502 14:02:21.62 1402 loop.py:18] [{n}] loss=0.{n}5, lr=0.001\n"),
        ("results.md", "| {n} | 1.{n}855 | 0.64{n} |\n"),
        ("run7", "epoch {n} train loss 0.{n}5\n"),
        ("progress.txt", "| {n} | 4.{n}69 | 0.00{n} |\n"),
        ("vae.yml", "- step: {n}0\n  loss: 1.{n}\n  kl: 0.{n}\n"),
        ("history.yaml", "---\nepoch: {n}\nval_loss: 1.{n}\n"),
    ],
)
def test_a_log_of_an_unusual_name_alone_in_a_folder_is_found(
    tmp_path: Path, name: str, lines: str
) -> None:
    head = "| epoch | loss | acc |\n|---|---|---|\n" if "|" in lines else ""
    (tmp_path / name).write_text(head + "".join(lines.format(n=n) for n in range(1, 8)))
    (tmp_path / "README.md").write_text("| epoch | loss |\n|---|---|\n| 1 | 2.5 |\n" * 3)
    (run,) = discover(str(tmp_path))
    assert [os.path.basename(file.path) for file in run.files] == [name]


def test_texts_beside_a_log_are_not_searched_for_trainings(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("step 1 loss 0.5\nstep 2 loss 0.4\n")
    (tmp_path / "results.md").write_text("| epoch | loss |\n|---|---|\n| 1 | 2.5 |\n| 2 | 2.4 |\n")
    (run,) = discover(str(tmp_path))
    assert [os.path.basename(file.path) for file in run.files] == ["train.log"]


def test_a_folder_without_any_training_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("buy 3 apples\n" * 20)
    (tmp_path / "train.py").write_text("print('epoch 1 loss 0.5')\n" * 9)
    groups = "".join(f"- name: part{n}\n  lr: 0.{n}\n  epochs: {n}0\n" for n in range(1, 9))
    (tmp_path / "sweep.yaml").write_text(f"groups:\n{groups}")
    with pytest.raises(InputError, match="holds no training logs"):
        discover(str(tmp_path))


def test_columns_below_a_commented_header_are_a_log(tmp_path: Path) -> None:
    rows = b"# step  train_loss  val_loss\n 0  2.5  2.6\n10  2.4  2.5\n"
    (tmp_path / "loss.txt").write_bytes(rows)
    assert only(tmp_path) == {"log": ["loss.txt"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.jsonl", '{"step": "1/4", "loss": "2.5"}\n{"step": "2/4", "loss": "2.4"}\n'),
        ("m.jsonl", '{"payload": {"step": 1, "metrics": {"loss": 2.5}}}\n' * 2),
        ("log.csv", "Epoche;Trainingsverlust;Validierungsverlust\n1;2,5;2,6\n2;2,4;2,5\n"),
    ],
)
def test_metrics_by_hand_are_metrics(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert only(tmp_path) == {"metrics": [name]}
