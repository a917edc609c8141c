"""What Dask and Prefect say about processes that they lead: counted, named, and not overrated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.core.view import RunView
from mltd.analyzers.distributed.dask_workers import workers
from mltd.analyzers.distributed.prefect_runs import flow_end
from mltd.runs.event import Event, EventKind
from tests.analyzers.distributed.told import cause, finding, severity, tell
from tests.analyzers.made import read_log

STAMP = "2025-06-09 17:07:00,242 - "
BUDGET = (
    STAMP + "distributed.nanny.memory - WARNING - Worker tcp://10.0.0.{n}:41233 (pid=77{n}) "
    "exceeded 95% memory budget. Restarting..."
)
KILLED = STAMP + "distributed.nanny - WARNING - Worker process 77{n} was killed by signal {signal}"
LOST = (
    STAMP + "distributed.scheduler - WARNING - Removing worker 'tcp://10.0.0.{n}:41233' caused the "
    "cluster to lose already computed task(s), which will be recomputed elsewhere: {'sum-{n}'} "
    "(stimulus_id='handle-worker-cleanup-1.{n}')"
)
SILENT = (
    STAMP + "distributed.scheduler - WARNING - Worker failed to heartbeat for 30{n}s; attempting "
    "restart: <WorkerState 'tcp://10.0.0.{n}:41233', name: SLURMCluster-{n}, status: running>"
)
GIVEN_UP = (
    STAMP + "distributed.scheduler - ERROR - Task fit-7 marked as failed because 4 workers died "
    "while trying to run it"
)
EXCEPTION = (
    "distributed.scheduler.KilledWorker: Attempted to run task 'fit-7' on 4 different workers, but "
    "all those workers died while running it. The last worker that attempt to run the task was "
    "tcp://10.0.0.4:41233. Inspecting worker logs is often a good next step."
)


def said(line: str, count: int, **more: object) -> list[str]:
    filled = [line.replace("{n}", str(n)) for n in range(1, count + 1)]
    for key, value in more.items():
        filled = [text.replace(f"{{{key}}}", str(value)) for text in filled]
    return filled


def test_workers_over_their_memory_are_counted_named_and_explained() -> None:
    told = tell(*said(BUDGET, 4), GIVEN_UP)
    found = finding(told, "orchestration_error")
    assert found.title == (
        "4 Dask workers were lost since step 39 over their memory budget, the first was "
        "tcp://10.0.0.1:41233; task fit-7 was given up"
    )
    assert found.severity is Severity.WARNING
    assert found.first_step == 39
    assert found.evidence[0].ref == "train.log:40"
    assert found.evidence[0].quote.endswith("(4 times)")
    best = cause(told, "host_memory_limit")
    assert best.issue == "a Dask worker needs more memory than it may use"
    assert "SLURMCluster(" in best.fixes[0].example
    assert told.root_causes[0].id == "host_memory_limit"


def test_a_task_that_was_given_up_is_named_with_its_last_worker() -> None:
    found = finding(tell(EXCEPTION), "orchestration_error")
    assert found.title == (
        "Dask workers died at step 39, the last was tcp://10.0.0.4:41233; task fit-7 was given up"
    )
    assert found.is_alarm


def test_an_old_release_s_killed_worker_is_read_too() -> None:
    line = "distributed.scheduler.KilledWorker: ('fit-7', <WorkerState 'tcp://10.0.0.4:41233', n>)"
    assert "task fit-7 was given up" in finding(tell(line), "orchestration_error").title


def test_kills_without_a_reason_may_be_for_memory() -> None:
    told = tell(*said(KILLED, 3, signal=9))
    found = finding(told, "orchestration_error")
    assert found.title == "3 Dask workers were lost since step 39 by SIGKILL"
    assert cause(told, "host_memory_limit").confidence <= 0.7


def test_the_time_limit_of_their_jobs_is_the_reason_where_the_log_has_it() -> None:
    limit = "slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-01-01 DUE TO TIME LIMIT ***"
    told = tell(*said(KILLED, 3, signal=9), limit)
    found = finding(told, "orchestration_error")
    assert "at the time limit of their jobs" in found.title
    assert "--lifetime" in cause(told, "time_limit").fixes[0].example


def test_workers_that_gave_no_sign_point_to_the_network() -> None:
    told = tell(*said(SILENT, 3))
    found = finding(told, "orchestration_error")
    assert found.title == (
        "3 Dask workers were lost since step 39 without a sign of life, the first was "
        "SLURMCluster-1 (tcp://10.0.0.1:41233)"
    )
    assert cause(told, "communication_failure")


@pytest.mark.parametrize(
    "lines",
    [
        [STAMP + "distributed.nanny - WARNING - Restarting worker"],
        [STAMP + "distributed.nanny - INFO - Closing Nanny at 'tcp://10.0.0.3:33'. Reason: "
         "scheduler-close"],
        [STAMP + "distributed.worker - INFO - Stopping worker at tcp://10.0.0.3:4. Reason: "
         "worker-lifetime-reached"],
        [STAMP + "distributed.worker - INFO - Closing worker gracefully: tcp://10.0.0.3:4. Reason: "
         "worker-lifetime-reached"],
        said(KILLED, 8, signal=15),
        said(LOST, 5),
        [STAMP + "distributed.scheduler - INFO - Lost all workers"],
        [STAMP + "distributed.worker.memory - WARNING - Worker is at 81% memory usage. Pausing "
         "worker.  Process memory: 3.2 GiB -- Worker memory limit: 4.0 GiB"],
        [STAMP + "distributed.core - INFO - Connection to tcp://10.0.0.1:8786 has been closed."],
        ["12:00:00.000 | INFO    | Task run 'fit-0' - Task run failed with exception: "
         "ValueError('x') - Retry 1/3 will start immediately"],
        ["12:00:00.000 | INFO    | prefect.flow_runs.runner - Process for flow run 'red-fox' "
         "exited cleanly."],
    ],
    ids=lambda lines: lines[0][26:80],
)  # fmt: skip
def test_planned_ends_and_retries_are_silent(lines: list[str]) -> None:
    told = tell(*lines, "step 40 | loss 0.4 | lr 1e-4")
    assert [f.id for f in told.findings if f.is_alarm] == []
    assert severity(told, "orchestration_error") is None


def test_one_lost_worker_is_information() -> None:
    assert severity(tell(*said(BUDGET, 1)), "orchestration_error") is Severity.INFO


def test_losses_that_a_run_survived_are_information() -> None:
    told = tell(*said(BUDGET, 5), *said(LOST, 5), "step 40 | loss 0.4 | lr 1e-4",
                "Training completed")  # fmt: skip
    found = finding(told, "orchestration_error")
    assert found.severity is Severity.INFO
    assert found.title.endswith("computed results went with them 5 times")
    assert [f.id for f in told.findings if f.is_alarm] == []


def test_a_killed_dask_worker_is_no_dataloader() -> None:
    told = tell(*said(KILLED, 3, signal=9))
    assert severity(told, "dataloader_worker_died") is None


FLOWS = {
    "12:00:00.000 | ERROR   | Flow run 'red-fox' - Finished in state Failed('Flow run encountered "
    "an exception: ValueError: x')":
        "Prefect: flow run 'red-fox' failed: Flow run encountered an exception: ValueError: x",
    "12:00:00.000 | ERROR   | Flow run 'red-fox' - Finished in state TimedOut('Flow run exceeded "
    "timeout of 60 second(s)')":
        "Prefect: flow run 'red-fox' timed out: Flow run exceeded timeout of 60 second(s)",
    "12:00:00.000 | ERROR   | Flow run 'red-fox' - Crash detected! Execution was aborted by a "
    "termination signal.":
        "Prefect: flow run 'red-fox' crashed: Execution was aborted by a termination signal.",
    "12:00:00.000 | ERROR   | Flow run 'red-fox' - Crash detected! Request to https://x/api "
    "failed: ConnectError: gone.":
        "Prefect: flow run 'red-fox' crashed: Request to https://x/api failed: ConnectError: gone.",
    "12:00:00.000 | INFO    | prefect.flow_runs.worker - Reported flow run 'ab12' as crashed: Flow "
    "run infrastructure exited with non-zero status code -9.":
        "Prefect: flow run 'ab12' crashed: Flow run infrastructure exited with non-zero status "
        "code -9.",
    "12:00:00.000 | ERROR   | prefect.flow_runs.runner - Process for flow run 'red-fox' exited "
    "with status code: 1":
        "Prefect: flow run 'red-fox' crashed: exited with status code: 1",
    "12:00:00.000 | ERROR   | Task run 'fit-0' - Task run failed with exception: ValueError('x') - "
    "Retries are exhausted":
        "Prefect: task run 'fit-0' failed after all retries: ValueError('x')",
}  # fmt: skip


@pytest.mark.parametrize(("line", "title"), FLOWS.items(), ids=lambda text: text[-40:])
def test_a_flow_that_ended_badly_is_named(line: str, title: str) -> None:
    found = finding(tell(line), "orchestration_error")
    assert found.title == title
    assert found.severity is Severity.WARNING


def test_the_flow_is_reported_rather_than_its_tasks() -> None:
    tasks = [
        f"12:00:00.000 | ERROR   | Task run 'fit-{n}' - Finished in state Failed('Task run "
        "encountered an exception ValueError: x')"
        for n in range(2)
    ]
    flow = next(iter(FLOWS))
    found = finding(tell(*tasks, flow), "orchestration_error")
    assert found.title.startswith("Prefect: flow run 'red-fox' failed")
    assert found.title.endswith("(after 2 task runs that failed)")


def test_connections_that_end_with_the_cluster_are_no_failure_of_it() -> None:
    closed = (
        "distributed.comm.core.CommClosedError: in <TCP (closed) local=tcp://10.0.0.3:4>: closed"
    )
    assert severity(tell(closed), "orchestration_error") is Severity.WARNING
    assert severity(tell("Training completed", closed), "orchestration_error") is None


@pytest.mark.parametrize(("code", "root"), [(137, "memory"), (-9, "memory"), (143, "stopped")])
def test_the_exit_status_of_a_flow_tells_why(code: int, root: str) -> None:
    line = f"x - Process for flow run 'red-fox' exited with status code: {code}"
    ended = flow_end(Event(EventKind.ERROR, line, 1))
    assert ended is not None
    assert ended.root == root


def test_a_flow_that_was_killed_points_to_memory() -> None:
    line = (
        "12:00:00.000 | ERROR   | Flow run 'red-fox' - Process for flow run 'red-fox' exited with "
        "status code: 137; Process was killed, likely due to an out-of-memory (OOM) condition."
    )
    assert cause(tell(line), "host_memory_limit").issue == (
        "the flow run needs more memory than it may use"
    )


@given(st.text(max_size=200))
def test_any_text_can_be_about_a_flow_or_a_worker(text: str) -> None:
    line = f"Flow run '{text}' - Finished in state Failed({text}"
    flow_end(Event(EventKind.ERROR, line, 1, text=line))
    workers(RunView(read_log(f"Worker {text} exceeded 95% memory budget. {text}\n")))
