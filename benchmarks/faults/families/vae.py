"""Variational auto-encoder on a mixture that lives on a plane in sixteen dimensions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ..recipe import Recipe
from ..workload import Batch, Workload, activation, scale_weights

FEATURES = 16


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="vae",
        seed=seed,
        steps=600,
        batch=64,
        lr=0.003,
        optimizer="adam",
        eval_every=50,
        model={"hidden": 64, "latent": 4, "activation": "relu", "beta": 1.0},
        data={"train_size": 12800, "val_size": 512},
        step_seconds=0.06,
    )


class AutoEncoder(nn.Module):
    """Encoder to mean and log-variance, decoder back."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        wide, latent = recipe.model["hidden"], recipe.model["latent"]
        kind = recipe.model["activation"]
        self.encoder = nn.Sequential(
            nn.Linear(FEATURES, wide), activation(kind), nn.Linear(wide, 2 * latent)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, wide), activation(kind), nn.Linear(wide, FEATURES)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Reconstruction, mean and log-variance."""
        mean, spread = self.encoder(x).chunk(2, dim=-1)
        noise = torch.randn_like(mean) if self.training else torch.zeros_like(mean)
        return self.decoder(mean + noise * (0.5 * spread).exp()), mean, spread


class Variational(Workload):
    """Reconstruction plus weighted divergence, warmed up over the first fifth."""

    step = 0

    def batch(self, step: int) -> Batch:
        """As usual; the weight of the divergence follows the step."""
        self.step = step
        return super().batch(step)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Negative evidence bound with its two parts."""
        back, mean, spread = self.model(batch.x)
        off = ((back - batch.x) ** 2).sum(-1).mean() / (2 * 0.3**2)
        kl = 0.5 * (mean**2 + spread.exp() - spread - 1).sum(-1).mean()
        beta = self.recipe.model["beta"] * min(1.0, (self.step + 1) / (0.2 * self.recipe.steps))
        return off + beta * kl, {"recon": float(off.detach()), "kl": float(kl.detach())}


def build(recipe: Recipe) -> Variational:
    """The model and its points."""
    torch.manual_seed(recipe.seed)
    model = AutoEncoder(recipe)
    scale_weights(model, recipe.model.get("init_gain", 1.0))
    workload = Variational(recipe, model)
    rng = np.random.default_rng([recipe.seed, 5])
    held = recipe.data["val_size"]
    size = recipe.data["train_size"] + held
    angle = rng.integers(0, 8, size) * np.pi / 4
    plane = np.stack([np.cos(angle), np.sin(angle)], 1) * 2 + rng.normal(0, 0.15, (size, 2))
    lift = rng.normal(0, 0.5, (2, FEATURES))
    points = plane @ lift + rng.normal(0, 0.2, (size, FEATURES))
    x = torch.tensor(points, dtype=torch.float32)
    workload.val_x = workload.val_y = x[:held]
    workload.train_x = workload.train_y = x[held:]
    return workload
