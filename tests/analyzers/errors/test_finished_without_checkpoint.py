"""A run that says it finished has left the checkpoint that it promised."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.runs.schedulers.job import Job, JobState

STEPS = "".join(f"step {n} | loss {3 / (1 + n / 9):.4f} | lr 1e-4\n" for n in range(1, 40))


def run_folder(
    folder: Path,
    *lines: str,
    config: dict[str, object] | None = None,
    files: tuple[str, ...] = (),
    ago: float = 3600.0,
) -> Path:
    """A run that went well and then said this."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "train.log"
    log.write_text(STEPS + "".join(f"{line}\n" for line in lines))
    (folder / "config.json").write_text(json.dumps({"lr": 1e-4, "seed": 1, **(config or {})}))
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("weights")
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - ago,) * 2)
    return log


def told(path: Path, job: Job | None = None) -> Diagnosis:
    (files,) = discover(str(path))
    files.job = job
    said = diagnose(load(files).run)
    assert said.problems == ()
    return said


def found(path: Path, job: Job | None = None) -> list[Finding]:
    return [one for one in told(path, job).findings if one.id == "checkpoint_missing"]


def test_what_the_log_saved_last_is_not_there(tmp_path: Path) -> None:
    log = run_folder(
        tmp_path / "run",
        "Saving best model to best_model.pt",
        "Training completed",
        files=("last.pt",),
    )
    for opened in (log, log.parent):
        (finding,) = found(opened)
        assert finding.title == (
            "the run says it finished, but the checkpoint that it saved is not there: "
            f"{tmp_path}/run/best_model.pt"
        )
        assert finding.severity is Severity.WARNING
        assert [(e.kind.value, e.ref, e.quote) for e in finding.evidence] == [
            ("checkpoint", f"{tmp_path}/run/best_model.pt", "not there"),
            ("log", "train.log:40", "Saving best model to best_model.pt"),
            ("log", "train.log:41", "Training completed"),
        ]
    (log.parent / "best_model.pt").write_text("weights")
    assert found(log) == []


def test_the_first_fix_says_where_to_look(tmp_path: Path) -> None:
    log = run_folder(
        tmp_path / "a run", "Saving model to best.pt", "Training completed", files=("last.pt",)
    )
    (best, *_) = told(log).root_causes
    assert best.id == "bad_path"
    assert best.issue == "best.pt was saved elsewhere, was not saved, or was removed"
    assert best.fixes[0].example.startswith(
        f"find '{tmp_path}/a run'/.. -maxdepth 4 -name 'best.pt"
    )
    assert len(best.fixes) >= 2


def test_a_checkpoint_of_no_bytes_points_to_a_full_disk(tmp_path: Path) -> None:
    log = run_folder(tmp_path / "run", "Saving model to best.pt", "Training completed")
    (log.parent / "best.pt").touch()
    (finding,) = found(log)
    assert "is empty" in finding.title
    assert "disk_quota" in {cause.id for cause in told(log).root_causes}


def test_settings_that_name_it_count_a_little_less(tmp_path: Path) -> None:
    log = run_folder(
        tmp_path / "run",
        "Training completed",
        config={"train": {"save_path": "best_model.pt"}},
        files=("last.pt",),
    )
    (finding,) = found(log)
    assert "that config:train.save_path names is not there" in finding.title
    assert finding.confidence <= 0.85


@pytest.mark.parametrize(
    "config",
    [
        {"pretrained": {"save_path": "best_model.pt"}},
        {"checkpoint_path": "start.pt"},
        {"checkpoint_path": "best.pt", "resume": True},
        {"save_path": None},
        {"save_path": "best_{epoch}.pt"},
        {"save_path": "/other/cluster/best.pt"},
        {"save_path": "s3://bucket/best.pt"},
        {"model_path": "bert-base-uncased"},
        {"save_path": "results"},
    ],
    ids=json.dumps,
)
def test_settings_that_mean_something_else_do_not(
    tmp_path: Path, config: dict[str, object]
) -> None:
    log = run_folder(tmp_path / "run", "Training completed", config=config, files=("last.pt",))
    assert found(log) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["Saving model to /scratch/other/run7/best.pt"],
        ["Saving model to /tmp/job.48213/best.pt"],
        ["Saving model to $TMPDIR/best.pt"],
        ["Saving model to C:\\runs\\best.pt"],
        ["Saving checkpoint at 10 epochs"],
        ["Saving model checkpoint to out/checkpoint-500"],
        ["Checkpoints will be saved to best.pt"],
        ["Loading best model from best.pt"],
    ],
    ids=lambda lines: lines[0],
)
def test_what_cannot_be_seen_from_here_is_not_missing(tmp_path: Path, lines: list[str]) -> None:
    log = run_folder(tmp_path / "run", *lines, "Training completed", files=("last.pt",))
    assert found(log) == []


