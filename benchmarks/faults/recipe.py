"""What a training is made of, before anybody injects a fault into it."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Recipe:
    """The settings of one small training; faults and traps change them."""

    family: str
    seed: int
    steps: int
    batch: int
    lr: float
    optimizer: str = "adamw"
    momentum: float = 0.9
    weight_decay: float = 0.0
    clip: float | None = None
    schedule: str = "constant"
    """constant, cosine, linear, cycles (four warm restarts) or steps (two drops by ten)."""
    warmup: int = 0
    eval_every: int = 50
    precision: str = "fp32"
    accumulate: int = 1
    model: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    step_seconds: float = 0.2
    """What a step would cost on a cluster; logged times are drawn around it."""
    needs_own_process: bool = False
    """Memory is really measured, so earlier trainings must not have filled the heap."""

    def clone(self) -> Recipe:
        """A copy that may be changed without changing this one."""
        return copy.deepcopy(self)

    def lr_at(self, step: int) -> float:
        """The learning rate that the configured schedule gives at a step."""
        if step < self.warmup:
            return self.lr * (step + 1) / self.warmup
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.lr * decay(self.schedule, progress)


def decay(schedule: str, progress: float) -> float:
    """The factor of a schedule at a share of the run."""
    if schedule == "cosine":
        return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
    if schedule == "linear":
        return max(0.0, 1.0 - progress)
    if schedule == "cycles":
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * ((4 * progress) % 1.0)))
    if schedule == "steps":
        return 1.0 if progress < 0.6 else 0.1 if progress < 0.85 else 0.01
    return 1.0


def config_of(recipe: Recipe) -> dict[str, Any]:
    """What the project's own configuration file says."""
    config: dict[str, Any] = {
        "model": {"name": recipe.family, **recipe.model},
        "data": {key: value for key, value in recipe.data.items() if not key.startswith("_")},
        "optimizer": recipe.optimizer,
        "learning_rate": recipe.lr,
        "weight_decay": recipe.weight_decay,
        "batch_size": recipe.batch,
        "max_steps": recipe.steps,
        "lr_scheduler": recipe.schedule,
        "warmup_steps": recipe.warmup,
        "max_grad_norm": recipe.clip,
        "eval_steps": recipe.eval_every,
        "precision": recipe.precision,
        "seed": recipe.seed,
    }
    if recipe.optimizer == "sgd":
        config["momentum"] = recipe.momentum
    if recipe.accumulate > 1:
        config["gradient_accumulation_steps"] = recipe.accumulate
    return config
