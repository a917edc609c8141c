"""A run that grows under our eyes: every line once, restarts as generations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mltd.runs import live as live_module
from mltd.runs.discovery import Purpose, RunFile, RunFiles, discover
from mltd.runs.live import LiveRun, follow
from mltd.runs.run import Run
from mltd.runs.sources.watcher import Watcher
from mltd.runs.summary import describe_run


def live_run(*paths: Path) -> LiveRun:
    files = [RunFile(str(path), Purpose.LOG) for path in paths]
    return LiveRun(RunFiles("live", str(paths[0].parent), files))


def append(path: Path, text: str) -> None:
    with path.open("a") as log:
        log.write(text)


def losses(run: Run) -> list[float]:
    return [float(v) for s in run.series if s.name == "loss" for v in s.values]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text("step 0 loss 3.0\nstep 1 loss 2.5\n")
    return path


def test_new_lines_are_read_once(log: Path) -> None:
    live = live_run(log)
    assert live.read()
    assert not live.read()
    append(log, "step 2 loss 2.0\nstep 3 lo")
    live.read()
    assert losses(live.loaded.run) == [3.0, 2.5, 2.0]
    append(log, "ss 1.5\n")
    live.read()
    assert losses(live.loaded.run) == [3.0, 2.5, 2.0, 1.5]
    live.close()


def test_a_restarted_log_is_another_generation(log: Path) -> None:
    live = live_run(log)
    live.read()
    log.write_text("step 0 loss 9.0\nstep 1 loss 8.0\nstep 2 loss 7.0\n")
    live.read()
    run = live.loaded.run
    assert losses(run) == [3.0, 2.5, 9.0, 8.0, 7.0]
    assert run.files[0].generations == 2
    (series,) = [s for s in run.series if s.name == "loss"]
    assert series.coordinates.generation.view()[series.rows].tolist() == [0, 0, 1, 1, 1]
    assert series.lines.tolist() == [1, 2, 1, 2, 3]


def test_the_end_of_a_rotated_file_is_not_lost(log: Path) -> None:
    live = live_run(log)
    live.read()
    append(log, "step 2 loss 2.0")
    os.rename(log, log.with_suffix(".1"))
    log.write_text("step 0 loss 9.0\nstep 1 loss 8.0\n")
    live.read()
    assert losses(live.loaded.run) == [3.0, 2.5, 2.0, 9.0, 8.0]


@pytest.mark.parametrize("hole", [0, 10_000])
def test_a_short_log_that_rsync_replaces_is_not_counted_again(tmp_path: Path, hole: int) -> None:
    log, copied = tmp_path / "train.log", tmp_path / ".train.log.Xa3f1"
    lines = [f"step {step} loss {9 - step / 10:.1f}\n" for step in range(40)]
    live = None
    for length in (10, 20, 30, 40):
        with copied.open("wb") as file:
            # A writer that does not append leaves a hole when its log is truncated.
            file.seek(hole)
            file.write("".join(lines[:length]).encode())
        copied.rename(log)
        live = live or live_run(log)
        live.read()
    assert live is not None
    assert losses(live.loaded.run) == [9 - step / 10 for step in range(40)]
    assert live.loaded.run.files[0].generations == 1
    assert live.loaded.run.files[0].notice == ""
    live.close()


def test_the_rest_of_a_truncated_log_comes_from_the_copy_of_it(log: Path) -> None:
    live = live_run(log)
    live.read()
    append(log, "step 2 loss 2.0\n")
    log.with_name("train.log-20260131").write_bytes(log.read_bytes())
    log.write_text("step 0 loss 9.0\nstep 1 loss 8.0\n")
    live.read()
    assert losses(live.loaded.run) == [3.0, 2.5, 2.0, 9.0, 8.0]
    assert live.loaded.run.files[0].notice == ""
    live.close()


def test_a_truncated_log_says_that_lines_may_be_missing(log: Path) -> None:
    live = live_run(log)
    live.read()
    append(log, "step 2 loss 2.0\n")
    for _ in range(2):
        log.write_text("step 0 loss 9.0\n")
        live.read()
        log.write_text("step 0 loss 8.0\nstep 1 loss 8.0\n")
        live.read()
    source = live.loaded.run.files[0]
    assert source.notice == "lines may be missing here (4 places)"
    described = describe_run(live.loaded.run)["files"]
    assert isinstance(described, list)
    assert described[0]["note"] == source.notice
    live.close()


def test_a_log_that_was_idle_is_complete_when_it_is_truncated(log: Path) -> None:
    before = log.stat().st_mtime - 61
    os.utime(log, (before, before))
    live = live_run(log)
    live.read()
    log.write_text("step 0 loss 9.0\nstep 1 loss 8.0\n")
    live.read()
    assert live.loaded.run.files[0].generations == 2
    assert live.loaded.run.files[0].notice == ""
    live.close()


def test_a_snapshot_is_replaced_by_its_newer_state(tmp_path: Path) -> None:
    state = tmp_path / "trainer_state.json"
    record = '{{"log_history": [{0}], "global_step": 2, "max_steps": 9}}'
    state.write_text(record.format('{"step": 1, "loss": 3.0}'))
    live = live_run(state)
    live.read()
    live.settle()
    assert losses(live.loaded.run) == [3.0]
    newer = '{"step": 1, "loss": 3.0}, {"step": 2, "loss": 2.0}'
    state.write_text(record.format(newer))
    live.read()
    live.settle()
    assert losses(live.loaded.run) == [3.0, 2.0]
    assert live.loaded.run.files[0].notice == ""


def test_a_file_that_appears_later(tmp_path: Path) -> None:
    live = live_run(tmp_path / "late.log")
    assert not live.read()
    (tmp_path / "late.log").write_text("step 0 loss 3.0\nstep 1 loss 2.0\n")
    assert live.read()
    assert losses(live.loaded.run) == [3.0, 2.0]


def test_an_unfinished_traceback_is_reported_when_nothing_more_comes(log: Path) -> None:
    live = live_run(log)
    live.read()
    append(log, 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\n')
    live.read()
    assert live.loaded.run.events == []
    append(log, "ValueError: bad\n")
    live.read()
    live.settle()
    ((_, event),) = live.loaded.run.events
    assert (event.line, event.exception) == (3, "ValueError")
    append(log, "step 4 loss 1.0\n")
    live.read()
    assert losses(live.loaded.run)[-1] == 1.0
    assert len(live.loaded.run.events) == 1


def test_following_tells_which_runs_grew(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_text("step 0 loss 1.0\nstep 1 loss 1.0\n")
    runs = [live_run(log), live_run(other)]
    news = follow(runs)
    assert next(news) == runs
    append(other, "step 2 loss 0.5\n")
    assert next(news) == [runs[1]]
    assert losses(runs[1].loaded.run) == [1.0, 1.0, 0.5]
    news.close()


def test_a_table_that_is_written_again_with_a_new_column_is_not_counted_twice(
    tmp_path: Path,
) -> None:
    table = tmp_path / "metrics.csv"
    table.write_text("step,loss\n1,3.0\n2,2.0\n")
    live = live_run(table)
    live.read()
    table.write_text("step,loss,val_loss\n1,3.0,\n2,2.0,\n3,1.5,1.75\n")
    live.read()
    run = live.loaded.run
    assert losses(run) == [3.0, 2.0, 1.5]
    assert run.files[0].notice == ""
    table.write_text("step,loss,val_loss\n1,9.0,\n2,8.0,\n")
    live.read()
    assert losses(run) == [3.0, 2.0, 1.5, 9.0, 8.0]
    assert run.files[0].notice == "lines may be missing here"


def test_a_file_that_inotify_cannot_follow_is_reported_once(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watcher, "notes", lambda self: {log: "inotify missed a change"})
    told: list[str] = []
    news = follow([live_run(log)], report=told.append)
    next(news)
    for number in range(2):
        append(log, f"step {number + 5} loss 1.0\n")
        next(news)
    news.close()
    assert told == [f"{log}: inotify missed a change"]


def test_lines_are_counted_from_where_a_generation_begins(log: Path) -> None:
    live = live_run(log)
    live.read()
    log.write_text("starting up\nloading data\n")
    live.read()
    append(log, "step 0 loss 9.0\n")
    live.read()
    (series,) = [s for s in live.loaded.run.series if s.name == "loss"]
    assert series.lines.tolist() == [1, 2, 3]
    assert live.loaded.run.files[0].lines == 3


def test_a_log_that_was_cut_while_its_writer_went_on_is_read_behind_the_hole(
    tmp_path: Path,
) -> None:
    log = tmp_path / "train.log"
    with log.open("wb", buffering=0) as writer:
        for step in range(500):
            writer.write(f"step {step} loss {1 / (step + 1):.4f}\n".encode())
        live = LiveRun(discover(str(log))[0])
        live.read()
        os.truncate(log, 0)
        # The writer's place is where it was: the file now begins with a hole.
        for step in range(500, 520):
            writer.write(f"step {step} loss {1 / (step + 1):.4f}\n".encode())
        live.read()
        live.settle()
    assert live.loaded.problems == []
    loss = next(live.loaded.run.with_role("train/loss"))
    assert loss.axis("step")[-1] == 519
    assert not live.is_given_up(log)
    live.close()


def test_the_columns_of_a_followed_run_are_bounded(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = 1 << 20
    monkeypatch.setattr(live_module, "MOST_COLUMN_BYTES", bound)
    run = live_run(log)
    for start in range(2, 100_002, 20_000):
        append(log, "".join(f"step {n} loss 2.5\n" for n in range(start, start + 20_000)))
        run.read()
        assert run.loaded.run.allocated <= bound
    (loss,) = run.loaded.run.series
    assert loss.logged == 100_002
    run.close()
