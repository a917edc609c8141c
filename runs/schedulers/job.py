"""A job of a cluster, as its scheduler describes it: facts only, what is unknown is None."""

from __future__ import annotations

import math
import signal as signals
from dataclasses import dataclass
from enum import StrEnum

from .quoting import quote


class JobState(StrEnum):
    """What a job is doing, in Slurm's words; other schedulers map theirs onto these."""

    PENDING = "PENDING"
    CONFIGURING = "CONFIGURING"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    STOPPED = "STOPPED"
    SIGNALING = "SIGNALING"
    RESIZING = "RESIZING"
    COMPLETING = "COMPLETING"
    STAGE_OUT = "STAGE_OUT"
    REQUEUED = "REQUEUED"
    REQUEUE_HOLD = "REQUEUE_HOLD"
    REQUEUE_FED = "REQUEUE_FED"
    SPECIAL_EXIT = "SPECIAL_EXIT"
    RESV_DEL_HOLD = "RESV_DEL_HOLD"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    DEADLINE = "DEADLINE"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    PREEMPTED = "PREEMPTED"
    NODE_FAIL = "NODE_FAIL"
    BOOT_FAIL = "BOOT_FAIL"
    LAUNCH_FAILED = "LAUNCH_FAILED"
    CANCELLED = "CANCELLED"
    REVOKED = "REVOKED"
    UNKNOWN = "UNKNOWN"

    @property
    def is_over(self) -> bool:
        """True if a job in this state will not run again by itself."""
        return self in _OVER

    @property
    def is_waiting(self) -> bool:
        """True if a job in this state has no nodes yet."""
        return self in _WAITING


_OVER = frozenset(
    {
        JobState.COMPLETED, JobState.FAILED, JobState.TIMEOUT, JobState.DEADLINE,
        JobState.OUT_OF_MEMORY, JobState.PREEMPTED, JobState.NODE_FAIL, JobState.BOOT_FAIL,
        JobState.LAUNCH_FAILED, JobState.CANCELLED, JobState.REVOKED,
    }
)  # fmt: skip
_WAITING = frozenset(
    {
        JobState.PENDING, JobState.REQUEUED, JobState.REQUEUE_HOLD, JobState.REQUEUE_FED,
        JobState.SPECIAL_EXIT, JobState.RESV_DEL_HOLD,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job, one task of an array, or one part of a heterogeneous job."""

    id: str
    """As people write it: `48213`, `48213_7` (a task), `48213_[1-10%4]` (tasks that still wait
    together), `48213+1` (a part)."""
    scheduler: str = "slurm"
    raw_id: int | None = None
    """The scheduler's own number; tasks and parts have one each."""
    array_id: int | None = None
    array_task: int | None = None
    array_tasks: str | None = None
    """Indices of the tasks that wait together, such as `1-10%4`."""
    het_id: int | None = None
    het_offset: int | None = None
    name: str | None = None
    """Without control characters, fit for a screen."""
    user: str | None = None
    state: JobState = JobState.UNKNOWN
    state_flags: tuple[str, ...] = ()
    """What else is said about the state, such as `COMPLETING` beside `FAILED`."""
    reason: str | None = None
    """Why it waits or how it ended, as the scheduler calls it."""
    reason_words: str | None = None
    """The same for people."""
    exit_code: int | None = None
    signal: int | None = None
    cancelled_by: str | None = None
    """User name, or number if it has no name here."""
    stdout: str | None = None
    """Absolute path, all patterns filled in."""
    stderr: str | None = None
    work_dir: str | None = None
    command: str | None = None
    partition: str | None = None
    nodes: str | None = None
    """As the scheduler writes it, such as `gpu[01-04]`; see `node_names`."""
    node_names: tuple[str, ...] = ()
    node_count: int | None = None
    time_limit: float | None = None
    """Seconds; infinite if there is none."""
    elapsed: float | None = None
    """Seconds of running, at `asked`."""
    submit: float | None = None
    """Seconds since 1970, as all points in time here."""
    start: float | None = None
    expected_start: float | None = None
    """When a waiting job will start, as far as the scheduler can tell."""
    end: float | None = None
    """When it ended; None while it has not."""
    limit_at: float | None = None
    """When the time limit of a running job is reached."""
    restarts: int | None = None
    requested_memory: int | None = None
    """Bytes for the whole job."""
    memory_per_node: int | None = None
    memory_per_cpu: int | None = None
    max_rss: int | None = None
    """Bytes of the largest task of any step, as sampled; known after the end, if at all."""
    max_rss_node: str | None = None
    asked: float | None = None
    """When the scheduler said so."""

    @property
    def is_over(self) -> bool:
        """True if it has ended and will not run again by itself."""
        return self.state.is_over and "REQUEUED" not in self.state_flags

    @property
    def is_waiting(self) -> bool:
        """True if it has no nodes yet."""
        return self.state.is_waiting

    @property
    def is_running(self) -> bool:
        """True if it has its nodes and has not ended."""
        return not (self.is_over or self.is_waiting or self.state is JobState.UNKNOWN)

    @property
    def time_left(self) -> float | None:
        """Seconds up to the time limit, at `asked`; infinite without a limit."""
        return None if self.asked is None else self.time_left_at(self.asked)

    def time_left_at(self, now: float) -> float | None:
        """Seconds up to the time limit; negative if it is past."""
        if not self.is_running:
            return None
        if self.limit_at is not None:
            return self.limit_at - now
        if self.time_limit is None:
            return None
        if math.isinf(self.time_limit):
            return math.inf
        return None if self.start is None else self.start + self.time_limit - now

    @property
    def node_memory(self) -> int | None:
        """Bytes that the job may use on one of its nodes."""
        if self.memory_per_node:
            return self.memory_per_node
        if self.requested_memory and self.node_count:
            return self.requested_memory // self.node_count
        return None

    @property
    def signal_name(self) -> str | None:
        """`SIGKILL` for signal 9, also where a shell turned it into exit code 137."""
        number = self.signal
        if not number and self.exit_code is not None and 128 < self.exit_code < 160:
            number = self.exit_code - 128
        if not number:
            return None
        try:
            return signals.Signals(number).name
        except ValueError:
            return None  # Slurm has signals of its own, such as 125 for memory

    @property
    def quote(self) -> str:
        """The facts in one line, for a finding to point at."""
        return quote(self)


@dataclass(frozen=True, slots=True)
class JobList:
    """Jobs, and what has to be said about them."""

    jobs: tuple[Job, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about what could not be asked."""
    asked: float | None = None
    """When the scheduler gave this answer; None if it never did."""
