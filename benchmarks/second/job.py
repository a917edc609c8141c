"""What one training is made of, and what it notes down."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from .hook import Hook

Options = dict[str, Any]
"""Settings of a family's model and data."""
Mode = Literal["last", "mean", "ema"]
Precision = Literal["fp32", "fp16", "bf16_pure", "fp16_pure"]
Resume = Literal["ok", "sched", "both"]


@dataclass
class Job:
    """All that determines one training."""

    family: str
    seed: int = 0
    steps: int = 400
    lr: float = 3e-3
    optimizer: str = "adamw"
    """adamw, sgd (with momentum) or sgd0 (without)."""
    schedule: str = "constant"
    warmup: int = 0
    clip: float | None = 1.0
    weight_decay: float = 0.0
    accumulate: int = 1
    every: int = 10
    """Steps between two logged ones."""
    eval_every: int = 0
    precision: Precision = "fp32"
    """fp16 is autocast with a loss scaler; the pure ones keep their weights in it."""
    mode: Mode = "last"
    """Which loss is logged: the last one, the interval's mean, or a running mean."""
    resume_at: int = 0
    resume: Resume = "ok"
    """What a resumed job starts anew: nothing, the schedule, or the optimizer as well."""
    step_seconds: float = 0.2
    jitter: float = 0.05
    memory: float = 3.2
    """Gigabytes."""
    ranks: int = 0
    stop_at: int = 0
    """The log ends here although more steps were planned."""
    options: Options = field(default_factory=dict)
    fault: Hook | None = None

    @property
    def last_step(self) -> int:
        """The last step that is really made."""
        return self.stop_at or self.steps

    def lr_at(self, step: int) -> float:
        """The learning rate that the schedule gives at a step, counted from one."""
        if self.warmup and step <= self.warmup:
            return self.lr * step / self.warmup
        if self.schedule == "rsqrt":
            return self.lr * math.sqrt(max(1, self.warmup) / step)
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.lr * decay(self.schedule, progress)


def decay(schedule: str, progress: float) -> float:
    """The factor of a schedule at a share of the run."""
    if schedule == "cosine":
        return 0.05 + 0.95 * _half_wave(min(1.0, progress))
    if schedule == "linear":
        return max(0.0, 1.0 - progress)
    if schedule == "step":
        return 0.2 ** math.floor(progress * 3)
    if schedule == "cyclic":
        return 0.1 + 0.9 * abs(1.0 - (progress * 6) % 2)
    if schedule == "restarts":
        return 0.02 + 0.98 * _half_wave((progress * 3) % 1.0)
    return 1.0


def _half_wave(progress: float) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * progress))


@dataclass
class Row:
    """One moment of a training as its logger sees it."""

    kind: Literal["train", "val", "policy", "resume", "overflow", "sample"]
    step: int
    seconds: float
    """Time since the start."""
    values: dict[str, float] = field(default_factory=dict)
    rank_seconds: list[float] = field(default_factory=list)
    """What the step took on each rank, where ranks are logged."""
    text: str = ""


def series(rows: list[Row], name: str) -> list[float]:
    """All logged values of a signal, in order."""
    return [row.values[name] for row in rows if name in row.values]
