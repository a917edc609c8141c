"""The failure that is named is that of the last run in the file, and only true things are said."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.failure import first_failure, message_line
from mltd.runs.state import RunState
from mltd.runs.summary import run_state
from tests.analyzers.errors.told_log import run_of, traceback, view_of

CAUGHT = """\
Traceback (most recent call last):
  File "/home/ada/tracker.py", line 12, in login
    session.get(url)
ConnectionError: api.example.org: name or service not known
"""
OTHER = traceback("KeyError: 'lr'")
CRASH = traceback("ValueError: bad batch 17")
SETUP = "".join(f"loading shard {number} of the corpus\n" for number in range(60))
STEPS = "".join(f"step {number} loss {2.5 - number / 100:.4f}\n" for number in range(1, 40))
TEARDOWN = "".join(f"closing worker {number}: its queue is empty\n" for number in range(300))


def line_of(text: str, wanted: str) -> int:
    return text[: text.rindex(wanted)].count("\n") + 1


def reason_of(text: str) -> tuple[RunState, str]:
    return run_state(run_of(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CAUGHT + SETUP + CRASH, id="caught, then text, then the crash"),
        pytest.param(CAUGHT + STEPS + CRASH, id="caught, then training, then the crash"),
        pytest.param(OTHER + SETUP + CRASH, id="two launches, both crashed"),
        pytest.param(CAUGHT + SETUP + OTHER + SETUP + CRASH, id="caught, crashed, crashed again"),
        pytest.param(CRASH + SETUP + OTHER + SETUP + CRASH, id="the first crash once more"),
        pytest.param(SETUP + CRASH, id="one crash, the last word"),
        pytest.param(CRASH, id="nothing but the crash"),
    ],
)
def test_the_last_crash_is_the_failure(text: str) -> None:
    state, reason = reason_of(text)
    begun = line_of(text, "Traceback")
    assert state is RunState.FAILED
    assert reason.startswith(f"ValueError: bad batch 17 (line {begun})")
    assert reason.endswith(", and nothing was logged after it")
    first = first_failure(view_of(text))
    assert first is not None
    assert first.event.title == "ValueError: bad batch 17", "findings name the same failure"
    assert message_line(first.event) == text.count("\n")


def test_teardown_after_a_crash_is_counted_not_denied() -> None:
    state, reason = reason_of(STEPS + CRASH + TEARDOWN)
    assert state is RunState.FAILED
    assert reason.startswith("ValueError: bad batch 17 (line 40) after step 39")
    assert reason.endswith(", followed by 300 lines without a training step")


def test_one_line_after_a_crash_is_not_nothing() -> None:
    assert reason_of(CRASH + "bye\n")[1].endswith(", followed by 1 line without a training step")


def test_teardown_errors_do_not_replace_the_crash() -> None:
    text = STEPS + CRASH + CAUGHT
    assert reason_of(text)[1].startswith("ValueError: bad batch 17 (line 40)")
    first = first_failure(view_of(text))
    assert first is not None
    assert first.event.title == "ValueError: bad batch 17"


@pytest.mark.parametrize("after", [STEPS, SETUP * 4], ids=["steps", "text"])
def test_a_caught_exception_after_which_the_run_went_on_is_no_failure(after: str) -> None:
    text = CAUGHT + after
    assert reason_of(text)[0] is not RunState.FAILED
    assert first_failure(view_of(text)) is None


def test_steps_of_an_earlier_attempt_are_not_counted_to_the_last() -> None:
    reason = reason_of(STEPS + OTHER + SETUP + CRASH)[1]
    assert "after step" not in reason


def test_a_launch_that_failed_at_once_is_newer_than_the_crash_before_it() -> None:
    usage = "python: can't open file 'train.py': [Errno 2] No such file or directory\n"
    text = STEPS + CRASH + SETUP[:400] + usage
    assert "can't open file" in reason_of(text)[1]
    first = first_failure(view_of(text))
    assert first is not None
    assert "can't open file" in first.event.title
