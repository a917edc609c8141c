"""A log and its run folder find each other, and nothing that belongs to another run is taken."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.discovery import Purpose, discover
from mltd.runs.discovery.named_folders import saved_paths
from mltd.runs.errors import InputError
from mltd.runs.schedulers.job import Job

STEPS = "".join(f"step {n} loss {2 - n / 50}\n" for n in range(1, 30))
AGO = 3600.0


def write(path: Path, text: str = STEPS, ago: float = AGO) -> Path:
    """A file that was last written so many seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - ago,) * 2)
    return path


def run_folder(project: Path, name: str, **settings: object) -> Path:
    """A folder as pipelines leave it: settings, and the best weights."""
    folder = project / "experimentruns" / "can" / name
    write(folder / "config.json", json.dumps({"lr": 0.1, **settings}), AGO + 1000)
    write(folder / "best_model.pt", "weights", AGO + 10)
    return folder


def job_output(project: Path, job: int, name: str, *lines: str, ago: float = AGO) -> Path:
    """`slurm_logs/<jobid>-<name>.out` with its `.err`."""
    write(project / "slurm_logs" / f"{job}-{name}.err", "", ago)
    text = "".join(f"{line}\n" for line in lines) + STEPS
    return write(project / "slurm_logs" / f"{job}-{name}.out", text, ago)


def relative(what: Path, project: Path) -> dict[str, list[str]]:
    (run,) = discover(str(what))
    found: dict[str, list[str]] = {}
    for file in run.files:
        found.setdefault(str(file.purpose), []).append(os.path.relpath(file.path, project))
    return found


WHOLE = {
    "log": ["slurm_logs/48213-vgae.err", "slurm_logs/48213-vgae.out"],
    "config": ["experimentruns/can/vgae/config.json"],
    "checkpoint": ["experimentruns/can/vgae/best_model.pt"],
}


@pytest.mark.parametrize(
    "line",
    [
        "Run directory: experimentruns/can/vgae",
        "Saved best model to experimentruns/can/vgae/best_model.pt (val loss from 0.5 to 0.4)",
        "{'dataset': 'can', 'data_dir': 'data/can', 'output_dir': 'experimentruns/can/vgae'}",
        "saving checkpoints in {project}/experimentruns/can/vgae/checkpoints/",
    ],
)
def test_a_job_s_output_brings_the_folder_that_it_says_it_saves_to(
    tmp_path: Path, line: str
) -> None:
    run_folder(tmp_path, "vgae")
    run_folder(tmp_path, "gat")
    log = job_output(tmp_path, 48213, "vgae", line.replace("{project}", str(tmp_path)))
    assert relative(log, tmp_path) == WHOLE