def test_checkpoints_that_were_rotated_away_are_not_missing(tmp_path: Path) -> None:
    lines = [f"Saving model to epoch_{n}.pt\nepoch {n} is over\n\n" for n in range(1, 9)]
    log = run_folder(tmp_path / "run", *lines, "Training completed", files=("epoch_8.pt",))
    assert found(log) == []
    (log.parent / "epoch_8.pt").rename(log.parent / "epoch_7.pt")
    (finding,) = found(log)
    assert "epoch_8.pt" in finding.title


def test_names_that_were_counted_together_are_not_known(tmp_path: Path) -> None:
    lines = [f"Saving model to epoch_{n}.pt" for n in range(1, 9)]
    log = run_folder(tmp_path / "run", *lines, "Training completed", files=("epoch_8.pt",))
    assert found(log) == []


def test_the_best_one_must_stay(tmp_path: Path) -> None:
    lines = ["Saving best model to best_3.pt", "x", "Saving model to last.pt", "Training completed"]
    log = run_folder(tmp_path / "run", *lines, files=("last.pt",))
    (finding,) = found(log)
    assert "best_3.pt" in finding.title


def test_a_log_that_was_copied_alone_is_not_judged(tmp_path: Path) -> None:
    log = run_folder(tmp_path / "run", "Saving model to best.pt", "Training completed")
    (log.parent / "config.json").unlink()
    assert found(log) == []


def test_a_copy_without_weights_is_information_at_most(tmp_path: Path) -> None:
    log = run_folder(
        tmp_path / "exp" / "run", "Saving model to exp/run/best.pt", "Training completed"
    )
    (finding,) = found(log)
    assert finding.severity is Severity.INFO
    assert finding.title.endswith("(unless weights were left out of this copy)")


@pytest.mark.parametrize("lines", [[], ["KeyError: 'a'"]], ids=["no word", "failed"])
def test_only_a_run_that_says_so_has_finished(tmp_path: Path, lines: list[str]) -> None:
    log = run_folder(tmp_path / "run", "Saving model to best.pt", *lines, files=("last.pt",))
    assert found(log) == []


def test_the_job_s_word_counts_as_well(tmp_path: Path) -> None:
    log = run_folder(tmp_path / "run", "Saving model to best.pt", "Training completed")
    job = Job(id="7", work_dir=str(tmp_path / "run"), state=JobState.COMPLETED)
    (finding,) = found(log, job)
    assert finding.severity is Severity.WARNING


def test_a_run_that_ended_a_moment_ago_may_still_write(tmp_path: Path) -> None:
    lines = ("Saving model to best.pt", "Training completed")
    assert found(run_folder(tmp_path / "a", *lines, files=("last.pt",), ago=2.0)) == []
    assert len(found(run_folder(tmp_path / "b", *lines, files=("last.pt",), ago=60.0))) == 1


def test_a_folder_that_the_settings_name_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "best.pt").write_text("weights")
    log = run_folder(
        tmp_path / "run",
        "Saving model to best.pt",
        "Training completed",
        config={"output_dir": str(tmp_path / "store")},
        files=("last.pt",),
    )
    assert found(log) == []


def test_a_run_whose_neighbours_all_left_one(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        run_folder(tmp_path / name, "Training completed", files=("best_model.pt",))
    log = run_folder(tmp_path / "d", "Training completed")
    (finding,) = found(log)
    assert finding.title == (
        "the run says it finished, but has no best_model.pt, which 3 of 3 neighbouring runs have"
    )
    assert finding.confidence <= 0.70
    assert found(tmp_path / "a") == []
    (tmp_path / "d" / "model.pt").write_text("weights")
    assert found(tmp_path / "d") == []


def test_an_evaluation_beside_trainings_needs_none(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run_folder(tmp_path / name, "Training completed", files=("best_model.pt",))
    log = run_folder(tmp_path / "evaluation", "Evaluation finished")
    log.write_text("evaluating 100 batches\ntest accuracy: 0.9\nTraining completed\n")
    os.utime(log, (time.time() - 900,) * 2)
    assert found(log) == []
