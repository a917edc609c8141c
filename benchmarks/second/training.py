"""The loop of all supervised families: really trains, notes what a user's logger would note."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from .clock import Clock
from .hook import Hook
from .job import Job, Row
from .tasks import TASKS

LOAD_SECONDS = 180.0
"""What it takes to stop a job and resume it."""
EVAL_STEPS = 12
"""How many training steps an evaluation lasts."""


@dataclass
class Step:
    """What is kept of a step until the next logged one."""

    loss: float
    seconds: float
    was_skipped: bool


class Training:
    """A training under way."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.hook = copy.deepcopy(job.fault) if job.fault else Hook()
        self.task = TASKS[job.family](job.options, job.seed)
        self.hook.begin(self.task)
        self.model = self.task.model
        if job.precision in ("bf16_pure", "fp16_pure"):
            self.model.to(torch.bfloat16 if job.precision == "bf16_pure" else torch.float16)
        self.parameters = [one for one in self.model.parameters() if one.requires_grad]
        self.optimizer = make_optimizer(job, self.parameters)
        self.scaler = torch.amp.GradScaler(
            "cpu",
            init_scale=job.options.get("init_scale", 2.0**16),
            growth_interval=200,
            enabled=job.precision == "fp16",
        )
        self.clock = Clock(job, self.hook)
        self.rows: list[Row] = []
        self.recent: list[Step] = []
        self.running_mean: float | None = None
        self.schedule_start = 0
        self.noise = np.random.default_rng(job.seed)

    def run(self) -> list[Row]:
        """Train to the end of the log."""
        job = self.job
        for step in range(1, job.last_step + 1):
            if job.resume_at and step == job.resume_at + 1:
                self.resume(step)
            values = self.one_step(step)
            if step % job.every == 0 or step == 1:
                self.note(step, values)
            if job.eval_every and step % job.eval_every == 0:
                self.evaluate(step)
        return self.rows

    def resume(self, step: int) -> None:
        """Go on from a checkpoint, as well as the job does that."""
        self.rows.append(Row("resume", step - 1, self.clock.now))
        self.clock.now += LOAD_SECONDS
        if self.job.resume in ("sched", "both"):
            self.schedule_start = step - 1
        if self.job.resume == "both":
            self.optimizer = make_optimizer(self.job, self.parameters)

    def one_step(self, step: int) -> dict[str, float]:
        """Forward, backward and update; returns what there is to log."""
        lr = self.hook.rate(step, self.job.lr_at(step - self.schedule_start))
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        loss, measured = self.accumulate(step)
        self.hook.gradients(step, self.model)
        values = {"loss": loss, "lr": lr, "grad_norm": norm_of(self.parameters)}
        values["num_zeros"] = sum(
            int((one.grad == 0).sum()) for one in self.parameters if one.grad is not None
        )
        was_skipped = self.update(step, values["grad_norm"])
        self.hook.updated(step, self.model)
        self.recent.append(Step(loss, self.clock.tick(step), was_skipped))
        mean = loss if self.running_mean is None else self.running_mean
        self.running_mean = 0.98 * mean + 0.02 * loss
        return values | measured

    def accumulate(self, step: int) -> tuple[float, dict[str, float]]:
        """Gradients of as many batches as an update has."""
        self.optimizer.zero_grad()
        total, measured = 0.0, dict[str, float]()
        for _ in range(self.job.accumulate):
            batch = self.hook.batch(step, self.task.batch(), self.task)
            with torch.autocast("cpu", torch.float16, enabled=self.scaler.is_enabled()):
                loss, measured = self.task.loss(batch)
            loss = loss / self.job.accumulate
            total += float(loss.detach())
            torch.autograd.backward([self.scaler.scale(self.hook.loss(step, loss))])
        if self.scaler.is_enabled():
            self.scaler.unscale_(self.optimizer)
        return total, measured

    def update(self, step: int, norm: float) -> bool:
        """Clip and step; says whether the loss scaler skipped it."""
        if self.job.clip and (math.isfinite(norm) or not self.scaler.is_enabled()):
            nn.utils.clip_grad_norm_(self.parameters, self.job.clip)
        if not self.scaler.is_enabled():
            self.optimizer.step()
            return False
        before = self.scaler.get_scale()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        after = self.scaler.get_scale()
        if after < before:
            self.rows.append(Row("overflow", step, self.clock.now, {"from": before, "to": after}))
        return after < before

    def note(self, step: int, values: dict[str, float]) -> None:
        """Write down one row about the steps since the last one."""
        seconds = sum(one.seconds for one in self.recent)
        count = len(self.recent)
        values["loss"] = self.logged_loss()
        values["step_time"] = seconds / count
        usual = self.job.memory * (1 + 0.002 * self.noise.normal())
        values["mem"] = self.hook.memory(step, usual)
        tokens = self.task.tokens * self.job.accumulate * max(1, self.job.ranks)
        values["tps"] = tokens * count / seconds
        if self.scaler.is_enabled():
            values["loss_scale"] = self.scaler.get_scale()
            values["skipped"] = sum(one.was_skipped for one in self.recent)
        if self.hook.loss_scale is not None:
            values["loss_scale"] = self.hook.loss_scale
        values |= self.task.extras()
        if self.job.options.get("layer_norms"):
            values |= layer_norms(self.model)
        ranks = [
            seconds / count * math.exp(self.noise.normal(0, 0.02)) for _ in range(self.job.ranks)
        ]
        ranks = self.hook.rank_seconds(step, ranks)
        self.rows.append(Row("train", step, self.clock.now, values, ranks))
        self.recent = []

    def logged_loss(self) -> float:
        """The loss in the way that this job logs it."""
        if self.job.mode == "mean":
            return sum(one.loss for one in self.recent) / len(self.recent)
        if self.job.mode == "ema" and self.running_mean is not None:
            return self.running_mean
        return self.recent[-1].loss

    def evaluate(self, step: int) -> None:
        """Note the values of held-out data."""
        self.model.eval()
        with torch.no_grad():
            values = self.task.evaluate()
        self.model.train()
        self.clock.now += self.job.step_seconds * EVAL_STEPS
        self.rows.append(Row("val", step, self.clock.now, values))


def train(job: Job) -> list[Row]:
    """Everything that a supervised job logs."""
    return Training(job).run()


def make_optimizer(job: Job, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimizer that the job names, fresh."""
    if job.optimizer == "adamw":
        return torch.optim.AdamW(parameters, job.lr, weight_decay=job.weight_decay)
    momentum = 0.9 if job.optimizer == "sgd" else 0.0
    return torch.optim.SGD(parameters, job.lr, momentum, weight_decay=job.weight_decay)


def norm_of(parameters: list[nn.Parameter]) -> float:
    """The norm of all gradients together."""
    norms: list[Tensor] = [one.grad.float().norm() for one in parameters if one.grad is not None]
    return float(torch.stack(norms).norm()) if norms else 0.0


def layer_norms(model: nn.Module) -> dict[str, float]:
    """The gradient norm of every weight matrix."""
    return {
        f"grad/{name}": float(one.grad.float().norm())
        for name, one in model.named_parameters()
        if one.grad is not None and one.dim() > 1
    }
