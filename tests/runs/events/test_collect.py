"""Events of one or a few lines: what they are called and where they end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.event import EventKind
from mltd.runs.events import collect
from mltd.runs.events.rulebook import rules
from tests.runs.events.reading import only_event, read_events


@pytest.mark.parametrize(
    ("line", "kind", "title"),
    [
        (
            "slurmstepd: error: *** JOB 42221 ON c7 CANCELLED AT 2022-04-14T16:20:46"
            " DUE TO TIME LIMIT ***",
            EventKind.SCHEDULER,
            "Slurm cancelled job 42221: TIME LIMIT",
        ),
        (
            "7.00s/it]slurmstepd: error: *** JOB 258 ON gr015 CANCELLED AT 2022-10-13T04:10:12 ***",
            EventKind.SCHEDULER,
            "Slurm cancelled job 258, no reason given",
        ),
        (
            "TERM_OWNER: job killed by owner.",
            EventKind.SCHEDULER,
            "LSF TERM_OWNER: job killed by owner.",
        ),
        (
            "=>> PBS: job killed: walltime 3622 exceeded limit 3600",
            EventKind.SCHEDULER,
            "PBS killed the job: walltime 3622 exceeded limit 3600",
        ),
        ("Exited with exit code 143.", EventKind.SCHEDULER, "Exited with exit code 143."),
        (
            "# Ended (code 0) at Tue Oct 20 06:04:46 EDT 2015",
            EventKind.FINISHED,
            "# Ended (code 0) at Tue Oct 20 06:04:46 EDT 2015",
        ),
        (
            "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)",
            EventKind.SIGNAL,
            "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)",
        ),
        (
            "/job42/slurm_script: line 12: 12345 Killed                  python train.py",
            EventKind.SIGNAL,
            "Killed: python train.py",
        ),
        (
            "W0519 19:52:19.99 15 api.py:1014] Sending process 1568804 closing signal SIGTERM",
            EventKind.SIGNAL,
            "Sending process 1568804 closing signal SIGTERM",
        ),
        (
            "2023/06/05 20:17:45 - mmengine - INFO - The best checkpoint with 0.3175 PCK at 10"
            " epoch is saved to best_PCK_epoch_10.pth.",
            EventKind.CHECKPOINT,
            "Checkpoint saved: best_PCK_epoch_10.pth",
        ),
        ("INFO Saved model!", EventKind.CHECKPOINT, "Checkpoint saved"),
        (
            "[WARNING|logging.py:305] 2023-10-19 09:44:55,318 >> `use_cache=True` is incompatible",
            EventKind.WARNING,
            "`use_cache=True` is incompatible",
        ),
        ("WARNING:root:disk nearly full", EventKind.WARNING, "disk nearly full"),
        (
            "2021-12-07 14:05:08.984 | ERROR    | yolox.core.launch:launch:68 - cannot go on",
            EventKind.ERROR,
            "cannot go on",
        ),
        (
            "[2024-01-01 10:00:00] ERROR: torch.DistError: NCCL broke",
            EventKind.NCCL,
            "torch.DistError: NCCL broke",
        ),
        (
            "===== Evaluate epoch 3 on Dev Set =====",
            EventKind.EVALUATION,
            "Evaluate epoch 3 on Dev Set",
        ),
        (
            'Resuming from "/x/snapshot-000200.pkl"',
            EventKind.RESTART,
            "Resumed: /x/snapshot-000200.pkl",
        ),
    ],
)
def test_a_line_says_what_happened(line: str, kind: EventKind, title: str) -> None:
    event = only_event(line)
    assert (event.kind, event.title) == (kind, title)
    assert event.text == line.strip()
    assert (event.line, event.last_line) == (1, 1)


def test_a_checkpoint_knows_its_path() -> None:
    line = "Saved checkpoint out/last.pt (epoch 1 @ 479 updates, score 6.389)"
    assert only_event(line).message == "out/last.pt"


def test_titles_come_from_the_line_itself() -> None:
    lines = [f"WARNING: overflow detected, setting loss scale to: {scale}" for scale in (4.0, 2.0)]
    assert [event.title[-3:] for event in read_events(lines)] == ["4.0", "2.0"]


def test_the_rank_is_read_from_the_label_or_the_message() -> None:
    assert only_event("[rank: 3] Received SIGTERM: 15").ranks == (3,)
    message = "[E ProcessGroupNCCL.cpp:737] [Rank 5] Watchdog caught collective operation timeout:"
    assert only_event(message + " WorkNCCL(SeqNum=4, OpType=ALLREDUCE)").ranks == (5,)


def test_a_python_warning_takes_its_source_line_along() -> None:
    lines = ["/a/b.py:12: UserWarning: std(): degrees of freedom is <= 0.", "  r.std()", "loss 3"]
    (event,) = read_events(lines)
    assert event.title == "UserWarning: std(): degrees of freedom is <= 0."
    assert (event.exception, event.last_line) == ("UserWarning", 2)
    assert event.text == "\n".join(lines[:2])


def test_a_warning_may_have_its_text_below() -> None:
    lines = [
        "/a/cpp_extension.py:283: UserWarning:",
        "",
        "   !! WARNING !!",
        "Your compiler is old",
    ]
    (event,) = read_events([*lines, "  warnings.warn(MESSAGE)", "iteration 10"])
    assert event.title == "UserWarning: WARNING Your compiler is old"
    assert event.last_line == 5


def test_a_metric_below_a_warning_is_not_its_source() -> None:
    (event,) = read_events(["a.py:1: UserWarning: x", "  4%|▍ | 17/387 [05:25<1:57, 19.13s/it]"])
    assert event.last_line == 1


def test_an_ignored_exception_is_only_a_warning() -> None:
    lines = [
        "Exception ignored in: <function Loader.__del__ at 0x7f2c>",
        "Traceback (most recent call last):",
        '  File "loader.py", line 3, in __del__',
        "    self.close()",
        "AssertionError: can only test a child process",
        "step 3",
    ]
    (event,) = read_events(lines)
    assert (event.kind, event.last_line) == (EventKind.WARNING, 5)


def test_a_crash_in_c_plus_plus_is_read_with_its_frames() -> None:
    lines = [
        "[rank0]:terminate called after throwing an instance of 'c10::DistBackendError'",
        "[rank0]:  what():  [PG ID 0 Rank 0] NCCL watchdog thread terminated: ncclSystemError",
        "[rank0]:Exception raised from query at CUDAEvent.h:111 (most recent call first):",
        "[rank0]:frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x98",
        "[rank0]:",
        "[rank0]:frame #1: <unknown function> + 0x48e14",
        "step: 4 loss: 3",
    ]
    (event,) = read_events(lines)
    assert (event.kind, event.exception) == (EventKind.NCCL, "c10::DistBackendError")
    assert (event.ranks, event.last_line) == ((0,), 6)


def test_the_fault_handler_lists_the_crashed_thread() -> None:
    lines = [
        "Fatal Python error: Segmentation fault",
        "",
        "Thread 0x00007f0ee7bff640 (most recent call first):",
        '  File "threading.py", line 1012 in run',
        "",
        "Current thread 0x00007f0efdffb640 (most recent call first):",
        '  File "inner.py", line 7 in crash',
        '  File "outer.py", line 3 in main',
        "",
        "Extension modules: numpy.core (total: 1)",
        "Segmentation fault (core dumped)",
    ]
    dump, shell = read_events(lines)
    assert dump.title == "Fatal Python error: Segmentation fault"
    assert [frame.function for frame in dump.frames] == ["main", "crash"]
    assert dump.last_line == 10
    assert shell.kind is EventKind.SIGNAL


def test_commands_echoed_by_the_shell_did_not_happen() -> None:
    assert read_events(["++ echo Training completed", "+ Killed"]) == []


def test_a_line_that_no_rule_takes_gives_nothing() -> None:
    collected = collect(["loss 3"], 0, final=True)
    assert collected is not None
    assert (collected.events, collected.next_index) == ((), 1)


@pytest.mark.parametrize(
    "line", ["a.py:1: UserWarning: x", "Traceback (most recent call last):", "ERROR: x happened"]
)
def test_more_lines_are_asked_for_only_when_more_may_come(line: str) -> None:
    assert collect([line], 0, final=False) is None
    assert collect([line], 0, final=True) is not None


EXAMPLES = [line for rule in rules() for line in rule.examples]
PARTS = [
    *EXAMPLES,
    "",
    "  indented",
    '  File "a.py", line 3, in f',
    "    code()",
    "ValueError: x",
    "During handling of the above exception, another exception occurred:",
    "Original Traceback (most recent call last):",
    "==========",
    "step 3 loss 4.5",
    "[rank1]: x",
    "  | ValueError: 1",
    "what(): boom",
    "Thread 0x1 (most recent call first):",
]
LINES = st.lists(
    st.one_of(
        st.sampled_from(PARTS),
        st.text(max_size=40),
        st.builds("[rank{}]: {}".format, st.integers(0, 3), st.sampled_from(PARTS)),
    ),
    max_size=40,
)


@given(LINES, st.lists(st.integers(0, 40), max_size=4))
def test_any_lines_give_the_same_events_in_any_pieces(lines: list[str], cuts: list[int]) -> None:
    whole = read_events(lines)
    assert read_events(lines, cuts=[cut for cut in cuts if cut <= len(lines)]) == whole
    assert all(1 <= event.line <= event.last_line <= len(lines) for event in whole)
    assert all(event.title and "\n" not in event.title for event in whole)


def test_what_could_not_be_logged_is_no_failure() -> None:
    """Python prints a traceback and goes on."""
    text = """\
--- Logging error ---
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 377, in getMessage
    msg = msg % self.args
          ~~~~^~~~~~~~~~~
TypeError: not all arguments converted during string formatting
Call stack:
  File "/home/me/train.py", line 92, in main
    logger.warning("slow", FutureWarning)
Message: 'slow'
Arguments: (<class 'FutureWarning'>,)
step 3 loss 1.8
"""
    event = only_event(text)
    assert (event.kind, event.line, event.last_line) == (EventKind.WARNING, 1, 11)


def test_an_exception_may_be_named_on_one_line_and_told_on_the_next() -> None:
    event = only_event("Exception has occurred: XlaRuntimeError\nINTERNAL: no library was found")
    assert (event.exception, event.message) == ("XlaRuntimeError", "INTERNAL: no library was found")
    assert (event.line, event.last_line) == (1, 2)


def test_the_status_below_a_fatal_line_belongs_to_it() -> None:
    event = only_event(
        "2025-04-23 20:35:34.61: F external/xla/tuner.cc:109] Non-OK-status: executable.status()\n"
        "Status: INTERNAL: ptxas exited with non-zero error code 139"
    )
    assert event.message.endswith("Status: INTERNAL: ptxas exited with non-zero error code 139")
    assert event.last_line == 2
