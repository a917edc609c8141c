"""Jobs of a real Slurm in a real terminal: seen, opened, watched, and waited for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import require_programs
from tests.runs.schedulers.real_slurm import RealSlurm, real_slurm
from tests.tui.app_scene import forget_hints
from tests.tui.tmux import PROGRAM, TmuxSession
from tests.waiting import wait_until

__all__ = ["real_slurm"]
TRAINING = (
    "for i in $(seq 1 4000); do "
    'echo "step $i/4000 loss $(awk "BEGIN{print 0.5 + 3 * exp(-$i / 80)}")"; sleep 0.2; done'
)
FAILING = (
    "for i in 1 2 3 4 5 6; do echo step $i/100 loss 0.9$i; done; "
    "echo 'RuntimeError: CUDA error: device-side assert triggered' >&2; exit 3"
)


@pytest.fixture
def slurm(real_slurm: RealSlurm) -> Iterator[RealSlurm]:
    require_programs("tmux")
    forget_hints()
    yield real_slurm
    real_slurm.call("scancel", "--me")


def wait_for_reason(slurm: RealSlurm, job_id: str, reason: str) -> None:
    """Wait until Slurm has thought about a job: it tells nobody."""
    words = ("squeue", "--noheader", "-o", "%r", f"--jobs={job_id}")
    wait_until(lambda: slurm.call(*words).strip() == reason, f"it never waited for {reason}", 0.2)


def wait_for_step(session: TmuxSession, step: int) -> None:
    """Wait for this step of the training or a later one: lines leave the screen again."""
    pattern = r"step (\d+)/4000 loss"
    wait_until(lambda: int(session.wait_match(pattern)[1]) >= step, f"step {step} never came")


def line_of(screen: str, job_id: str) -> str:
    return next(line for line in screen.splitlines() if f" {job_id} " in line)


def test_jobs_are_seen_opened_watched_and_waited_for(slurm: RealSlurm, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    trains = slurm.submit(TRAINING, "--job-name=resnet", "--time=240", f"--chdir={jobs}")
    fails = slurm.submit(FAILING, "--job-name=gpt", f"--chdir={jobs}")
    slurm.wait_for(trains, "RUNNING")
    slurm.wait_for(fails, "FAILED")
    waits = slurm.submit(TRAINING, "--job-name=vit", "--exclusive", f"--chdir={jobs}")
    wait_for_reason(slurm, waits, "Resources")
    empty = tmp_path / "empty"
    empty.mkdir()
    command = f"sh -c {shlex.quote(f'cd {empty} && exec {PROGRAM}')}"
    environment = {"SLURM_CONF": str(slurm.configuration)}
    with TmuxSession(tmp_path, command=command, environment=environment) as session:
        session.wait_for("your jobs, asked", f"{trains} resnet", f"{fails} gpt", f"{waits} vit")
        screen = session.wait_for("▶ running", "◌ pending", "✖ failed", "an assertion fai")
        assert "/4:00h" in line_of(screen, trains)
        assert "it is next" in line_of(screen, waits)
        assert all(len(line) <= 80 for line in screen.splitlines())

        session.write(trains)
        session.wait_for(f"filter {trains}")
        session.press("Enter")
        session.wait_for(f"{trains} resnet", "1/3", "RUNNING ", "✔ healthy")
        session.wait_match(r"3:5\d left")
        written = len((jobs / f"slurm-{trains}.out").read_text().splitlines())
        wait_for_step(session, written + 5)

        session.press("]")
        screen = session.wait_for(f"waiting for job {waits}: pending (Resources)", "◌ pending")
        assert "2/3" in screen
        session.wait_for(f"waiting for slurm-{waits}.out")
        slurm.call("scancel", trains)
        session.wait_for("▶ running", "begun since")
        wait_for_step(session, 3)
        session.press("q")
        assert session.wait_end() == 0


def test_a_job_that_waits_is_opened_by_its_number(slurm: RealSlurm, tmp_path: Path) -> None:
    waits = slurm.submit(TRAINING, "--job-name=vit", "--hold", f"--chdir={tmp_path}")
    environment = {"SLURM_CONF": str(slurm.configuration)}
    with TmuxSession(tmp_path, f"job:{waits}", environment=environment) as session:
        session.wait_for(f"{waits} vit", f"waiting for job {waits}: held (JobHeldUser)")
        slurm.call("scontrol", "release", waits)
        session.wait_for("▶ running")
        wait_for_step(session, 3)
        session.press("q")
        assert session.wait_end() == 0
