"""The state of a run: what its log shows, and no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.event import Event, EventKind
from mltd.runs.events import EventLog
from mltd.runs.failure import is_terminal
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from mltd.runs.state import Progress, RunState, combine_states, infer_state
from mltd.runs.summary import run_state
from tests.runs.events.reading import corpus_logs, read_events

ERROR = Event(EventKind.EXCEPTION, "ValueError: x", 50, last_line=60, exception="ValueError")
DONE = Event(EventKind.FINISHED, "Training completed", 40, last_line=40)
AGAIN = Event(EventKind.RESTART, "Training started", 70, last_line=70)
LIMIT = Event(EventKind.SCHEDULER, "Slurm cancelled job 1: TIME LIMIT", 80, last_line=80)
TERM = Event(EventKind.SIGNAL, "Received SIGTERM: 15", 79, last_line=79)


def state(*events: Event, age: float | None = None, **progress: float) -> RunState:
    rows, lines = int(progress.pop("rows", 0)), int(progress.pop("lines", 0))
    known = Progress(last_row_line=rows, lines=lines, **progress)
    return infer_state(events, age, progress=known)[0]


def test_an_exception_after_which_nothing_comes_is_a_failure() -> None:
    assert state(ERROR, rows=45) is RunState.FAILED
    assert state(ERROR) is RunState.FAILED


def test_a_last_word_on_the_line_of_a_progress_bar_counts() -> None:
    assert state(LIMIT, rows=80) is RunState.FAILED


def test_numbers_without_a_further_step_are_no_progress() -> None:
    died = Event(EventKind.EXCEPTION, "OSError: quota", 50, step=260, exception="OSError")
    assert state(died, rows=70, last_step=260) is RunState.FAILED
    assert state(died, rows=70, last_step=261) is RunState.UNKNOWN
    assert state(died, rows=70, last_step=3) is RunState.UNKNOWN, "a new attempt from the start"


def test_an_exception_after_which_the_run_goes_on_is_none() -> None:
    assert state(ERROR, rows=61) is RunState.UNKNOWN
    assert state(ERROR, rows=61, age=5) is RunState.RUNNING


def said(text: str, line: int) -> Event:
    return Event(EventKind.ERROR, text, line, text=f"ERROR - train - {text}", last_line=line)


def test_an_error_in_a_loggers_words_is_a_failure_if_nothing_at_all_follows() -> None:
    empty = said("the validation set is empty", 50)
    assert state(empty, rows=45, lines=50) is RunState.FAILED
    assert state(empty, rows=45, lines=51) is RunState.UNKNOWN, "something was said after it"
    assert state(empty, rows=45) is RunState.UNKNOWN, "nobody knows where the log ends"
    assert state(empty, rows=45, lines=50, age=5) is RunState.RUNNING, "it may still go on"


def test_the_first_of_several_last_words_is_the_cause() -> None:
    events = said("shard 17 is broken", 49), said("giving up", 50)
    progress = Progress(last_row_line=45, lines=50)
    assert infer_state(events, progress=progress)[1].startswith("shard 17 is broken (line 49)")


@pytest.mark.parametrize(
    "text",
    ["upload failed, retrying in 5 s", "cannot read a.jpg, skipping it", "wandb: network is down"],
)
def test_an_error_that_a_program_goes_on_after_is_no_last_word(text: str) -> None:
    assert state(said(text, 50), rows=45, lines=50) is RunState.UNKNOWN


def test_an_error_after_the_end_was_announced_is_no_failure() -> None:
    assert state(DONE, said("no mail was sent", 50), rows=39, lines=50) is RunState.FINISHED
    planned = {"last_step": 1000, "total_steps": 1000}
    assert state(said("no mail", 50), rows=39, lines=50, **planned) is RunState.FINISHED


def test_a_run_that_was_started_again_has_not_failed() -> None:
    assert state(ERROR, AGAIN) is RunState.UNKNOWN
    assert state(ERROR, AGAIN, LIMIT) is RunState.FAILED


def test_done_before_a_crash_is_not_done() -> None:
    crash = Event(EventKind.OOM, "CUDA out of memory", 42, last_line=90)
    assert state(DONE, crash, rows=30) is RunState.FAILED


def test_an_end_marker_is_the_end() -> None:
    assert state(DONE, rows=39) is RunState.FINISHED
    assert state(DONE, rows=45) is RunState.FINISHED, "the final evaluation comes after it"


def test_an_end_marker_of_an_earlier_attempt_is_not() -> None:
    assert state(DONE, AGAIN) is RunState.UNKNOWN
    assert state(DONE, rows=5000) is RunState.UNKNOWN


def test_the_last_planned_step_is_the_end() -> None:
    assert state(rows=9, last_step=1000, total_steps=1000) is RunState.FINISHED
    assert state(rows=9, last_step=999, total_steps=1000) is RunState.FINISHED
    assert state(rows=9, last_step=998, total_steps=1000) is RunState.UNKNOWN
    assert state(rows=9, last_epoch=10, total_epochs=10) is RunState.FINISHED


def test_the_last_but_one_step_of_a_living_run_is_not_the_end() -> None:
    assert state(rows=9, last_step=999, total_steps=1000, age=1) is RunState.RUNNING
    assert state(rows=9, last_step=1000, total_steps=1000, age=1) is RunState.FINISHED
    assert state(rows=9, last_epoch=10, total_epochs=10, age=1) is RunState.RUNNING


def test_steps_count_more_than_epochs() -> None:
    found = state(rows=9, last_step=10, total_steps=1000, last_epoch=3, total_epochs=3)
    assert found is RunState.UNKNOWN


def test_a_run_killed_after_its_end_has_finished() -> None:
    assert state(DONE, TERM, LIMIT, rows=30) is RunState.FINISHED
    assert state(LIMIT, rows=30, last_step=100, total_steps=100) is RunState.FINISHED
    assert state(DONE, LIMIT, rows=30, last_step=50, total_steps=100) is RunState.FAILED


def test_ctrl_c_after_the_end_is_no_failure() -> None:
    pressed = Event(EventKind.EXCEPTION, "KeyboardInterrupt", 50, exception="KeyboardInterrupt")
    assert state(pressed, rows=45) is RunState.FAILED
    assert state(DONE, pressed, rows=30, last_step=9, total_steps=9) is RunState.FINISHED


def test_a_crash_after_the_last_step_is_a_failure() -> None:
    assert state(ERROR, rows=45, last_step=100, total_steps=100) is RunState.FAILED


@pytest.mark.parametrize(
    ("age", "interval", "expected"),
    [
        (10, 5, RunState.RUNNING),
        (800, 5, RunState.RUNNING),
        (1000, 5, RunState.STALLED),
        (1000, 600, RunState.RUNNING),
        (7000, 600, RunState.STALLED),
        (1700, None, RunState.RUNNING),
        (2000, None, RunState.STALLED),
        (90_000, 5, RunState.UNKNOWN),
        (90_000, 20_000, RunState.RUNNING),
        (None, 5, RunState.UNKNOWN),
    ],
)
def test_silence_is_judged_by_what_is_usual(
    age: float | None, interval: float | None, expected: RunState
) -> None:
    assert infer_state([], age, interval_seconds=interval)[0] is expected


def test_the_scheduler_knows_more_about_silence() -> None:
    assert infer_state([], 90_000, is_alive=True)[0] is RunState.STALLED
    assert infer_state([], 10, is_alive=False)[0] is RunState.UNKNOWN
    assert infer_state([], None, is_alive=True)[0] is RunState.RUNNING


def test_reasons_say_what_when_and_how_far() -> None:
    known = {"last_row_line": 45, "last_step": 260, "total_steps": 500}
    said = "ValueError: x (line 50) after step 260 of 500"
    for lines, more in (
        (0, ""),
        (60, ", and nothing was logged after it"),
        (75, ", followed by 15 lines without a training step"),
    ):
        progress = Progress(**known, lines=lines)
        assert infer_state([ERROR], progress=progress)[1] == said + more
    assert "silent for 2 h at step 3" in infer_state([], 7200, progress=Progress(1, last_step=3))[1]
    assert infer_state([DONE])[1] == "the log says so at line 40: Training completed"


def test_causes_are_named_before_consequences() -> None:
    launcher = Event(
        EventKind.EXCEPTION, "torchrun: rank 0 failed", 55, exception="errors.ChildFailedError"
    )
    closing = Event(EventKind.SIGNAL, "Sending process 1 closing signal SIGTERM", 51)
    later = Event(EventKind.NCCL, "NCCL error", 53)
    assert "NCCL error" in infer_state([closing, later, launcher])[1]
    assert "torchrun" in infer_state([closing, launcher])[1]
    assert "TIME LIMIT" in infer_state([TERM, LIMIT])[1]


def test_a_repeated_event_counts_where_it_was_said_last() -> None:
    log = EventLog([ERROR, Event(EventKind.EXCEPTION, "ValueError: x", 90, exception="ValueError")])
    assert len(log) == 1
    assert state(*log, rows=80) is RunState.FAILED


def test_the_rules_say_what_a_run_cannot_survive() -> None:
    launch = read_events(["python: can't open file 'x.py': [Errno 2] No such file or directory"])
    logged = read_events(["ERROR: upload failed, will retry"])
    aborted = read_events(["srun: Job step aborted: Waiting up to 32 seconds"])
    assert [is_terminal(*events) for events in (launch, logged, aborted)] == [True, False, False]


def test_files_of_one_run_are_judged_together() -> None:
    failed, done, silent = (
        (RunState.FAILED, "a"),
        (RunState.FINISHED, "b"),
        (RunState.UNKNOWN, "c"),
    )
    assert combine_states([silent, done, failed]) == failed
    assert combine_states([silent, done]) == done
    assert combine_states([(RunState.STALLED, "d"), (RunState.RUNNING, "e")])[0] is RunState.RUNNING
    assert combine_states([])[0] is RunState.UNKNOWN


EVENTS = st.builds(
    Event,
    st.sampled_from(list(EventKind)),
    st.text(max_size=5),
    st.integers(1, 100),
    last_line=st.integers(0, 120),
)


@given(
    st.lists(EVENTS, max_size=8),
    st.one_of(st.none(), st.floats(-10, 1e9)),
    st.builds(
        Progress,
        st.integers(0, 120),
        st.one_of(st.none(), st.floats()),
        st.one_of(st.none(), st.floats()),
    ),
)
def test_any_history_has_a_state_and_a_reason(
    events: list[Event], age: float | None, progress: Progress
) -> None:
    found, reason = infer_state(events, age, progress=progress)
    assert found in RunState
    assert reason
    assert infer_state(reversed(events), age, progress=progress) == (found, reason)


EXCUSED = {
    "nanogpt/modded-nan-run.txt": "only the numbers fail; the log just ends",
    "speechbrain/log-interrupted-crlf.txt": "a second run in the same file was interrupted",
}
"""Logs whose labelled outcome events alone cannot tell, with the reason."""


def last_progress(lines: list[str], events: list[Event]) -> int:
    """Line of the last record of metrics: a loss, or a bar that moved; not W&B's summary."""
    inside = {n for e in events for n in range(e.line, e.last_line + 1) if e.last_line > e.line}
    marks = ("loss", "it/s]", "s/it]", "acc", "reward", "rmse")
    return max(
        (
            number
            for number, line in enumerate(lines, 1)
            if number not in inside
            and not line.startswith("wandb:")
            and any(mark in line.lower() for mark in marks)
            and any(map(str.isdigit, line))
        ),
        default=0,
    )


