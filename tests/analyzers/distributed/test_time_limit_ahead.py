"""A job that runs, and the limit that it will run into at its present pace."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis, Finding, Severity
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import Diagnosis, Diagnostician
from mltd.analyzers.distributed.course import JOB, SEEN, STAMPS, course
from mltd.analyzers.distributed.time_limit_ahead import TimeLimitAhead
from mltd.runs.harvest import Column, ColumnKey, Harvest
from mltd.runs.ingest import FileFeed, read_stream
from mltd.runs.run import Run, SourceFile
from mltd.runs.schedulers.job import Job, JobState
from tests.analyzers.distributed.told import finding

HOUR = 3600.0
NOW = 1_750_000_000.0
Seconds = Callable[[int], float]


def stamped(first: int, last: int, total: int, seconds: Seconds, name: str = "step") -> list[str]:
    """Lines of a log that is written until NOW."""
    spent = [seconds(step) for step in range(first, last + 1)]
    moments = NOW - sum(spent) + np.cumsum(spent)
    return [
        time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
        + f" {name} {step}/{total} loss {3 / (1 + step / 9):.4f}"
        for step, moment in zip(range(first, last + 1), moments, strict=True)
    ]


def running(left: float, gone: float = HOUR, **more: Any) -> Job:
    known: dict[str, Any] = {"nodes": "gpu03", "asked": NOW, "start": NOW - gone, **more}
    return Job(
        id="48213",
        state=JobState.RUNNING,
        time_limit=gone + left,
        limit_at=NOW + left,
        elapsed=gone,
        **known,
    )


def read(folder: Path, lines: list[str], job: Job, config: dict[str, object] | None = None) -> Run:
    path = folder / "slurm-48213.out"
    path.write_text("\n".join(lines) + "\n")
    os.utime(path, (NOW, NOW))
    run = Run("48213")
    run.job = job
    run.add_config(config or {})
    read_stream(run, str(path), iter([path.read_bytes()]))
    return run


def judge(run: Run) -> Diagnosis:
    told = Diagnostician(run).diagnose(NOW + 5)
    assert told.problems == ()
    return told


def ahead(run: Run) -> Finding | None:
    found = [one for one in judge(run).findings if one.id == "time_limit_ahead"]
    return found[0] if found else None


def steady(step: int) -> float:
    return 10.0


def test_the_limit_is_foreseen_with_step_moment_and_loss(tmp_path: Path) -> None:
    lines = stamped(1, 360, 1000, steady)
    lines[99] += "\nSaved checkpoint to out/ckpt-100.pt"
    lines[199] += "\nSaved checkpoint to out/ckpt-200.pt"
    lines[299] += "\nSaved checkpoint to out/ckpt-300.pt"
    told = judge(read(tmp_path, lines, running(HOUR)))
    found = finding(told, "time_limit_ahead")
    assert (found.severity, found.basis) == (Severity.WARNING, Basis.RESEARCH)
    assert "640 steps are left and need 1.78 h, but the time limit is in 1 h" in found.title
    assert "job 48213 will be stopped near step 720 of 1000" in found.title
    assert "saves every 100 steps (16.7 min), last 10 min ago" in found.title
    assert "about 20 steps will be lost" in found.title
    assert time.strftime("%H:%M", time.localtime(NOW + HOUR)) in found.title
    assert [shown.ref for shown in found.evidence] == [
        "loss@360", "job:48213", "slurm-48213.out:303",
    ]  # fmt: skip
    assert "10 s a step (by time stamps" in found.evidence[0].quote
    (best, *_) = told.root_causes
    assert (best.id, best.basis) == ("time_limit", Basis.RESEARCH)
    assert "46.7 min too short" in best.issue
    changes = [fix.change for fix in best.fixes]
    assert "ask the cluster's operators for a longer limit of job 48213" in changes[0]
    assert "operators only" in best.fixes[0].example
    assert any("--signal=B:USR1@300" in fix.if_it_fails for fix in best.fixes)
    assert any("resume from the checkpoint of step 300" in change for change in changes)


def test_without_checkpoints_all_may_be_lost(tmp_path: Path) -> None:
    found = ahead(read(tmp_path, stamped(1, 360, 1000, steady), running(HOUR)))
    assert found is not None
    assert found.title.endswith("no checkpoint was reported, so all of it may be lost")


@pytest.mark.parametrize(
    ("last", "total", "left"),
    [
        (360, 1000, 2 * HOUR),  # enough
        (360, 700, 0.94 * HOUR),  # within what the pace may vary
        (9, 1000, 60.0),  # the first percent
        (360, 360, 60.0),  # through
        (360, 1000, -60.0),  # past the limit, and still there: it was raised meanwhile
    ],
)
def test_what_is_enough_or_not_known_is_no_finding(
    tmp_path: Path, last: int, total: int, left: float
) -> None:
    assert ahead(read(tmp_path, stamped(1, last, total, steady), running(left))) is None


@pytest.mark.parametrize("state", [s for s in JobState if s is not JobState.RUNNING])
def test_only_a_running_job_has_a_limit_ahead(tmp_path: Path, state: JobState) -> None:
    job = Job(id="1", state=state, start=NOW - HOUR, limit_at=NOW + 60, time_limit=HOUR + 60)
    found = ahead(read(tmp_path, stamped(1, 360, 1000, steady), job))
    assert found is None or job.is_running


def test_a_job_without_a_limit_has_none_ahead(tmp_path: Path) -> None:
    job = Job(id="1", state=JobState.RUNNING, start=NOW - HOUR, time_limit=float("inf"), asked=NOW)
    assert ahead(read(tmp_path, stamped(1, 360, 1000, steady), job)) is None


def test_a_silent_log_is_a_stall_and_no_forecast(tmp_path: Path) -> None:
    job = running(HOUR, asked=NOW + 2 * HOUR)
    run = read(tmp_path, stamped(1, 360, 1000, steady), job)
    told = Diagnostician(run).diagnose(NOW + 2 * HOUR)
    assert "time_limit_ahead" not in [one.id for one in told.findings]
    found = finding(told, "stall")
    assert found.severity is Severity.CRITICAL
    assert "though job 48213 still runs on gpu03" in found.title
    assert "job:48213" in [shown.ref for shown in found.evidence]


def with_evaluations(step: int) -> float:
    return 310.0 if step % 20 == 0 else 10.0


def test_pauses_for_evaluations_count(tmp_path: Path) -> None:
    """64 steps of 10 s would do; with two evaluations of 5 min more they do not."""
    lines = stamped(1, 240, 320, with_evaluations)
    assert ahead(read(tmp_path, lines, running(1000.0))) is not None
    plain = stamped(1, 240, 320, steady)
    assert ahead(read(tmp_path, plain, running(1000.0))) is None


def test_a_single_pause_is_not_expected_again(tmp_path: Path) -> None:
    lines = stamped(1, 240, 320, lambda step: 3000.0 if step == 200 else 10.0)
    assert ahead(read(tmp_path, lines, running(1000.0))) is None


def test_a_pace_that_jumps_about_tells_nothing(tmp_path: Path) -> None:
    def wild(step: int) -> float:
        return 40.0 if step // 16 % 2 else 4.0

    lines = stamped(1, 256, 400, wild)
    assert ahead(read(tmp_path, lines, running(1800.0))) is None
    certain = ahead(read(tmp_path, lines, running(300.0)))
    assert certain is not None  # not even its fastest stretches would do


def test_a_steady_pace_is_surer_than_a_loose_one(tmp_path: Path) -> None:
    def loose(step: int) -> float:
        return 16.0 if step // 30 % 2 else 4.0

    steadily = ahead(read(tmp_path, stamped(1, 360, 1000, steady), running(HOUR)))
    loosely = ahead(read(tmp_path, stamped(1, 360, 1000, loose), running(HOUR)))
    assert steadily is not None
    assert loosely is None or loosely.confidence < steadily.confidence


def test_slow_first_steps_are_not_the_pace(tmp_path: Path) -> None:
    lines = stamped(1, 100, 200, lambda step: 300.0 if step <= 8 else 10.0)
    assert ahead(read(tmp_path, lines, running(1500.0))) is None


def test_a_resumed_run_is_judged_by_its_newest_attempt(tmp_path: Path) -> None:
    earlier = stamped(1, 500, 1000, lambda step: 100.0)
    run = read(tmp_path, earlier + stamped(400, 700, 1000, steady), running(2 * HOUR))
    way = course(RunView(run))
    assert way is not None
    assert (way.first, way.last, way.rest) == (400, 700, 300)
    assert way.seconds == pytest.approx(10.0, rel=0.05)
    assert ahead(run) is None


def test_epochs_are_counted_where_steps_have_no_end(tmp_path: Path) -> None:
    lines = [
        line.replace("/", ": ", 1).replace("epoch", "Epoch")
        for line in stamped(1, 6, 20, lambda epoch: 600.0, "epoch")
    ]
    run = read(tmp_path, lines, running(HOUR), {"epochs": 20})
    found = ahead(run)
    assert found is not None
    assert "14 epochs are left and need 2.33 h" in found.title
    assert "near epoch 12 of 20" in found.title


def unstamped(last: int, total: int) -> list[str]:
    return [f"step {step}/{total} loss {3 / (1 + step / 9):.4f}" for step in range(1, last + 1)]


def test_a_log_without_stamps_is_judged_by_the_job_s_time_and_with_care(tmp_path: Path) -> None:
    run = read(tmp_path, unstamped(360, 10_000), running(HOUR))
    found = ahead(run)
    assert found is not None
    assert found.basis is Basis.INFERENCE
    assert JOB in found.evidence[0].quote
    # Half of the hour may have gone into starting up: then it would do.
    assert ahead(read(tmp_path, unstamped(360, 1000), running(HOUR))) is None


def test_a_requeued_job_s_time_says_nothing_about_all_its_steps(tmp_path: Path) -> None:
    assert ahead(read(tmp_path, unstamped(360, 10_000), running(HOUR, restarts=1))) is None


def test_whoever_watches_learns_the_pace(tmp_path: Path) -> None:
    path = tmp_path / "slurm-48213.out"
    run = Run("48213")
    run.job = running(HOUR, gone=3000.0, start=NOW - 3000.0)
    feed = FileFeed(run, str(path))
    watcher = Diagnostician(run)
    for look in range(12):
        lines = [f"step {step}/1000 loss 1.5" for step in range(20 * look + 1, 20 * look + 21)]
        with path.open("a") as log:
            log.write("\n".join(lines) + "\n")
        at = NOW - 2000.0 + 180.0 * look
        os.utime(path, (at, at))
        feed.feed(("\n".join(lines) + "\n").encode())
        told = watcher.diagnose(at + 1)
    found = finding(told, "time_limit_ahead")
    assert f"9 s a step (by {SEEN}" in found.evidence[0].quote
    assert found.basis is Basis.RESEARCH


def test_how_far_it_was_is_said_when_the_limit_has_come(tmp_path: Path) -> None:
    ended = Job(id="48213", state=JobState.TIMEOUT, start=NOW - HOUR, end=NOW, time_limit=HOUR)
    found = finding(judge(read(tmp_path, stamped(1, 250, 1000, steady), ended)), "slurm_timeout")
    assert "at step 250 of 1000" in found.title
    assert "25% was done, the remaining 750 steps need about 2.08 h more" in found.title


def simulated(random: np.random.Generator) -> tuple[Run, float]:
    """A training with noise, drift, evaluations and a pause, and the seconds that it still took."""
    total = int(random.integers(300, 1500))
    spent = 10 * np.exp(random.choice([0.02, 0.1, 0.3]) * random.normal(0, 1, total))
    spent *= np.linspace(1, random.uniform(0.8, 1.3), total)
    every = int(random.integers(20, total // 4))
    spent[every - 1 :: every] += random.uniform(0, 20) * every
    spent[random.integers(0, total)] += random.uniform(0, 1000)
    spent[:5] *= random.uniform(1, 20)
    moments, seen = np.cumsum(spent), int(total * random.uniform(0.05, 0.9))
    run = Run("simulated")
    run.is_over = True
    run.totals["step"] = total
    file = run.add_file(SourceFile("log.csv", format="csv"))
    axes = {"step": np.arange(1.0, seen + 1), "time": moments[:seen].copy()}
    column = Column(ColumnKey("loss"), np.arange(seen), np.ones(seen))
    run.append(file, Harvest(line=np.arange(1, seen + 1), axes=axes, columns=[column], lines=seen))
    return run, float(moments[-1] - moments[seen - 1])


def test_of_what_is_called_sure_as_much_comes_true() -> None:
    random = np.random.default_rng(5)
    came_true: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(400):
        run, needed = simulated(random)
        shortage = random.uniform(0.7, 1.5)
        run.job = running(needed / shortage)
        view = RunView(run)
        view.moment = NOW
        found = list(TimeLimitAhead().examine(view))
        if found:
            came_true[found[0].confidence > 0.75].append(shortage > 1)
    assert min(len(outcomes) for outcomes in came_true.values()) > 15
    assert np.mean(came_true[True]) >= 0.85
    assert np.mean(came_true[False]) >= 0.65


@given(
    st.lists(st.floats(0, 1e4) | st.sampled_from([float("nan"), float("inf")]), max_size=40),
    st.floats(-1e6, 1e6),
    st.sampled_from([0.0, 1.0, 39.0, 1e9, 1e300]),
)
def test_no_stamps_break_the_course(spent: list[float], left: float, total: float) -> None:
    run = Run("x")
    run.is_over = True
    run.job = running(left)
    run.totals["step"] = total
    file = run.add_file(SourceFile("x.csv", format="csv"))
    count = len(spent)
    with np.errstate(over="ignore", invalid="ignore"):
        axes = {"step": np.arange(count, dtype=np.float64), "time": np.cumsum(spent)}
    column = Column(ColumnKey("loss"), np.arange(count), np.ones(count))
    run.append(file, Harvest(line=np.arange(1, count + 1), axes=axes, columns=[column],
                             lines=count))  # fmt: skip
    found = course(RunView(run))
    assert found is None or (found.seconds > 0 and found.by == STAMPS) or found.by == JOB
    judge(run)
