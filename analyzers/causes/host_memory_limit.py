"""host_memory_limit: the job may not use as much host (or shared) memory as it needs.

What it is: the data, the workers' copies and prefetched batches together exceed the limit of the
    job's cgroup, of the machine or of /dev/shm, and the kernel kills a process or refuses.
Told apart by: what Slurm, the kernel or Kubernetes say. Memory that rose for many steps before is
    a leak; a bare `Killed` may also be preemption or an administrator. A data-loader worker that is
    gone without an exception in the middle of a training was most often killed for its memory.
Try next: ask for 1.5 times the memory, halve the workers, memory-map the data; for /dev/shm a
    larger `--shm-size`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Finding
from ..core.registry import cause
from ..core.view import PlacedEvent
from ..resources.measures import curves_of
from ..resources.messages import matching
from ..resources.remedies import fewer_workers, map_data

_SHARED = re.compile(
    r"insufficient shared memory|killed by signal: Bus error|/dev/shm|unable to (?:write|open) "
    r"(?:to )?(?:shared memory|file </torch_)|^Bus error|: Bus error",
    re.IGNORECASE,
)

_FED = 3
"""Records of the loss that show that the workers did their work for a while."""
_NO_HANDLES = re.compile(r"Too many open files|\[Errno 24\]")
"""Then shared memory could not be opened for want of file handles, not of memory."""


@cause
@dataclass(frozen=True, slots=True)
class HostMemoryLimit:
    """Weighs what the system says; growth is the rival."""

    id: ClassVar[str] = "host_memory_limit"
    explains: ClassVar[tuple[str, ...]] = (
        "host_oom", "disk_full", "dataloader_worker_died", "orchestration_error", "rank_failure",
    )  # fmt: skip
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Messages of the system, workers, /dev/shm."""
        found = case.get("host_oom")
        if found is not None:
            how, evidence = found.details.get("how"), found.evidence[0]
            if how == "states" and not found.number("request"):
                yield case.clue(0.9, evidence, states=True)
            else:
                yield case.clue({"states": 0.75, "worker": 0.75}.get(str(how), 0.6), evidence)
        led = _led(case)
        if led is not None:
            is_stated = led.details.get("root") == "memory" and led.details.get("kind") == "lost"
            yield case.clue(0.88 if is_stated else 0.5, led.evidence[0], states=is_stated)
        if found is None and (lost := _lost(case)) is not None:
            is_bus = lost.details.get("signal") == "SIGBUS"
            yield case.because(lost, 0.5 if is_bus else 0.3)
        if found is None and (gone := _vanished_worker(case)) is not None:
            yield case.because(gone, 0.45)
        full = case.get("disk_full")
        if full is not None and full.details.get("place") == "shm":
            yield case.clue(0.88, full.evidence[0], states=True)
        elif (placed := _shared(case)) is not None and case.has("dataloader_worker_died"):
            yield case.clue(0.88, placed.evidence(), states=True)
        if found is None and full is None:
            return
        workers = case.setting("workers")
        if workers is not None and (workers.number or 0) >= 8:
            yield case.clue(0.3, workers.evidence)
        growth = case.get("memory_growth")
        if growth is not None:
            yield case.clue(-0.55, growth.evidence[0])

    def issue(self, case: Case) -> str:
        """Host memory or shared memory."""
        if _is_shared(case):
            return "shared memory (/dev/shm) is too small for the batches that workers hand over"
        if case.get("host_oom") is None and (led := _led(case)) is not None:
            whose = "a Dask worker" if led.details.get("system") == "dask" else "the flow run"
            return f"{whose} needs more memory than it may use"
        workers = case.setting("workers")
        extra = f" ({workers.path} {workers.value})" if workers is not None else ""
        return f"the job needs more host memory than it may use{extra}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """More memory, fewer copies, none at all."""
        if _is_shared(case):
            yield _more_shared(self.id)
        elif (led := _led(case)) is not None and led.details.get("system") == "dask":
            yield _larger_workers(self.id)
            yield _more_memory(self.id)
        else:
            yield _more_memory(self.id)
        yield fewer_workers(case, self.id)
        yield map_data(self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """The scheduler's word."""
        found = case.get("host_oom") or _lost(case)
        if found is not None and found.details.get("how") != "states":
            yield (
                "`sacct -j JOB --format=State,ExitCode,MaxRSS,ReqMem`: OUT_OF_MEMORY means host "
                "memory, PREEMPTED or CANCELLED someone else's decision"
            )
        if not curves_of(case.view, "memory"):
            yield (
                "resident memory of the process per step (psutil rss): a rise before the kill "
                "means a leak, a level line a limit that is too low"
            )