def test_real_logs_fail_exactly_where_they_are_known_to(corpus: Path) -> None:
    wrong = {}
    for name, truth, lines in corpus_logs(corpus):
        events = read_events(lines)
        rows = last_progress(lines, events)
        if name == "yolo/yolox-train_log-oom.txt":
            rows = 0  # its tables of settings mention losses; no metric was ever logged
        found, reason = infer_state(EventLog(events), progress=Progress(last_row_line=rows))
        if (found is RunState.FAILED) != (truth["outcome"] == "failed"):
            wrong[name] = (truth["outcome"], found, reason)
    assert wrong.keys() == EXCUSED.keys(), wrong


def test_real_logs_that_say_they_finished_did(corpus: Path) -> None:
    finished = []
    for name, truth, lines in corpus_logs(corpus):
        events = read_events(lines)
        rows = last_progress(lines, events)
        found, _ = infer_state(EventLog(events), progress=Progress(last_row_line=rows))
        if found is RunState.FINISHED:
            finished.append(name)
            assert truth["outcome"] == "completed", name
    assert len(finished) >= 9


def test_an_empty_file_beside_a_log_says_nothing_about_the_run(tmp_path: Path) -> None:
    log, errors = tmp_path / "train.out", tmp_path / "train.err"
    log.write_text("step 1 loss 2.0\nTraining completed successfully.\n")
    errors.touch()
    run = Run("train")
    for path in (log, errors):
        read_file(run, str(path))
    assert run_state(run)[0] is RunState.FINISHED
