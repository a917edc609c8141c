"""stall: silence that is longer than this log's silences are."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import Diagnostician
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from tests.analyzers.distributed.scheduled import job
from tests.analyzers.made import read_log

from .asking import causes, found

START = datetime(2024, 1, 1, tzinfo=UTC)


def stamped(gaps: list[float], between: dict[int, str] | None = None) -> str:
    """A log with seconds between its lines, and lines put in front of some."""
    moment, lines = START, []
    for step, gap in enumerate(gaps):
        if between and step in between:
            lines.append(f"{moment:%Y-%m-%d %H:%M:%S} {between[step]}")
        moment += timedelta(seconds=gap)
        lines.append(f"{moment:%Y-%m-%d %H:%M:%S} step {step} loss {2 - step / 1000:.3f}")
    return "\n".join(lines) + "\n"


WRITTEN = START.timestamp() + 700


def silent_for(
    seconds: float, text: str, folder: Path, *, planned: float = 1000.0, written: float = WRITTEN
) -> list[Finding]:
    """Findings for a log that has not grown for so long."""
    path = folder / "train.log"
    path.write_text(text)
    os.utime(path, (written, written))
    run = Run("live")
    if planned:
        run.totals["step"] = planned
    read_file(run, str(path))
    told = Diagnostician(run).diagnose(written + seconds)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == "stall"]


def test_a_silent_log_is_a_stall(tmp_path: Path) -> None:
    (finding,) = silent_for(7200, stamped([10] * 60), tmp_path)
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 59
    assert "2 h" in finding.title
    assert silent_for(120, stamped([10] * 60), tmp_path) == []


def test_a_log_that_may_simply_be_over_is_information(tmp_path: Path) -> None:
    log = stamped([10] * 60)
    for finding in (
        *silent_for(7200, log, tmp_path, planned=0),
        *silent_for(7200, log, tmp_path, planned=60),
        *silent_for(7200, log, tmp_path, planned=0, written=WRITTEN + 40 * 86_400),
    ):
        assert finding.severity is Severity.INFO
        assert "if the job still runs" in finding.title


def test_of_a_copied_log_only_its_early_end_is_known(tmp_path: Path) -> None:
    log = stamped([10] * 60)
    (copied,) = silent_for(7200, log, tmp_path, written=WRITTEN + 40 * 86_400)
    (own,) = silent_for(7200, log, tmp_path)
    assert copied.severity is Severity.WARNING
    assert "hung, or ended without a word" in copied.title
    assert copied.confidence < own.confidence


def test_a_log_that_grows_many_times_a_second_has_a_usual_interval_too(tmp_path: Path) -> None:
    moments = [START + timedelta(milliseconds=450 * step) for step in range(60)]
    lines = [
        f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03} step {step} loss 1.5"
        for step, moment in enumerate(moments)
    ]
    (finding,) = silent_for(7200, "\n".join(lines) + "\n", tmp_path)
    assert finding.severity is Severity.CRITICAL


def test_the_phase_is_what_was_announced_last(tmp_path: Path) -> None:
    text = stamped([10] * 60) + "***** Running Evaluation *****\n"
    (finding,) = silent_for(7200, text, tmp_path)
    assert finding.details["phase"] == "evaluation"
    assert "during evaluation" in finding.title


def test_buffered_output_gets_three_times_as_long(tmp_path: Path) -> None:
    bursts = stamped(([0.0] * 99 + [1200.0]) * 3 + [0.0] * 50)
    assert silent_for(1500, bursts, tmp_path) == []
    assert silent_for(20_000, bursts, tmp_path)


def test_a_finished_run_may_be_silent(tmp_path: Path) -> None:
    assert silent_for(7200, stamped([10] * 60) + "Training completed\n", tmp_path) == []


def test_one_long_gap_is_dated() -> None:
    (finding,) = found(read_log(stamped([10.0] * 40 + [9000] + [10.0] * 40)), "stall")
    assert finding.severity is Severity.WARNING
    assert finding.first_step == 39
    assert finding.last_step == 40
    assert "150 min" in finding.title


def test_a_gap_that_is_little_of_a_long_run_is_information() -> None:
    (finding,) = found(read_log(stamped([60.0] * 900 + [4000] + [60.0] * 40)), "stall")
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    "gaps",
    [
        [10.0] * 80,
        ([10.0] * 19 + [900.0]) * 4,
        [10.0] * 40 + [200.0] + [10.0] * 40,
        [0.0] * 80,
    ],
    ids=["even", "evaluations", "short", "one moment"],
)
def test_usual_gaps_are_no_stall(gaps: list[float]) -> None:
    assert found(read_log(stamped(gaps)), "stall") == []


@pytest.mark.parametrize(
    "line", ["Saving model checkpoint to out/checkpoint-40", "***** Running Evaluation *****"]
)
def test_an_announced_pause_is_no_stall(line: str) -> None:
    text = stamped([10.0] * 40 + [9000] + [10.0] * 40, {40: line})
    assert found(read_log(text), "stall") == []


def test_a_restart_in_between_is_no_stall() -> None:
    later = stamped([40_000.0] + [10.0] * 40)
    assert found(read_log(stamped([10.0] * 40) + later), "stall") == []


def test_records_without_a_stamp_are_not_silence() -> None:
    launcher = [f"[2024-01-01 10:00:{second:02}] [INFO] [launch.py:80] rank {second}"
                for second in range(14)]  # fmt: skip
    steps = [f"{{'loss': {2 - step / 500:.4f}, 'epoch': {step / 400:.2f}}}" for step in range(400)]
    end = ["[2024-01-01 16:00:00] [INFO] [launch.py:347] Process 71 exits successfully."]
    assert found(read_log("\n".join(launcher + steps + end) + "\n"), "stall") == []


def test_a_run_that_was_begun_again_hours_later_is_no_stall() -> None:
    first = stamped([10] * 40)
    later = START + timedelta(hours=5)
    moments = [f"{later + timedelta(seconds=10 * step):%Y-%m-%d %H:%M:%S}" for step in range(30)]
    head = f"{moments[0]} scale: 16 images, width: 64"
    steps = [f"{moments[step]} step {step} loss {2 - step / 90:.3f}" for step in range(1, 30)]
    assert found(read_log(first + "\n".join([head, *steps]) + "\n"), "stall") == []


def test_times_of_day_do_not_make_a_log_a_copy_of_an_old_one(tmp_path: Path) -> None:
    clock = "".join(
        f"[12:{20 + step // 6:02d}:{10 * (step % 6):02d}] {step}/500 loss {2 - step / 100:.3f}\n"
        for step in range(1, 60)
    )
    (finding,) = silent_for(14_400, clock, tmp_path, planned=500)
    assert finding.is_alarm


def ended(after: float, *, why: str = " DUE TO TIME LIMIT", gap: float = 15) -> Run:
    """A log of 60 records whose job is ended so many seconds after its last word."""
    moment = START + timedelta(seconds=60 * gap + after)
    lines = [
        f"{START + timedelta(seconds=gap * (n + 1)):%Y-%m-%d %H:%M:%S} step {n}/2000 "
        f"loss {2 * 0.97**n:.3f}"
        for n in range(60)
    ]
    lines.append(
        f"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT {moment:%Y-%m-%dT%H:%M:%S}{why} ***"
    )
    return read_log("\n".join(lines) + "\n")


@pytest.mark.parametrize("why", [" DUE TO TIME LIMIT", ""])
def test_hours_of_silence_before_the_end_are_the_cause_of_it(why: str) -> None:
    run = ended(5 * 3600 + 700, why=why)
    (finding,) = found(run, "stall")
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 59
    assert "5.19 h" in finding.title
    assert causes(run)[0] == "deadlock"


def test_a_limit_that_cuts_a_run_which_goes_on_is_the_cause_itself() -> None:
    run = ended(15)
    assert found(run, "stall") == []
    assert causes(run)[0] == "time_limit"


def test_clocks_of_two_time_zones_are_no_silence() -> None:
    assert found(ended(5 * 3600 + 8), "stall") == []
    assert found(ended(-7 * 3600 + 8), "stall") == []


def test_a_log_of_some_seconds_says_nothing_about_its_usual_pauses() -> None:
    assert found(ended(5 * 3600 + 700, gap=1), "stall") == []


def test_what_may_lie_in_a_buffer_is_no_alarm() -> None:
    (finding,) = found(ended(1600), "stall")
    assert finding.severity is Severity.INFO
    assert "buffer" in finding.title


def test_times_of_day_are_not_compared_with_the_date_of_an_end() -> None:
    lines = [f"10:{n:02}:00 step {n}/2000 loss {2 * 0.97**n:.3f}" for n in range(60)]
    lines.append(
        "slurmstepd: error: *** JOB 7 CANCELLED AT 2024-01-01T17:12:40 DUE TO TIME LIMIT ***"
    )
    assert found(read_log("\n".join(lines) + "\n"), "stall") == []


@pytest.mark.parametrize("silent", [5 * 3600.0, 20.0])
def test_the_schedulers_record_says_when_a_job_was_ended(tmp_path: Path, silent: float) -> None:
    lines = [
        f"{START + timedelta(seconds=15 * (n + 1)):%Y-%m-%d %H:%M:%S} step {n}/2000 "
        f"loss {2 * 0.97**n:.3f}"
        for n in range(60)
    ]
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines) + "\n")
    os.utime(path, (WRITTEN, WRITTEN))
    run = Run("job")
    read_file(run, str(path))
    run.job = job("TIMEOUT", start=WRITTEN - 900, end=WRITTEN + silent, elapsed=900 + silent)
    stalls = found(run, "stall")
    assert bool(stalls) is (silent > 3600)
    assert causes(run)[0] == ("deadlock" if stalls else "time_limit")


@pytest.mark.parametrize(("end", "is_alarm"), [("", True), ("\n", False)])
def test_a_bar_that_was_never_drawn_to_its_end_says_that_there_is_more(
    end: str, is_alarm: bool, tmp_path: Path
) -> None:
    bars = [f"\r {n // 10}%|##   | {n}/1000 [00:36<02:28, 5.4it/s, loss={2 - n / 400:.3f}]"
            for n in range(1, 201)]  # fmt: skip
    (finding,) = silent_for(7200, "".join(bars) + end, tmp_path, planned=0)
    assert finding.is_alarm == is_alarm


@pytest.mark.parametrize(("last", "is_alarm"), [(70, True), (100, False)])
def test_a_log_that_ends_within_an_epoch_says_that_there_is_more(
    last: int, is_alarm: bool, tmp_path: Path
) -> None:
    # No epoch is logged to its last batch: that is the end of each of them.
    lines = [
        f"Epoch: [{epoch}][{batch:4d}/110]\tTime 0.20 ( 0.20)\tLoss {2 - epoch / 4:.4f}"
        for epoch in range(4)
        for batch in range(10, 101 if epoch < 3 else last + 1, 10)
    ]
    (finding,) = silent_for(20_000, "\n".join(lines) + "\n", tmp_path, planned=0)
    assert finding.is_alarm == is_alarm


def test_a_gap_over_which_the_schedule_begins_anew_is_no_stall() -> None:
    rates = [4e-4 * min(1, (n % 40 + 1) / 5) for n in range(60)]
    steady = [4e-4 - 2e-6 * n for n in range(60)]
    for told, is_stall in ((rates, False), (steady, True)):
        lines = stamped([10.0] * 40 + [90_000.0] + [10.0] * 19).splitlines()
        log = "\n".join(f"{line} lr {rate:.3e}" for line, rate in zip(lines, told, strict=True))
        assert bool(found(read_log(log + "\n"), "stall")) == is_stall
