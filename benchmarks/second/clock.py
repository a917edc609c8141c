"""Wall time of a pretended machine: a busy machine's own would be noise."""

from __future__ import annotations

import math

import numpy as np

from .hook import Hook
from .job import Job

RARE = 0.01
"""Share of steps that take visibly longer, as steps do."""


class Clock:
    """Draws what every step takes, and adds it up."""

    def __init__(self, job: Job, hook: Hook) -> None:
        self.job, self.hook, self.now = job, hook, 0.0
        self._rng = np.random.default_rng(job.seed * 3 + 1)

    def tick(self, step: int) -> float:
        """Let one step pass; returns its seconds."""
        seconds = self.job.step_seconds * math.exp(self._rng.normal(0, self.job.jitter))
        if self._rng.random() < RARE:
            seconds *= self._rng.uniform(1.3, 2.2)
        if step == 1:
            seconds = seconds * 6 + 1.5
        seconds = self.hook.seconds(step, seconds)
        self.now += seconds
        return seconds
