"""The one loop that trains every family, with or without a fault."""

from __future__ import annotations

import math
import multiprocessing
import os
import warnings
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from . import families
from .hooks import Hook
from .recipe import Recipe
from .trace import Entry, Trace

LAYERS = "layers"
"""Wanting this signal records the gradient norm of every layer."""


class Training:
    """A training under way: everything that a hook may look at or change."""

    def __init__(
        self, recipe: Recipe, hooks: Sequence[Hook] = (), wants: frozenset[str] = frozenset()
    ) -> None:
        self.recipe, self.hooks, self.wants = recipe, hooks, wants
        self.workload = families.build(recipe)
        self.model = self.workload.model
        self.optimizer = make_optimizer(recipe, self.workload.groups())
        is_half = recipe.precision == "fp16"
        self.scaler = torch.amp.GradScaler("cpu", enabled=is_half, growth_interval=200)
        self.trace = Trace(recipe.steps, self.workload.steps_per_epoch)
        self.step = self.next_step = 0
        self.keeps_gradients = False
        self.stops_at: int | None = None
        self.clock = np.random.default_rng([recipe.seed, 99])
        self.hoard: list[object] = []
        """Whatever a leak keeps alive."""

    def say(self, text: str, kind: str = "text") -> None:
        """Put a line into the log."""
        self.trace.entries.append(Entry(kind, self.step, text=text))

    def run(self) -> Trace:
        """Train to the end."""
        torch.manual_seed(self.recipe.seed + 1000)
        for hook in self.hooks:
            hook.begin(self)
        while self.step < self.recipe.steps and self.step != self.stops_at:
            self.next_step = self.step + 1
            self.one_step()
            if (self.step + 1) % self.recipe.eval_every == 0:
                self.evaluate()
            self.step = self.next_step
        return self.trace

    def one_step(self) -> None:
        """Forward, backward, update and one entry in the trace."""
        lr = self.recipe.lr_at(self.step)
        for hook in self.hooks:
            lr = hook.learning_rate(self, lr)
        for group in self.optimizer.param_groups:
            group["lr"] = lr * group.get("lr_factor", 1.0)
        if not self.keeps_gradients:
            self.optimizer.zero_grad()
        total, measured = 0.0, dict[str, float]()
        for part in range(self.recipe.accumulate):
            loss, metrics = self.forward(self.step * self.recipe.accumulate + part)
            total += float(loss.detach()) / self.recipe.accumulate
            for name, value in metrics.items():
                measured[name] = measured.get(name, 0.0) + value / self.recipe.accumulate
            if loss.requires_grad:
                torch.autograd.backward([self.scaler.scale(loss / self.recipe.accumulate)])
        if self.has_gradients():
            self.scaler.unscale_(self.optimizer)
        for hook in self.hooks:
            hook.gradients(self)
        values = {"loss": total, "lr": lr, **measured, **self.look_at_gradients()}
        if self.recipe.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        values.update(self.update())
        for hook in self.hooks:
            hook.stepped(self)
        values.update(self.resources())
        self.trace.entries.append(Entry("train", self.step, values, seconds=values["step_time"]))

    def forward(self, place: int) -> tuple[Tensor, dict[str, float]]:
        """The loss of one batch, as hooks leave it."""
        batch = self.workload.batch(place)
        for hook in self.hooks:
            batch = hook.batch(self, batch)
        with torch.autocast("cpu", torch.float16, enabled=self.recipe.precision == "fp16"):
            loss, metrics = self.workload.loss(batch)
        for hook in self.hooks:
            loss = hook.loss(self, loss)
        return loss, metrics

    def has_gradients(self) -> bool:
        """Whether anything the optimizer holds got a gradient."""
        groups = self.optimizer.param_groups
        return any(one.grad is not None for group in groups for one in group["params"])

    def look_at_gradients(self) -> dict[str, float]:
        """Norms before clipping, and more where somebody wants to see it."""
        grads = {
            name: one.grad for name, one in self.model.named_parameters() if one.grad is not None
        }
        if not grads:
            return {"grad_norm": 0.0}
        norms = torch.stack(torch._foreach_norm(list(grads.values()))).tolist()
        values = {"grad_norm": math.sqrt(sum(norm * norm for norm in norms))}
        if LAYERS in self.wants:
            layers: dict[str, float] = {}
            for name, norm in zip(grads, norms, strict=True):
                layer = name.rpartition(".")[0]
                layers[layer] = math.hypot(layers.get(layer, 0.0), norm)
            for name, _ in self.model.named_parameters():
                layers.setdefault(name.rpartition(".")[0], 0.0)
            values.update({f"layer:{name}": norm for name, norm in layers.items()})
        if "zero_share" in self.wants:
            zeros = sum(int((one == 0).sum()) for one in grads.values())
            values["zero_share"] = zeros / sum(one.numel() for one in grads.values())
        return values

    def update(self) -> dict[str, float]:
        """The optimizer's step, and how far it moved."""
        watched = "update_ratio" in self.wants
        before = [one.detach().clone() for one in self.model.parameters()] if watched else []
        if not self.scaler.is_enabled():
            self.optimizer.step()
        elif self.has_gradients():
            self.scaler.step(self.optimizer)
            self.scaler.update()
        values: dict[str, float] = {}
        if self.scaler.is_enabled():
            values["loss_scale"] = self.scaler.get_scale()
        if watched:
            after = list(self.model.parameters())
            moved = math.sqrt(
                sum(
                    float((a.detach() - b).pow(2).sum()) for a, b in zip(after, before, strict=True)
                )
            )
            size = math.sqrt(sum(float(one.pow(2).sum()) for one in before))
            values["update_ratio"] = moved / (size + 1e-12)
        if "param_norm" in self.wants:
            norms = torch._foreach_norm([one.detach() for one in self.model.parameters()])
            values["param_norm"] = float(torch.stack(norms).norm())
        return values

    def resources(self) -> dict[str, float]:
        """Drawn times (a shared machine's own would be noise) and, if asked for, real memory."""
        step = self.recipe.step_seconds * math.exp(self.clock.normal(0, 0.04))
        data = 0.05 * self.recipe.step_seconds * math.exp(self.clock.normal(0, 0.2))
        for hook in self.hooks:
            step, data = hook.times(self, step, data)
        values = {"step_time": step, "data_time": data, "throughput": self.recipe.batch / step}
        if "memory" in self.wants:
            values["memory"] = resident_megabytes()
        return values

    def evaluate(self) -> None:
        """One entry of validation values."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = self.workload.evaluate()
        for hook in self.hooks:
            values = hook.evaluation(self, values)
        cost = 4 * self.recipe.step_seconds
        self.trace.entries.append(Entry("eval", self.step, values, seconds=cost))


def make_optimizer(recipe: Recipe, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """The optimizer that the recipe names."""
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(
            groups, recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )
    kind = torch.optim.Adam if recipe.optimizer == "adam" else torch.optim.AdamW
    betas = (recipe.model.get("beta1", 0.9), recipe.model.get("beta2", 0.98))
    return kind(groups, recipe.lr, betas=betas, weight_decay=recipe.weight_decay, fused=True)


def resident_megabytes() -> float:
    """Memory that this process really holds."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def train(recipe: Recipe, hooks: Sequence[Hook] = (), wants: frozenset[str] = frozenset()) -> Trace:
    """Train a recipe, in a process of its own where memory counts."""
    if not (recipe.needs_own_process or "memory" in wants):
        return Training(recipe, hooks, wants).run()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_train_and_send, args=(recipe, hooks, wants, here, there))
    child.start()
    there.close()
    trace: Trace = here.recv()
    child.join()
    return trace


def _train_and_send(
    recipe: Recipe,
    hooks: Sequence[Hook],
    wants: frozenset[str],
    far_end: Connection,
    end: Connection,
) -> None:
    # Held open here, it would let this process wait for ever if its parent is gone.
    far_end.close()
    end.send(Training(recipe, hooks, wants).run())
    end.close()
