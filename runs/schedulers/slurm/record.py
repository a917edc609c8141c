"""From one record of any of Slurm's commands, taken apart by name, to a `Job`."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from ..job import Job, JobState
from ..quoting import printable
from . import paths, values
from .hostlist import expand_nodes
from .reasons import in_words


@dataclass(slots=True, kw_only=True)
class Record:
    """What a command says about a job, with the meaning made out but not yet put together."""

    raw_id: int
    array_id: int | None = None
    array_task: int | None = None
    array_tasks: str | None = None
    het_id: int | None = None
    het_offset: int | None = None
    name: str | None = None
    user: str | None = None
    states: tuple[JobState, tuple[str, ...], str | None] = (JobState.UNKNOWN, (), None)
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    stdout: str | None = None
    """Pattern or path; None if it is not said."""
    stderr: str | None = None
    is_batch: bool | None = None
    """A script that was submitted; the others write to their user's terminal."""
    has_default_output: bool = False
    """True if the command would say so had the user chosen another place."""
    work_dir: str | None = None
    command: str | None = None
    partition: str | None = None
    nodes: str | None = None
    batch_host: str | None = None
    node_count: int | None = None
    time_limit: float | None = None
    elapsed: float | None = None
    submit: float | None = None
    start: float | None = None
    end: float | None = None
    restarts: int | None = None
    memory: int | None = None
    memory_per_node: int | None = None
    memory_per_cpu: int | None = None
    max_rss: int | None = None
    max_rss_node: str | None = None

    @property
    def display_id(self) -> str:
        """As squeue prints it."""
        if self.array_id is not None and self.array_task is not None:
            return f"{self.array_id}_{self.array_task}"
        if self.array_id is not None and self.array_tasks:
            return f"{self.array_id}_[{self.array_tasks}]"
        if self.het_id is not None and self.het_offset is not None:
            return f"{self.het_id}+{self.het_offset}"
        return str(self.raw_id)

    def job(self, asked: float | None) -> Job:
        """The job, with its paths made out and the times told apart."""
        state, flags, by = self.states
        is_waiting = state.is_waiting
        nodes = None if is_waiting else self.nodes
        names = expand_nodes(nodes)
        is_running = not (is_waiting or state.is_over or state is JobState.UNKNOWN)
        start = None if is_waiting else self.start
        elapsed = 0.0 if is_waiting else self._elapsed(is_running, asked)
        stdout, stderr = self._output(names)
        return Job(
            id=self.display_id,
            raw_id=self.raw_id,
            array_id=self.array_id,
            array_task=self.array_task,
            array_tasks=self.array_tasks if self.array_task is None else None,
            het_id=self.het_id,
            het_offset=self.het_offset,
            name=None if self.name is None else printable(self.name),
            user=None if self.user is None else printable(self.user),
            state=state,
            state_flags=flags,
            reason=None if self.reason is None else printable(self.reason),
            reason_words=in_words(self.reason, self.signal),
            exit_code=self.exit_code if state.is_over else None,
            signal=self.signal if state.is_over else None,
            cancelled_by=None if by is None else printable(by),
            stdout=stdout,
            stderr=stderr,
            work_dir=self.work_dir,
            command=self.command,
            partition=None if self.partition is None else printable(self.partition),
            nodes=None if nodes is None else printable(nodes),
            node_names=tuple(printable(name) for name in names),
            node_count=self.node_count,
            time_limit=self.time_limit,
            elapsed=elapsed,
            submit=self.submit,
            start=start,
            expected_start=self.start if is_waiting else None,
            end=self.end if state.is_over else None,
            limit_at=self._limit_at() if is_running else None,
            restarts=self.restarts,
            requested_memory=self.memory,
            memory_per_node=self.memory_per_node,
            memory_per_cpu=self.memory_per_cpu,
            max_rss=self.max_rss,
            max_rss_node=self.max_rss_node,
            asked=asked,
        )

    def _elapsed(self, is_running: bool, asked: float | None) -> float | None:
        if self.elapsed is not None or self.start is None:
            return self.elapsed
        until = asked if is_running else self.end
        return None if until is None else max(0.0, until - self.start)

    def _limit_at(self) -> float | None:
        """Slurm gives the end that the limit allows as the end of a running job."""
        if self.time_limit is None or math.isinf(self.time_limit):
            return None
        if self.end is not None:
            return self.end
        return None if self.start is None else self.start + self.time_limit

    def _output(self, node_names: tuple[str, ...]) -> tuple[str | None, str | None]:
        if self.is_batch is False:
            return None, None
        host = self.batch_host or (node_names[0] if node_names else None)
        names = paths.Names(
            self.raw_id, self.name, self.user, self.array_id, self.array_task, host, self.work_dir
        )
        pattern = self.stdout
        if pattern is None and self.has_default_output:
            pattern = paths.default_pattern(names)
        if pattern is None:
            return None, None if self.stderr is None else paths.fill_in(self.stderr, names)
        return paths.fill_in(pattern, names), paths.fill_in(self.stderr or pattern, names)


def absolute(path: str | None) -> str | None:
    """A path that is one."""
    return path if path and os.path.isabs(path) and "\0" not in path else None


def memory_of(resources: str | None) -> int | None:
    """Bytes of memory among the resources of a whole job."""
    return values.size(values.resources(resources).get("mem"), unit="M")[0] or None
