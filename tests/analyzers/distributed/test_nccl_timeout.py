"""Collectives that timed out: who waited, who did not come, and why."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import PlacedEvent
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.distributed.collectives import Wait, behind, mixed_operations
from mltd.runs.event import Event, EventKind
from mltd.runs.run import SourceFile
from tests.analyzers.distributed.told import STEPS, alarms, cause, finding, severity, tell
from tests.analyzers.made import read_log


def watchdog(rank: int, sequence: int = 512, operation: str = "ALLREDUCE") -> str:
    """What the watchdog of one rank says."""
    return (
        f"[rank{rank}]:[E1120 10:00:00.1 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught "
        f"collective operation timeout: WorkNCCL(SeqNum={sequence}, OpType={operation}, NumelIn=1, "
        "NumelOut=1, Timeout(ms)=600000) ran for 600027 milliseconds before timing out."
    )


@pytest.mark.parametrize(
    "line",
    [
        watchdog(2),
        "[E ProcessGroupNCCL.cpp:485] [Rank 6] Watchdog caught collective operation timeout: "
        "WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1802246 milliseconds before "
        "timing out.",
        "[rank1]:[E1120 10:00:00.1 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(d) Rank 1] "
        "Exception (either an error or timeout) detected by watchdog at work: 5, last enqueued "
        "NCCL work: 5, last completed NCCL work: 4.",
        "[rank1]:[E1120 10:00:00.1 ProcessGroupNCCL.cpp:681] [Rank 1] Some NCCL operations have "
        "failed or timed out. Due to the asynchronous nature of CUDA kernels",
        "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] "
        "Timed out waiting 1800000ms for recv operation to complete",
        "RuntimeError: [Rank 0]: Ranks 1 failed to pass monitoredBarrier in 10000 ms",
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 3/4 "
        "clients joined.",
        "torch.distributed.DistNetworkError: The client socket has timed out after 60s while "
        "trying to connect to (10.0.0.1, 29500).",
        "RuntimeError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
        "via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout",
        "RuntimeError: HCCL function error: HcclAllReduce. EI0002: The wait execution of the "
        "Notify register times out",
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: x",
    ],
)
def test_timeouts_of_all_libraries_are_found(line: str) -> None:
    told = tell(line)
    assert alarms(told) == {"nccl_timeout"}
    assert severity(told, "nccl_timeout") is Severity.CRITICAL
    assert told.root_causes[0].id in ("deadlock", "communication_failure")


@pytest.mark.parametrize(
    "line",
    [
        "NCCL version 2.29.7+cuda13.1",
        "[rank0]:[W1120 10:00:00.1 ProcessGroupNCCL.cpp:1496] Warning: WARNING: "
        "destroy_process_group() was not called before program exit",
        "init_process_group(backend='nccl', timeout=timedelta(seconds=1800))",
        "nccl_timeout: 1800",
        "ddp_timeout=1800,",
    ],
)
def test_settings_and_warnings_are_no_timeout(line: str) -> None:
    assert alarms(tell(line, "Training completed")) == set()


def test_many_ranks_are_one_finding_that_names_who_is_missing() -> None:
    told = tell(*(watchdog(rank) for rank in (1, 2, 3)))
    found = finding(told, "nccl_timeout")
    assert "ALLREDUCE number 512 timed out after 10 min" in found.title
    assert "waited: 1, 2, 3" in found.title
    assert "not heard of: rank 0" in found.title
    assert cause(told, "deadlock").issue.startswith("rank 0 did not come")


def test_the_number_of_ranks_is_taken_from_the_settings() -> None:
    run = read_log(STEPS + "\n".join(watchdog(rank) for rank in (0, 1, 2)) + "\n")
    run.add_config({"world_size": 4})
    assert "not heard of: rank 3" in finding(diagnose(run), "nccl_timeout").title


def test_the_first_collective_speaks_for_the_network() -> None:
    told = tell(watchdog(0, 1, "ALLGATHER"), watchdog(1, 1, "ALLGATHER"), steps="")
    assert "while setting up" in finding(told, "nccl_timeout").title
    assert told.root_causes[0].id == "communication_failure"


def test_a_timeout_while_saving_speaks_for_a_rank_that_is_busy() -> None:
    told = tell("Saving model checkpoint to out/ckpt-39", watchdog(1))
    assert "while saving a checkpoint" in finding(told, "nccl_timeout").title
    best = told.root_causes[0]
    assert best.id == "deadlock"
    assert "process-group timeout 10 min ->" in best.fixes[0].change


def test_a_rendezvous_that_cannot_connect_is_stated() -> None:
    said = "The client socket has timed out after 60s while trying to connect to (n1, 29500)."
    told = tell(f"torch.distributed.DistNetworkError: {said}", steps="")
    assert cause(told, "communication_failure").confidence > 0.8
    assert told.status == "diagnosis_complete"


def test_different_collectives_under_one_number_are_a_deadlock() -> None:
    told = tell(watchdog(0, 512, "ALLREDUCE"), watchdog(1, 512, "BROADCAST"))
    assert told.root_causes[0].id == "deadlock"
    assert told.root_causes[0].confidence > 0.6


def test_a_mismatch_that_the_library_detects_is_stated() -> None:
    told = tell("RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running x")
    assert cause(told, "deadlock").confidence > 0.85


def test_who_waits_after_another_s_error_is_information() -> None:
    told = tell(
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/w/train.py", line 40, in <module>',
        "[rank1]:     y = model(x)",
        "[rank1]: ValueError: bad thing",
        watchdog(0),
    )
    assert severity(told, "nccl_timeout") is Severity.INFO
    assert "ValueError" in finding(told, "nccl_timeout").evidence[0].quote


def test_a_process_that_its_watchdog_took_down_is_no_second_alarm() -> None:
    told = tell(
        watchdog(2),
        "[rank2]:[E1120 10:00:00.1 ProcessGroupNCCL.cpp:636] [Rank 2] To avoid data inconsistency, "
        "we are taking the entire process down.",
        "E1120 10:00:01.100000 100 torch/distributed/elastic/multiprocessing/api.py:869] failed "
        "(exitcode: -6) local_rank: 2 (pid: 102) of binary: /usr/bin/python",
    )
    assert alarms(told) == {"nccl_timeout"}


def test_a_slow_horovod_operation_that_came_through_is_no_alarm() -> None:
    told = tell(
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of "
        "ranks and are waiting for remainder of ranks for more than 60 seconds.",
        "step 40 | loss 0.4 | lr 1e-4",
        "Training completed",
    )
    assert alarms(told) == set()


def waiting(rank: int, sequence: int, operation: str = "ALLREDUCE") -> Wait:
    """A rank that waits in a collective."""
    event = Event(EventKind.NCCL, "x", 1, ranks=(rank,))
    return Wait(PlacedEvent(SourceFile("x"), event), True, True, operation, sequence)


def test_the_rank_with_the_lowest_number_is_behind() -> None:
    assert behind([waiting(0, 9), waiting(1, 9), waiting(2, 7)]) == ((2,), 7, 9)
    assert behind([waiting(0, 9), waiting(1, 9)]) is None


def test_operations_are_compared_under_the_same_number_only() -> None:
    assert mixed_operations([waiting(0, 9), waiting(1, 8, "BROADCAST")]) is None
    assert mixed_operations([waiting(0, 9), waiting(1, 9, "BROADCAST")]) is not None


def test_a_horovod_operation_that_still_waits_is_a_warning() -> None:
    told = tell(
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of "
        "ranks and are waiting for remainder of ranks for more than 60 seconds.",
        "Stalled ops:",
        "HorovodBroadcast_weights_0 [missing ranks: 0]",
    )
    assert severity(told, "nccl_timeout") is Severity.WARNING
    assert told.root_causes[0].id == "deadlock"
