"""What the plan says of one run: its kind with the right answers, its job and its log."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ..job import Job, Row

Onset = Callable[[Job], int | None]
Shows = Callable[[list[Row], list[Row]], bool]
FIRST_START = datetime(2025, 2, 3, 7, 40, 0, tzinfo=UTC)
SPEEDS = (0.04, 0.11, 0.2, 0.35, 0.8)
"""Seconds of a step on pretended machines."""
MEMORIES = (1.4, 3.2, 7.9, 11.3)
"""Gigabytes that a job holds there."""
BY_CHANCE = ("lr", "grad_norm", "step_time", "tps", "mem", "acc")


@dataclass(frozen=True)
class Kind:
    """A class of faults or a trap for healthy runs, with the answers that are right about it."""

    id: str
    findings: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    """Acceptable ones, best first."""
    done: tuple[str, ...] = ()
    """Those that name what was really done, if it is more than the first one."""
    also: tuple[str, ...] = ()
    if_loss_jumps: tuple[str, ...] = ()
    """Findings that are right as well, but only if the loss minds at the onset."""
    verdict: str = "fault"
    onset: Onset | None = None
    """When it begins; without it, from the start or at no particular step."""
    is_gated: bool = True
    """False where the fault is visible by construction."""
    rate_is_effect: bool = False
    """The gate counts a logged learning rate that differs as an effect."""
    shows: Shows | None = None
    """An expert's eye: given the faulty and the clean rows, can the fault be seen?"""

    @property
    def named(self) -> tuple[str, ...]:
        """The causes that are true."""
        return self.done or self.causes[:1]


@dataclass(frozen=True)
class Planned:
    """One run to be trained and written."""

    kind: Kind
    style: str
    job: Job
    signals: tuple[str, ...] | None = None
    """Optional columns of the log; by chance if None."""
    has_config: bool | None = None
    """Whether the log shows the configuration; by chance if None."""
    config: dict[str, Any] = field(default_factory=dict)
    """What the configuration shows beside the usual."""
    twin: dict[str, Any] = field(default_factory=dict)
    """Settings of the clean twin, where the fault is a setting."""
    silent_seconds: float = 60.0
    is_finished: bool = True
    ending: tuple[str, str] | None = None
    """Part of a file's name, and what is appended there in the end."""
    ending_delay: float = 0.0
    """Seconds between the last step and that."""
    number: int = 0
    seed_base: int = 0

    @property
    def run_id(self) -> str:
        """A name that tells nothing."""
        name = f"{self.seed_base}/{self.number}/{self.kind.id}"
        return "r" + hashlib.sha256(name.encode()).hexdigest()[:8]

    @property
    def seed(self) -> int:
        """Determines everything that is random about this run."""
        return self.seed_base + 13 * self.number + 1

    @property
    def job_id(self) -> int:
        """Its number in the scheduler's books."""
        return 700_000 + self.seed * 7919 % 290_000

    @property
    def family(self) -> str:
        """The model family."""
        return self.job.family

    @property
    def cost(self) -> int:
        """Steps to train, twins included."""
        count = 4 if self.kind.is_gated and self.kind.verdict == "fault" else 1
        heavy = {"lm": 3, "sft": 5, "rlhf": 20, "a2c": 3}.get(self.family, 1)
        return count * heavy * self.job.last_step

    @property
    def is_live(self) -> bool:
        """The job is not known to have ended, so its log's times and its files' must agree."""
        return not self.is_finished and self.ending is None

    def start(self, seconds: float) -> datetime:
        """When the job began, if it took so many seconds until now or until its end."""
        if self.is_live:
            # Logs are written in local time, which is also how their readers take it.
            now = datetime.now(UTC).astimezone()
            return now - timedelta(seconds=self.silent_seconds + seconds)
        return FIRST_START + timedelta(minutes=37 * self.number, seconds=self.seed % 3600)

    def drawn(self) -> Planned:
        """The same with everything decided that was left to chance."""
        rng = random.Random(self.seed)
        job = replace(
            self.job,
            seed=self.seed,
            step_seconds=rng.choice(SPEEDS),
            memory=rng.choice(MEMORIES),
        )
        chosen = tuple(one for one in BY_CHANCE if rng.random() < 0.5)
        shown = rng.random() < 0.5
        return replace(
            self,
            job=job,
            signals=chosen if self.signals is None else self.signals,
            has_config=shown if self.has_config is None else self.has_config,
        )


def at_hook(job: Job) -> int | None:
    """When the job's fault begins to act."""
    return job.fault.at or None if job.fault else None


def after_hook(job: Job) -> int | None:
    """One step later: it acts after the update."""
    return job.fault.at + 1 if job.fault else None


def at_resume(job: Job) -> int | None:
    """The first step after the checkpoint."""
    return job.resume_at + 1