def test_a_run_folder_brings_the_output_of_its_job(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae")
    job_output(tmp_path, 48213, "vgae", "Run directory: experimentruns/can/vgae")
    job_output(tmp_path, 48214, "gat", "Run directory: experimentruns/can/gat")
    assert relative(folder, tmp_path) == WHOLE
    (run,) = discover(str(folder))
    assert run.name == "vgae"
    assert run.root == str(folder)


def test_the_only_job_of_that_name_is_the_folder_s(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae")
    log = job_output(tmp_path, 48213, "vgae")
    assert relative(log, tmp_path) == WHOLE
    assert relative(folder, tmp_path) == WHOLE


def test_of_two_jobs_with_one_name_none_is_taken(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae")
    log = job_output(tmp_path, 48213, "vgae")
    job_output(tmp_path, 48299, "vgae")
    assert relative(log, tmp_path) == {"log": WHOLE["log"]}
    with pytest.raises(InputError, match="holds no training logs"):
        discover(str(folder))


def test_a_job_s_number_in_the_settings_tells_which_it_was(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae", slurm_job_id=48299)
    job_output(tmp_path, 48213, "vgae")
    job_output(tmp_path, 48299, "vgae")
    assert relative(folder, tmp_path)["log"] == [
        "slurm_logs/48299-vgae.err",
        "slurm_logs/48299-vgae.out",
    ]


def test_lightning_s_version_bears_the_number_of_the_job(tmp_path: Path) -> None:
    for job in (48213, 48214):
        write(tmp_path / f"lightning_logs/version_{job}/hparams.yaml", "lr: 0.1\n", AGO + 500)
        write(tmp_path / f"lightning_logs/version_{job}/metrics.csv", "step,loss\n1,2\n2,1\n")
        write(tmp_path / f"slurm-{job}.out")
    found = relative(tmp_path / "slurm-48214.out", tmp_path)
    assert found["config"] == ["lightning_logs/version_48214/hparams.yaml"]
    runs = discover(str(tmp_path))
    assert [run.name for run in runs] == [f"lightning_logs/version_{job}" for job in (48213, 48214)]
    assert [len(run.paths(Purpose.LOG)) for run in runs] == [1, 1]


@pytest.mark.parametrize(
    "lines",
    [
        ["Loading pretrained weights from experimentruns/can/teacher/best_model.pt"],
        ["'teacher_path': 'experimentruns/can/teacher'"],
        ["Saving to experimentruns/can/teacher", "Saving to experimentruns/can/other"],
        [
            "Saving to experimentruns/can/teacher/best_model.pt",
            "Saving to experimentruns/can/other/best_model.pt",
        ],
        ["Saving to experimentruns/can/gone/best_model.pt"],
        ["Saving to ."],
    ],
    ids=lambda lines: lines[-1],
)
def test_a_folder_that_is_read_or_is_one_of_several_is_not_taken(
    tmp_path: Path, lines: list[str]
) -> None:
    run_folder(tmp_path, "teacher")
    run_folder(tmp_path, "other")
    write(tmp_path / "config.json", "{}")
    log = job_output(tmp_path, 48213, "student", *lines)
    assert relative(log, tmp_path) == {
        "log": ["slurm_logs/48213-student.err", "slurm_logs/48213-student.out"]
    }


def test_settings_that_a_later_run_wrote_are_not_the_log_s(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae")
    log = job_output(tmp_path, 48213, "vgae", "Run directory: experimentruns/can/vgae")
    write(folder / "config.json", "{}", ago=10)
    assert relative(log, tmp_path) == {"log": WHOLE["log"]}


def test_a_log_with_settings_beside_it_needs_no_others(tmp_path: Path) -> None:
    run_folder(tmp_path, "vgae")
    write(tmp_path / "own" / "config.json", "{}")
    log = write(tmp_path / "own" / "train.log", "Saving to ../experimentruns/can/vgae\n" + STEPS)
    assert relative(log, tmp_path)["config"] == ["own/config.json"]


def test_a_project_shows_each_run_once(tmp_path: Path) -> None:
    for job, name in ((48213, "vgae"), (48214, "gat")):
        folder = run_folder(tmp_path, name)
        write(folder / "metrics.csv", "step,loss\n1,2\n2,1\n")
        job_output(tmp_path, job, name, f"Run directory: experimentruns/can/{name}")
    runs = discover(str(tmp_path))
    assert [run.name for run in runs] == ["experimentruns/can/gat", "experimentruns/can/vgae"]
    assert [len(run.paths(Purpose.LOG)) for run in runs] == [2, 2]


def test_jobs_that_trained_into_one_folder_are_restarts_of_one_run(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae")
    write(folder / "metrics.csv", "step,loss\n1,2\n2,1\n")
    for job in (48213, 48214):
        job_output(tmp_path, job, "vgae", "Run directory: experimentruns/can/vgae")
    (run,) = discover(str(tmp_path))
    assert len(run.paths(Purpose.LOG)) == 4


def test_the_folder_is_found_from_where_the_job_works(tmp_path: Path) -> None:
    from mltd.runs.discovery.neighbours import adopt
    from mltd.runs.discovery.run_files import RunFile, RunFiles

    run_folder(tmp_path / "work", "vgae")
    log = write(tmp_path / "elsewhere" / "48213.out", "Saving to experimentruns/can/vgae\n" + STEPS)
    run = RunFiles("48213", str(log.parent), [RunFile(str(log), Purpose.LOG)])
    adopt(run)
    assert not run.paths(Purpose.CONFIG)
    run.job = Job(id="48213", work_dir=str(tmp_path / "work"))
    adopt(run)
    assert run.paths(Purpose.CONFIG)


def test_looking_around_costs_a_bounded_number_of_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"Saving to runs/{n}/best.pt" for n in range(5000)]
    log = job_output(tmp_path, 48213, "vgae", *lines)
    looks: list[str] = []
    real = os.path.isdir

    def look(path: str) -> bool:
        looks.append(path)
        return real(path)

    monkeypatch.setattr(os.path, "isdir", look)
    discover(str(log))
    assert len(looks) < 200


@given(st.text(max_size=400))
def test_any_text_can_be_searched_for_paths(text: str) -> None:
    for path in saved_paths(f"saving to {text}\n{text}"):
        assert "/" in path


def test_unreadable_outputs_and_folders_are_passed_over(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "vgae")
    (tmp_path / "slurm_logs" / "48213-vgae.out").mkdir(parents=True)
    (folder / "config.json").write_bytes(b"\xff\xfe\0")
    with pytest.raises(InputError, match="holds no training logs"):
        discover(str(folder))