def _led(case: Case) -> Finding | None:
    """Processes of an orchestrated run that were lost for memory, or by a kill without a reason."""
    for finding in case.all("orchestration_error"):
        root = finding.details.get("root")
        if finding.is_alarm and (root == "memory" or (not root and finding.number("is_killed"))):
            return finding
    return None


def _lost(case: Case) -> Finding | None:
    """A process that vanished; its launcher counts the OOM killer among the reasons."""
    for finding in case.all("rank_failure"):
        is_bare = finding.is_alarm and not finding.number("has_own_error")
        if not is_bare or finding.details.get("kind") != "launcher":
            continue
        # Without a message, a bus error is shared memory that ran out more often than anything.
        if finding.number("is_vanished") or finding.details.get("signal") == "SIGBUS":
            return finding
    return None


def _vanished_worker(case: Case) -> Finding | None:
    """A worker that ended without an exception of its own, after it had fed some training.

    One that cannot start, or that fails on its first batch, lacks something else than memory.
    """
    died, loss = case.get("dataloader_worker_died"), case.view.curve("train/loss")
    if died is None or not died.is_alarm or died.details.get("rule") != "worker_killed":
        return None
    if loss is None or len(loss) < _FED:
        return None
    return died if _shared(case) is None else None


def _shared(case: Case) -> PlacedEvent | None:
    kinds = (EventKind.EXCEPTION, EventKind.ERROR, EventKind.SIGNAL)
    if next(matching(case.view, _NO_HANDLES, *kinds), None) is not None:
        return None
    return next(matching(case.view, _SHARED, *kinds), None)


def _is_shared(case: Case) -> bool:
    full = case.get("disk_full")
    if full is not None and full.details.get("place") == "shm":
        return True
    return case.get("host_oom") is None and _shared(case) is not None


def _more_memory(addresses: str) -> Fix:
    return Fix(
        addresses=addresses,
        change="ask the scheduler for 1.5 times the host memory",
        example="#SBATCH --mem=96G  # 1.5 times the present value; Kubernetes: resources.limits",
        expected_impact="the job is not killed; MaxRSS stays below 80 % of the limit over one "
        "epoch",
        verify="sacct -j JOB --format=State,MaxRSS,ReqMem after one epoch",
        if_it_fails="if memory reaches the new limit as well, it is not a limit but a leak: log "
        "resident memory per step",
        is_quick=True,
    )


def _larger_workers(addresses: str) -> Fix:
    return Fix(
        addresses=addresses,
        change="twice the memory per Dask worker: fewer processes in each job, or larger jobs",
        example="SLURMCluster(cores=8, processes=1, memory='64GB')",
        expected_impact="no worker goes over its budget; the tasks that were given up end",
        verify="the worker's own log has no `exceeded 95% memory budget` over one pass",
        if_it_fails="log the memory inside the task: what grows from task to task is a leak",
        is_quick=True,
    )


def _more_shared(addresses: str) -> Fix:
    return Fix(
        addresses=addresses,
        change="give the container more shared memory",
        example="docker run --shm-size=16g ...  # Kubernetes: emptyDir with medium Memory",
        expected_impact="workers hand over batches without bus errors from the first epoch on",
        verify="df -h /dev/shm stays below 80 % during one epoch",
        if_it_fails="torch.multiprocessing.set_sharing_strategy('file_system'), or num_workers=0",
        is_quick=True,
    )
