"""Generative adversarial net on a ring of eight Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..recipe import Recipe
from ..workload import Batch, Workload, scale_weights

NOISE = 4


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="gan",
        seed=seed,
        steps=600,
        batch=128,
        lr=0.001,
        optimizer="adam",
        eval_every=50,
        model={"hidden": 64, "noise": NOISE, "beta1": 0.5, "d_lr_factor": 3.0},
        data={"train_size": 12800, "val_size": 512},
        step_seconds=0.15,
    )


class Pair(nn.Module):
    """Generator and discriminator in one module, so that one optimizer holds both."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.generator = nn.Sequential(
            nn.Linear(NOISE, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, 2)
        )
        self.discriminator = nn.Sequential(
            nn.Linear(2, wide),
            nn.LeakyReLU(0.2),
            nn.Linear(wide, wide),
            nn.LeakyReLU(0.2),
            nn.Linear(wide, 1),
        )


class Adversarial(Workload):
    """Both players move at once; each sees the other's parameters as constants."""

    def __init__(self, recipe: Recipe, model: Pair) -> None:
        super().__init__(recipe, model)
        self.pair = model

    def groups(self) -> list[dict[str, Any]]:
        """The discriminator learns faster, or the ring is never covered."""
        factor = self.recipe.model["d_lr_factor"]
        return [
            {"params": list(self.pair.generator.parameters())},
            {"params": list(self.pair.discriminator.parameters()), "lr_factor": factor},
        ]

    def judge(self, points: Tensor, *, frozen: bool) -> Tensor:
        """The discriminator's logits."""
        critic = self.pair.discriminator
        if not frozen:
            logits: Tensor = critic(points)
            return logits
        constants = {name: one.detach() for name, one in critic.named_parameters()}
        judged: Tensor = functional_call(critic, constants, (points,))
        return judged

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """The sum of the two losses; their parts are what is logged."""
        fake = self.pair.generator(torch.randn(len(batch), NOISE))
        real_logits = self.judge(batch.x + 0.1 * torch.randn_like(batch.x), frozen=False)
        fake_logits = self.judge(fake.detach(), frozen=False)
        soft = nn.functional.softplus
        d_loss = soft(-real_logits).mean() + soft(fake_logits).mean()
        g_loss = soft(-self.judge(fake, frozen=True)).mean()
        right = ((real_logits > 0).float().mean() + (fake_logits < 0).float().mean()) / 2
        return d_loss + g_loss, {
            "d_loss": float(d_loss.detach()),
            "g_loss": float(g_loss.detach()),
            "d_acc": float(right),
            "sample_std": float(fake.detach().std(0).mean()),
        }

    def evaluate(self) -> dict[str, float]:
        """How many of the eight modes a sample reaches, and how far it spreads."""
        with torch.no_grad():
            fake = self.pair.generator(torch.randn(512, NOISE))
        near = torch.cdist(fake, modes()).min(1)
        close = near.indices[near.values < 0.6]
        counts = torch.bincount(close, minlength=8)
        return {"modes": float((counts > 8).sum()), "sample_std": float(fake.std(0).mean())}


def modes() -> Tensor:
    """The centres of the ring."""
    angle = torch.arange(8) * (torch.pi / 4)
    return torch.stack([angle.cos(), angle.sin()], 1) * 2


def build(recipe: Recipe) -> Adversarial:
    """The players and the ring."""
    torch.manual_seed(recipe.seed)
    pair = Pair(recipe.model["hidden"])
    scale_weights(pair, recipe.model.get("init_gain", 1.0))
    workload = Adversarial(recipe, pair)
    rng = np.random.default_rng([recipe.seed, 6])
    size = recipe.data["train_size"]
    points = modes()[torch.tensor(rng.integers(0, 8, size))]
    x = points + torch.tensor(rng.normal(0, 0.15, (size, 2)), dtype=torch.float32)
    workload.train_x = workload.train_y = x
    return workload
