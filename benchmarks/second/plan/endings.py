"""Jobs that are ended from outside, with the text that schedulers and watchdogs print."""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from .jobs import job
from .planned import Kind, Planned
from .watchdog import watchdog_text

TIME_LIMIT = Kind("ends_at_time_limit", ("slurm_timeout",), ("time_limit",), is_gated=False)
PREEMPTED = Kind("ends_preempted", ("slurm_preempted",), ("preemption",), is_gated=False)
OUT_OF_MEMORY = Kind(
    "ends_out_of_memory",
    ("host_oom",),
    ("host_memory_limit", "memory_leak"),
    is_gated=False,
)
CANCELLED = Kind("ends_cancelled", ("slurm_cancelled",), ("cancelled_by_person",), is_gated=False)
NODE_FAILS = Kind(
    "ends_with_node",
    ("slurm_node_fail",),
    ("node_failure", "hardware_fault"),
    done=("node_failure", "hardware_fault"),
    is_gated=False,
)
COLLECTIVE = Kind(
    "collective_times_out",
    ("nccl_timeout",),
    ("communication_failure", "deadlock", "hardware_fault"),
    also=("rank_failure", "exception", "stall"),
    is_gated=False,
)
JOB = "slurmstepd: error: *** JOB {job} ON gpu041 CANCELLED AT {end}"
STEP = "slurmstepd: error: *** STEP {job}.0 ON gpu017 CANCELLED AT {end}"
KILLED = "Some of the step tasks have been OOM Killed.\n"
WATCHDOG_SECONDS = 604.0
"""After how long a collective is given up."""


def plan() -> Iterator[Planned]:
    """All runs that somebody else ends."""
    yield from time_limits()
    yield from preemptions()
    yield from kills()
    for style, part, rank, sequence, one in (
        ("slurm", "err", 3, 4123, job("lm", steps=1500, stop_at=310, ranks=4)),
        ("torchtitan", "train", 1, 2711, job("lm", steps=2000, stop_at=265, every=5)),
    ):
        ending = (part, watchdog_text(rank, sequence))
        delay = WATCHDOG_SECONDS
        yield Planned(COLLECTIVE, style, one, is_finished=False, ending=ending, ending_delay=delay)


def time_limits() -> Iterator[Planned]:
    """Not finished in the time that was asked for."""
    one = job("lm", steps=2000, stop_at=350)
    yield _ended(TIME_LIMIT, one, f"{JOB} DUE TO TIME LIMIT ***\n")
    one = job("tagger", steps=3000, stop_at=900, every=20, eval_every=150)
    waiting = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
    yield _ended(TIME_LIMIT, one, f"{waiting}{STEP} DUE TO TIME LIMIT ***\n", "hf")


def preemptions() -> Iterator[Planned]:
    """Others were more important."""
    one = job("moe", steps=1500, stop_at=300)
    yield _ended(PREEMPTED, one, f"{JOB} DUE TO PREEMPTION ***\n")
    one = job("lm", steps=1500, stop_at=280)
    aborted = "srun: error: gpu017: task 0: Terminated\nsrun: Terminating StepId={job}.0\n"
    yield _ended(PREEMPTED, one, f"{STEP} DUE TO PREEMPTION ***\n{aborted}", "megatron")


def kills() -> Iterator[Planned]:
    """By the kernel, by a person, or with the node."""
    detected = "slurmstepd: error: Detected 1 oom_kill event in StepId={job}"
    one = job("lm", steps=1500, stop_at=240, every=5)
    yield _ended(OUT_OF_MEMORY, one, f"{detected}.batch. {KILLED}")
    one = job("seq2seq", steps=2500, stop_at=500)
    told = "srun: error: gpu017: task 0: Out Of Memory\n"
    yield _ended(OUT_OF_MEMORY, one, f"{detected}.0. {KILLED}{told}", "loguru")
    yield _ended(CANCELLED, job("lm", steps=1500, stop_at=300), f"{JOB} ***\n")
    failed = "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n"
    yield _ended(NODE_FAILS, job("lm", steps=1500, stop_at=260), f"{JOB} {failed}")


def _ended(kind: Kind, one: Job, text: str, style: str = "slurm") -> Planned:
    part = "err" if style == "slurm" else "train"
    return Planned(kind, style, one, is_finished=False, ending=(part, text))
