"""Which process died first, how, and of what."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Severity
from tests.analyzers.distributed.told import alarms, cause, finding, severity, tell

CLOSING = (
    "W0101 10:00:00.000000 100 torch/distributed/elastic/multiprocessing/api.py:897] "
    "Sending process 101 closing signal SIGTERM"
)


def torchrun(rank: int, code: int, said: str) -> list[str]:
    """The table that torchrun prints."""
    return [
        CLOSING,
        "Traceback (most recent call last):",
        '  File "/usr/bin/torchrun", line 8, in <module>',
        "    sys.exit(main())",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "=" * 60,
        "train.py FAILED",
        "-" * 60,
        "Failures:",
        "  <NO_OTHER_FAILURES>",
        "-" * 60,
        "Root Cause (first observed failure):",
        "[0]:",
        "  time      : 2024-01-01_10:00:00",
        "  host      : n17",
        f"  rank      : {rank} (local_rank: {rank})",
        f"  exitcode  : {code} (pid: 102)",
        "  error_file: <N/A>",
        f"  traceback : {said}",
        "=" * 60,
    ]


@pytest.mark.parametrize(
    ("code", "signal", "weight"),
    [
        (-6, "SIGABRT", Severity.CRITICAL),
        (-7, "SIGBUS", Severity.CRITICAL),
        (-9, "SIGKILL", Severity.CRITICAL),
        (-11, "SIGSEGV", Severity.CRITICAL),
        (-15, "SIGTERM", Severity.WARNING),
    ],
)
def test_the_first_rank_of_torchrun_and_its_signal(
    code: int, signal: str, weight: Severity
) -> None:
    told = tell(*torchrun(3, code, f"Signal {-code} ({signal}) received by PID 102"))
    found = finding(told, "rank_failure")
    assert found.title.startswith("rank 3 on n17 died first")
    assert signal in found.title
    assert found.severity is weight
    assert found.details["node"] == "n17"


def test_the_rank_s_own_error_comes_with_it_and_is_the_graver_finding() -> None:
    own = [
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/w/train.py", line 30, in main',
        "[rank1]:     raise ValueError('bad thing')",
        "[rank1]: ValueError: bad thing",
    ]
    told = tell(*own, *torchrun(1, 1, "To enable traceback see: x"))
    found = finding(told, "rank_failure")
    assert found.title.endswith("ValueError: bad thing")
    assert found.severity is Severity.WARNING
    assert told.findings[0].id == "exception"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["srun: error: n3: task 5: Segmentation fault (core dumped)"], "task 5 on n3"),
        (["srun: error: n3: task 5: Exited with exit code 1"], "exit code 1"),
        (
            ["torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal "
             "SIGSEGV"],
            "rank 1 died first with SIGSEGV",
        ),
        (
            ["[2024-01-01 00:00:00,123] [ERROR] [launch.py:321:sigkill_handler] ['python', "
             "'-u', 'train.py', '--local_rank=3'] exits with return code = -9"],
            "local rank 3 died first with exit code -9 (SIGKILL)",
        ),
        (
            ["mpirun noticed that process rank 3 with PID 12345 on node n1 exited on signal 11."],
            "rank 3 on n1 died first with SIGSEGV",
        ),
        (
            ["=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
             "=   RANK 3 PID 1234 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)"],
            "rank 3 on n1 died first with SIGKILL",
        ),
        (["MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD"], "rank 2"),
        (["ray.exceptions.RayActorError: The actor died unexpectedly before finishing."], "actor"),
        (["ray.exceptions.WorkerCrashedError: The worker died unexpectedly."], "worker died"),
        (["subprocess.CalledProcessError: Command '['python']' died with <Signals.SIGKILL: 9>."],
         "SIGKILL"),
        (["Segmentation fault (core dumped)"], "SIGSEGV"),
        (["Horovod has been shut down. This was caused by an exception on one of the ranks"],
         "Horovod"),
    ],
)  # fmt: skip
def test_launchers_of_all_kinds_are_understood(lines: list[str], words: str) -> None:
    told = tell(*lines)
    assert severity(told, "rank_failure") is Severity.CRITICAL
    assert words in finding(told, "rank_failure").title
    assert finding(told, "rank_failure").first_step == 39


@pytest.mark.parametrize(
    "lines",
    [
        [CLOSING],
        ["srun: Job step aborted: Waiting up to 32 seconds for job step to finish."],
        ["slurmstepd: error: *** STEP 1.0 ON n2 CANCELLED AT 2024-01-01 DUE TO TASK FAILURE ***"],
        ["n1:12:34 [0] NCCL INFO Connected all rings", "Training completed"],
        ["ECC errors: 0", "Training completed"],
    ],
)
def test_effects_and_good_news_are_no_failure(lines: list[str]) -> None:
    assert alarms(tell(*lines)) == set()


def test_what_happens_after_a_time_limit_is_information() -> None:
    limit = (
        "slurmstepd: error: *** JOB 4 ON n7 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME LIMIT ***"
    )
    told = tell(limit, "srun: error: n7: tasks 0-3: Terminated", *torchrun(0, -15, "Signal 15"))
    assert alarms(told) == {"slurm_timeout"}
    assert severity(told, "rank_failure") is Severity.INFO


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.", 79),
        ("kernel: [12.3] NVRM: Xid (PCI:0000:10:1c): 48, pid=12, DBE (double bit error)", 48),
        ("NVRM: Xid (PCI:0000:10:1c): 94, pid=12, Contained ECC error", 94),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", 0),
        ("Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.", 0),
        ("NVLink error detected on GPU 3", 0),
        ("cudaErrorECCUncorrectable", 0),
    ],
)
def test_broken_hardware_is_stated_by_the_driver(line: str, code: int) -> None:
    told = tell(line)
    assert severity(told, "rank_failure") is Severity.CRITICAL
    best = told.root_causes[0]
    assert best.id == "hardware_fault"
    assert best.confidence > 0.85
    assert not code or f"Xid {code}" in best.issue


@pytest.mark.parametrize("code", [13, 31, 43])
def test_driver_codes_of_program_errors_are_not_blamed_on_the_hardware(code: int) -> None:
    told = tell(f"NVRM: Xid (PCI:0000:3b:00): {code}, pid=12, Graphics Exception")
    assert severity(told, "rank_failure") is Severity.CRITICAL
    assert all(c.confidence < 0.3 for c in told.root_causes if c.id == "hardware_fault")


def test_an_illegal_access_is_a_failure_whose_cause_is_open() -> None:
    told = tell("RuntimeError: CUDA error: an illegal memory access was encountered")
    assert severity(told, "rank_failure") is Severity.CRITICAL
    fault = cause(told, "hardware_fault")
    assert fault.confidence < 0.4
    assert "CUDA_LAUNCH_BLOCKING=1" in fault.fixes[0].example


def test_an_assertion_on_the_device_is_not_taken_for_an_illegal_access() -> None:
    told = tell(
        "Loss.cu:242: nll_loss: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0` failed.",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
    )
    assert severity(told, "rank_failure") is None


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ("RuntimeError: NCCL error in: ../ProcessGroupNCCL.cpp:825, unhandled system error, NCCL "
         "version 2.7.8", 0.8),
        ("RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by "
         "peer [10.0.0.1]:5432", 0.2),
        ("ncclRemoteError: A call failed possibly due to a network error or a remote process "
         "exiting prematurely.", 0.2),
        ("horovod.common.exceptions.HorovodInternalError: HorovodAllreduce failed", 0.4),
    ],
)  # fmt: skip
def test_failed_communication_is_as_sure_as_its_message(line: str, confidence: float) -> None:
    told = tell(line)
    assert severity(told, "rank_failure") is Severity.CRITICAL
    best = cause(told, "communication_failure")
    assert best.confidence >= confidence
    assert confidence > 0.5 or best.confidence < 0.7


def test_a_taken_port_gets_another_one() -> None:
    said = (
        "The server socket has failed to bind to [::]:29511 (errno: 98 - Address already in use)."
    )
    told = tell(f"RuntimeError: {said}")
    assert severity(told, "rank_failure") is None
    assert severity(told, "config_error") is Severity.CRITICAL
    assert "29511" in cause(told, "bad_config").fixes[0].change
    assert not [one for one in told.root_causes if one.id == "communication_failure"]


def test_a_peer_that_closes_the_connection_after_an_error_adds_nothing() -> None:
    told = tell(
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 30, in main',
        "    y = model(x)",
        "ValueError: bad thing",
        "RuntimeError: [gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.1]:5432",
    )
    assert severity(told, "rank_failure") is None


def test_workers_that_were_restarted_are_no_alarm() -> None:
    more = [f"step {step} | loss 0.5 | lr 1e-4" for step in range(38, 60)]
    lines = torchrun(1, -9, "Signal 9 (SIGKILL) received by PID 102")
    assert alarms(tell(*lines, *more)) == set()


CHILD = (
    "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: {}) local_rank: 0 "
    "(pid: 33) of binary: /usr/bin/python"
)


@pytest.mark.parametrize(
    ("code", "first", "most"),
    [
        (1, "code_bug", 0.3),
        (-6, "code_bug", 0.3),
        (-11, "code_bug", 0.3),
        (-9, "host_memory_limit", 0.5),
    ],
)
def test_an_exit_code_alone_gives_a_doubtful_cause_and_a_request(
    code: int, first: str, most: float
) -> None:
    told = tell(
        "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 34 closing signal "
        "SIGTERM",
        CHILD.format(code),
    )
    assert severity(told, "rank_failure") is Severity.CRITICAL
    assert finding(told, "rank_failure").evidence[0].quote == CHILD.format(code)
    assert told.root_causes[0].id == first
    assert 0.05 < told.root_causes[0].confidence <= most
    asked = " ".join(told.root_causes[0].requests)
    assert ("sacct" if code == -9 else "the output of local rank 0 itself") in asked


def test_a_kill_after_the_launcher_was_told_to_stop_is_no_lack_of_memory() -> None:
    told = tell(
        "W0409 07:28:49.530000 13 torch/distributed/elastic/agent/server/api.py:719] Received 15 "
        "death signal, shutting down workers",
        CHILD.format(-9),
    )
    assert all(one.id != "host_memory_limit" for one in told.root_causes)


def test_the_reason_that_nccl_names_is_quoted() -> None:
    told = tell(
        "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process "
        "exited or there was a network error, NCCL version 2.21.5",
        "ncclRemoteError: A call failed possibly due to a network error.",
        "Last error:",
        "socketProgressOpt: Call to recv from 10.0.0.3<33759> failed : Connection reset by peer",
    )
    quotes = [one.quote for one in finding(told, "rank_failure").evidence]
    assert any(str(quote).startswith("socketProgressOpt: Call to recv") for quote in quotes)


def test_how_a_rank_ended_is_quoted_from_the_table() -> None:
    told = tell(
        "Traceback (most recent call last):",
        '  File "/usr/bin/torchrun", line 8, in <module>',
        "    sys.exit(main())",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "==================================",
        "train.py FAILED",
        "----------------------------------",
        "Failures:",
        "  <NO_OTHER_FAILURES>",
        "----------------------------------",
        "Root Cause (first observed failure):",
        "[0]:",
        "  host      : n1",
        "  rank      : 2 (local_rank: 2)",
        "  exitcode  : -11 (pid: 77)",
        "  error_file: <N/A>",
        "  traceback : Signal 11 (SIGSEGV) received by PID 77",
        "==================================",
    )
    quotes = [one.quote for one in finding(told, "rank_failure").evidence]
    assert quotes[:2] == [
        "exitcode  : -11 (pid: 77)",
        "traceback : Signal 11 (SIGSEGV) received by PID 77",
    ]


def test_a_lost_connection_is_not_blamed_on_the_code() -> None:
    told = tell(
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 30, in main',
        "    dist.barrier()",
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
    )
    assert told.root_causes[0].id == "communication_failure"
