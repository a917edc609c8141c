"""Noise prediction of a diffusion model on points in the plane."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .task import Batch, Task

TIMES = 50


class Diffusion(Task):
    """A perceptron with three hidden layers."""

    usual_batch = 64
    model: nn.Sequential

    def build(self) -> None:
        """Two moons, or a grid."""
        hidden = 64
        self.tokens = self.batch_size
        self.kept = torch.cumprod(1 - torch.linspace(1e-3, 0.15, TIMES), 0)
        self.model = nn.Sequential(
            nn.Linear(2 + 8, hidden),
            nn.SiLU(),
            nn.Linear(hidden, hidden),
            nn.SiLU(),
            nn.Linear(hidden, hidden),
            nn.SiLU(),
            nn.Linear(hidden, 2),
        )
        self.held = self.points(256, torch.Generator().manual_seed(3))

    def points(self, count: int, generator: torch.Generator) -> Tensor:
        """Clean points."""
        if self.options.get("shape") == "grid":
            places = torch.randint(-2, 3, (count, 2), generator=generator).float() * 0.7
        else:
            angle = torch.rand(count, generator=generator) * math.pi
            is_upper = torch.rand(count, generator=generator) < 0.5
            across = torch.where(is_upper, angle.cos(), 1 - angle.cos()) - 0.5
            up = torch.where(is_upper, angle.sin(), 0.5 - angle.sin()) - 0.25
            places = torch.stack([across, up], 1) * 1.4
        return places + 0.05 * torch.randn(count, 2, generator=generator)

    def batch(self) -> Batch:
        """Points, times and noise."""
        count = self.batch_size
        points = self.points(count, self.generator)
        return points, self.integers(TIMES, count), self.normals(count, 2)

    def garbage(self, batch: Batch) -> Batch:
        """Points from far away."""
        return self.normals(*batch[0].shape) * 60, *batch[1:]

    def error(self, points: Tensor, times: Tensor, noise: Tensor) -> Tensor:
        """Mean squared error of the predicted noise."""
        kept = self.kept[times][:, None]
        noisy = kept.sqrt() * points + (1 - kept).sqrt() * noise
        phase = times.float()[:, None] / TIMES * torch.tensor([1.0, 3.0, 9.0, 27.0])
        predicted = self.model(torch.cat([noisy, phase.sin(), phase.cos()], 1))
        error: Tensor = ((predicted.float() - noise) ** 2).mean()
        return error

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """The error of a batch."""
        return self.error(*batch), {}

    def evaluate(self) -> dict[str, float]:
        """The same points, times and noise each time."""
        generator = torch.Generator().manual_seed(4)
        times = torch.randint(0, TIMES, (256,), generator=generator)
        noise = torch.randn(256, 2, generator=generator)
        return {"val_loss": self.error(self.held, times, noise).item()}
