"""Which event ended a run first, however many followed from it."""

from __future__ import annotations

from mltd.analyzers.core.failure import (
    failure_evidence,
    first_failure,
    history,
    is_library,
    own_frame,
    raised,
    uncaught,
)
from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import diagnose

from .told_log import alarms, diagnosis_of, finding, run_of, traceback, view_of

TORCHRUN = """\
W0519 19:52:19.991000 15 torch/distributed/elastic/multiprocessing/api.py:1014] Sending process 16 closing signal SIGTERM
E0519 19:52:20.1 15 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: 18) of binary: /bin/python
"""  # noqa: E501 - as it is printed
WATCHDOG = (
    "[rank{0}]:[E1129 11:56:57.2 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=28, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600004 "
    "milliseconds before timing out.\n"
)


def labelled(text: str, rank: int) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def first_title(text: str) -> str:
    first = first_failure(view_of(text))
    return first.event.title if first is not None else ""


def test_a_ranks_own_exception_outranks_what_followed_from_it() -> None:
    own = labelled(traceback("ValueError: bad batch 17"), 3)
    assert first_title(WATCHDOG.format(0) + own + TORCHRUN) == "ValueError: bad batch 17"
    assert first_title(own + WATCHDOG.format(1) + TORCHRUN) == "ValueError: bad batch 17"


def test_the_earliest_of_two_causes_wins() -> None:
    late = "slurmstepd: error: *** JOB 4 ON n1 CANCELLED AT 2024-01-01 DUE TO TIME LIMIT ***\n"
    bug = traceback("ValueError: bad")
    assert first_title(bug + late) == "ValueError: bad"
    assert "TIME LIMIT" in first_title(late + bug)


def test_the_schedulers_reason_outranks_signals_and_interrupts() -> None:
    text = (
        "Received SIGTERM: 15\n"
        + traceback("KeyboardInterrupt")
        + "slurmstepd: error: *** JOB 4 ON n1 CANCELLED AT 2024-01-01 DUE TO PREEMPTION ***\n"
    )
    assert "PREEMPTION" in first_title(text)


def test_an_oom_kill_outranks_the_worker_that_died_of_it() -> None:
    text = (
        "RuntimeError: DataLoader worker (pid 8) is killed by signal: Killed.\n"
        "slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch. Some of the step tasks "
        "have been OOM Killed.\n"
    )
    assert "oom_kill" in first_title(text)


def test_a_failed_assertion_outranks_the_exception_that_reports_it() -> None:
    text = (
        traceback("RuntimeError: CUDA error: device-side assert triggered")
        + "Loss.cu:242: thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
    )
    assert first_title(text) == "Assertion failed: t >= 0 && t < n_classes"


def test_advice_is_no_failure() -> None:
    text = "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.\nstep 1 loss 2\n"
    assert first_failure(view_of(text)) is None


def test_what_was_overcome_is_no_failure() -> None:
    text = traceback("OSError: retry") + "".join(f"step {n} loss 2.{n}\n" for n in range(9))
    assert uncaught(view_of(text)) == []


def test_only_the_newest_attempt_counts() -> None:
    text = (
        traceback("ModuleNotFoundError: No module named 'apex'")
        + "starting\n" * 8
        + traceback("KeyError: 'lr'", "train.py:12 main()")
    )
    view = view_of(text)
    first = first_failure(view)
    assert first is not None
    assert first.event.exception == "KeyError"
    assert [placed.event.exception for placed in history(view)] == ["ModuleNotFoundError"]
    found = diagnosis_of(text)
    assert finding(found, "environment_error").severity is Severity.INFO
    assert "environment_error" not in alarms(found)


def test_ranks_that_fail_differently_are_one_attempt() -> None:
    text = (
        labelled(traceback("ValueError: a"), 0)
        + "x\n" * 9
        + labelled(traceback("KeyError: 'b'"), 1)
    )
    view = view_of(text)
    assert history(view) == []
    assert first_title(text) == "ValueError: a"


def test_times_tell_which_file_failed_first() -> None:
    run = run_of("2024-05-01 10:00:09,000 ERROR ValueError: late\n", "a.log")
    run_of("2024-05-01 10:00:01,000 ERROR KeyError: early\n", "b.log", run)
    first = first_failure(RunView(run))
    assert first is not None
    assert first.source.path == "b.log"


