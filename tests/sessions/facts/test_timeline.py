"""When it began, what happened on the way, and what artifacts there are."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.ingest import read_file
from mltd.runs.run import Artifact
from mltd.sessions.facts.clock import stamp_of
from mltd.sessions.facts.gather import gather
from mltd.sessions.facts.gathered import Gathered
from mltd.sessions.model.constraints import Topic
from tests.analyzers.made import make_run

from .reading import read_run


def stamped(step: int, loss: str, second: int | None = None) -> str:
    at = step if second is None else second
    return f"2026-03-01 12:{at // 60:02}:{at % 60:02} INFO step {step} loss {loss}\n"


LOST = "".join(stamped(n, "nan" if n >= 60 else f"{3 - n / 40:.3f}") for n in range(90))
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 3, in <module>\n'
    "    step()\n"
    "RuntimeError: shapes do not fit\n"
)


def judged(folder: Path, text: str) -> Gathered:
    run = read_run(folder, text)
    return gather(run, diagnose(run))


def texts(found: Gathered) -> list[str]:
    return [entry.text for entry in found.timeline]


def test_an_incident_starts_with_the_first_step_of_its_findings(tmp_path: Path) -> None:
    start = judged(tmp_path, LOST).facts[Topic.INCIDENT_START]
    assert start.value.startswith("step 60, 2026-03-01 12:01:00 by the log's clock: ")
    assert start.source == "series"
    assert start.evidence[0].ref == "loss@59..60"


def test_a_crash_starts_at_the_time_that_stands_before_it(tmp_path: Path) -> None:
    log = "".join(stamped(n, f"{3 - n / 40:.3f}") for n in range(20)) + CRASH
    start = judged(tmp_path, log).facts[Topic.INCIDENT_START]
    assert "after 2026-03-01 12:00:19 by the log's clock" in start.value
    assert start.source == "log"


def test_a_crash_without_a_diagnosis_still_has_a_start(tmp_path: Path) -> None:
    log = "".join(stamped(n, f"{3 - n / 40:.3f}") for n in range(20)) + CRASH
    start = gather(read_run(tmp_path, log)).facts[Topic.INCIDENT_START]
    assert start.value.endswith("RuntimeError: shapes do not fit")
    assert start.evidence[0].ref == "train.log:21"


def test_a_crash_in_a_file_without_steps_comes_after_the_last_step(tmp_path: Path) -> None:
    run = read_run(tmp_path, CRASH, "train.err")
    path = tmp_path / "train.out"
    path.write_text("".join(stamped(n, f"{3 - n / 40:.3f}") for n in range(20)))
    read_file(run, str(path))
    found = gather(run, diagnose(run))
    start = found.facts[Topic.INCIDENT_START].value
    assert start.startswith("after step 19, after 2026-03-01 12:00:19 by the log's clock: ")
    assert [entry.step for entry in found.timeline] == [0, 19, 19]


def test_a_healthy_run_has_no_incident(tmp_path: Path) -> None:
    log = "".join(stamped(n, f"{3 - n / 40:.3f}") for n in range(40))
    assert Topic.INCIDENT_START not in judged(tmp_path, log).facts


def test_a_time_that_stands_still_is_no_time(tmp_path: Path) -> None:
    log = "2026-03-01 12:00:00 INFO starting\n" + LOST.replace("2026-03-01 ", "").replace("12:", "")
    lines = [line.partition("INFO ")[2] or line for line in log.splitlines(keepends=True)]
    start = judged(tmp_path, log.splitlines(keepends=True)[0] + "".join(lines[1:]))
    assert start.facts[Topic.INCIDENT_START].value.startswith("step 60: ")


def test_a_timeline_goes_from_the_first_line_to_the_last(tmp_path: Path) -> None:
    saved = [
        f"2026-03-01 12:00:{n} INFO Saving model checkpoint to out/ckpt-{n}\n" for n in (10, 20, 30)
    ]
    lines = LOST.splitlines(keepends=True)
    log = "".join(
        [*lines[:11], saved[0], *lines[11:21], saved[1], *lines[21:31], saved[2], *lines[31:]]
    )
    found = judged(tmp_path, log)
    said = texts(found)
    assert said[0] == "the log train.log begins"
    assert said[1].startswith("Checkpoint saved: out/ckpt-10")
    assert said[2] == "Checkpoint saved: out/ckpt-30 (the last of 3)"
    assert said[3].startswith("nan_loss: ")
    assert said[-1].startswith("the log ends: ")
    assert found.timeline[3].step == 60
    assert found.timeline[3].at == datetime(2026, 3, 1, 12, 1, 0, tzinfo=UTC)
    assert found.timeline[-1].step == 89
    assert all(entry.source != "person" for entry in found.timeline)


def test_what_is_said_of_a_growing_log_does_not_grow_with_it(tmp_path: Path) -> None:
    rising = [stamped(n, f"{3 - n / 40 if n < 60 else 1.5 + (n - 60) / 5:.3f}") for n in range(140)]
    saved = "2026-03-01 12:00:10 INFO Saving model checkpoint to out/ckpt-{}\n"
    said = []
    for length in (120, 140):
        lines = [*rising[:length], *(saved.format(n) for n in range(10, length, 30))]
        run = read_run(tmp_path, "".join(lines))
        run.is_over = False
        found = gather(run, diagnose(run))
        assert found.seen.state == "running"
        start = found.facts[Topic.INCIDENT_START].value
        assert start.endswith("(loss)")
        said.append((start, texts(found)))
    assert said[0] == said[1]
    assert "loss_divergence: loss" in said[0][1]
    assert said[0][1][-1] == "the run goes on"
    run.is_over = True
    assert "rose from" in gather(run, diagnose(run)).facts[Topic.INCIDENT_START].value


def test_a_finding_and_its_exception_are_told_once(tmp_path: Path) -> None:
    log = "".join(stamped(n, f"{3 - n / 40:.3f}") for n in range(20)) + (
        "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n'
        "    x.cuda()\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
        "capacity of 79.10 GiB of which 1.20 GiB is free.\n"
    )
    said = texts(judged(tmp_path, log))
    assert len([text for text in said if "memory" in text]) == 1
    assert said[-1] == "the log ends: failed"


def test_a_resumed_run_tells_where_its_counter_went_back(tmp_path: Path) -> None:
    first = "".join(stamped(n, f"{3 - n / 50:.3f}") for n in range(60))
    again = "".join(stamped(n, f"{3 - n / 50:.3f}", n + 120) for n in range(40, 80))
    log = first + "2026-03-01 12:01:59 INFO Resuming from checkpoint out/ckpt-40\n" + again
    said = texts(judged(tmp_path, log))
    assert "Resumed: out/ckpt-40" in said
    assert "the step went back from 59 to 40" in said


def test_many_restarts_are_condensed(tmp_path: Path) -> None:
    log = ""
    for attempt in range(30):
        log += f"2026-03-01 12:{attempt:02}:00 INFO Resuming from checkpoint out/ckpt-{attempt}\n"
        log += stamped(attempt, "2.5", attempt * 60 + 1)
    found = judged(tmp_path, log)
    assert len(found.timeline) <= 25
    assert any("(and 25 more times)" in text for text in texts(found))
    assert found.seen.restarts == 30


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-01 12:00:05,123 INFO x", datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)),
        ("[2026/03/01 12:00:05] root INFO: x", datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)),
        ("Sun Mar  1 12:00:05 2026 x", datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)),
        ("12:00:05 x", None),
        ("I0301 12:00:05.1  5405 solver.cpp:9] x", None),
        ("2026-13-45 12:00:05 x", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_a_stamp_with_a_year_is_a_moment(text: str, at: datetime | None) -> None:
    assert stamp_of(text) == at


def test_artifacts_are_counted(tmp_path: Path) -> None:
    losses = {"train_loss": [3.0, 2.0, 1.0], "val_loss": [3.1, 2.1, float("nan")],
              "grad_norm": [1.0, 1.0, 2.0]}  # fmt: skip
    run = make_run(losses, config={"lr": 0.1, "seed": 3, "model": {"depth": 2}})
    run.artifacts += [Artifact("config", "/x/config.yaml"), Artifact("checkpoint", "/x/a.pt")]
    seen = gather(run).seen
    assert seen.metric_count == 3
    assert seen.points == 9
    assert seen.names_of("train") == ("train_loss",)
    assert seen.names_of("val", "test") == ("val_loss",)
    assert seen.with_role("val/loss") == ("val_loss",)
    assert seen.gradients == ("grad_norm",)
    assert seen.seeds == ("seed = 3",)
    assert seen.settings == 3
    assert seen.config_files == ("config.yaml",)
    assert seen.checkpoint_files == 1
    assert (seen.first_step, seen.last_step, seen.axis) == (0, 2, "step")


def test_what_was_gathered_survives_the_way_to_another_process(tmp_path: Path) -> None:
    found = judged(tmp_path, LOST)
    assert Gathered.model_validate_json(found.model_dump_json()) == found


def test_what_was_gathered_can_be_shown_without_numpy() -> None:
    code = (
        "import sys, mltd.sessions.facts.gathered, mltd.sessions.checks, mltd.sessions.adopting;"
        "print([m for m in ('numpy', 'mltd.runs.run', 'textual') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