def test_a_warning_in_a_file_of_its_own_is_over_if_the_run_goes_on_in_another() -> None:
    warned = (
        "[W socket.cpp:697] [c10d] The client socket has timed out after 1s while trying to "
        "connect to (gpu12, 29500); retrying.\n"
    )
    assert "network_error" in alarms(diagnose(run_of(warned, "job.err")))
    run = run_of(warned, "job.err")
    run_of("".join(f"step {n} loss {2 * 0.97**n:.3f}\n" for n in range(60)), "job.out", run)
    assert "network_error" not in alarms(diagnose(run))


def test_the_root_of_a_chain_comes_first() -> None:
    text = (
        traceback("socket.gaierror: [Errno -2] Name or service not known")
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + traceback("OSError: Can't load tokenizer for 'x'")
    )
    view = view_of(text)
    first = first_failure(view)
    assert first is not None
    assert raised(first.event)[0][0] == "socket.gaierror"
    found = diagnosis_of(text)
    assert "network_error" in alarms(found)
    assert finding(found, "exception").title.startswith("gaierror: [Errno -2]")
    assert finding(found, "exception").evidence[0].ref == "x.log:4"


def test_the_exception_inside_a_worker_is_the_cause() -> None:
    text = (
        traceback("IndexError: Caught IndexError in DataLoader worker process 0.")
        + "Original Traceback (most recent call last):\n"
        + '  File "/home/me/data.py", line 7, in __getitem__\n    return self.rows[i]\n'
        + "IndexError: list index out of range\n"
    )
    found = diagnosis_of(text)
    assert "index_out_of_range" in alarms(found)
    assert "dataloader_worker_died" not in alarms(found)
    assert "data.py:7" in finding(found, "exception").title


def test_evidence_points_to_the_line_of_the_message() -> None:
    text = "step 1 loss 2\n" + traceback("ValueError: odd", "a.py:3 f()", "b.py:4 g()")
    first = first_failure(view_of(text))
    assert first is not None
    assert failure_evidence(first).ref == "x.log:7"
    assert failure_evidence(first).quote == "ValueError: odd"


def test_frames_of_libraries_are_not_the_users() -> None:
    text = traceback("ValueError: odd", "/me/a.py:3 f()", "/e/site-packages/x/b.py:4 g()")
    first = first_failure(view_of(text))
    assert first is not None
    frame = own_frame(first.event)
    assert frame is not None
    assert frame.file == "/me/a.py"
    assert is_library("/opt/conda/lib/python3.6/os.py")
    assert not is_library("/home/me/project/train.py")


def test_an_interrupt_by_hand_is_no_alarm() -> None:
    found = diagnosis_of("step 1 loss 2\n" + traceback("KeyboardInterrupt"))
    assert finding(found, "exception").severity is Severity.INFO
    assert "code_bug" not in [cause.id for cause in found.root_causes]


def test_an_exception_after_the_training_is_less_than_critical() -> None:
    text = "step 1 loss 2\nTraining completed\n" + "exporting\n" * 6 + traceback("KeyError: 'x'")
    assert finding(diagnosis_of(text), "exception").severity is Severity.WARNING


def test_a_crash_without_exception_is_reported() -> None:
    found = diagnosis_of("step 1 loss 2\nSegmentation fault (core dumped)\n")
    assert finding(found, "exception").severity is Severity.CRITICAL


def test_an_exception_that_memory_explains_is_no_bug() -> None:
    text = traceback("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB")
    found = diagnosis_of(text)
    assert "exception" in alarms(found)
    assert "code_bug" not in [cause.id for cause in found.root_causes]


def test_an_error_within_the_reader_of_checkpoints_is_that_of_the_file() -> None:
    text = (
        "step 1 loss 2.0\nTraceback (most recent call last):\n"
        '  File "/u/me/src/train.py", line 13, in <module>\n'
        "    net.load_state_dict(torch.load(path))\n"
        '  File "/opt/venv/lib/python3.11/site-packages/torch/serialization.py", line 807, in f\n'
        "    super().__init__(torch._C.PyTorchFileReader(name_or_buffer))\n"
        "OSError: [Errno 22] Invalid argument\n"
    )
    told = diagnosis_of(text)
    assert "checkpoint_mismatch" in alarms(told)
    assert told.root_causes[0].id == "incompatible_checkpoint"


def test_shared_memory_that_is_named_is_the_cause_of_a_dead_worker() -> None:
    text = (
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
        "shared memory (shm).\n"
    ) + traceback("RuntimeError: DataLoader worker (pid(s) 413) exited unexpectedly")
    assert diagnosis_of(text).root_causes[0].id == "host_memory_limit"
