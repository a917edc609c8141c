"""Matrix factorisation of ratings, with biases."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .task import Batch, Task

USERS, ITEMS, MEAN = 300, 200, 3.5


class Factors(Task):
    """Embeddings of users and items."""

    usual_batch = 128
    model: nn.ModuleDict

    def build(self) -> None:
        """Ratings of four true factors, rounded to halves."""
        options = self.options
        self.tokens = self.batch_size
        count: int = options.get("ratings", 12000)
        users, items = self.integers(USERS, count), self.integers(ITEMS, count)
        taste = (self.normals(USERS, 4)[users] * self.normals(ITEMS, 4)[items]).sum(1)
        biases = 0.3 * self.normals(USERS)[users] + 0.4 * self.normals(ITEMS)[items]
        exact = MEAN + biases + 0.4 * taste + 0.3 * self.normals(count)
        self.data = (users, items, exact.clamp(1, 5).mul(2).round() / 2)
        self.cut = int(count * 0.85)
        factors = options.get("factors", 8)
        self.model = nn.ModuleDict(
            {
                "p": nn.Embedding(USERS, factors),
                "q": nn.Embedding(ITEMS, factors),
                "bu": nn.Embedding(USERS, 1),
                "bi": nn.Embedding(ITEMS, 1),
            }
        )
        for one in self.model.parameters():
            nn.init.normal_(one, std=options.get("std", 0.1))

    def batch(self) -> Batch:
        """Random ratings."""
        chosen = self.integers(self.cut, self.batch_size)
        return tuple(column[chosen] for column in self.data)

    def garbage(self, batch: Batch) -> Batch:
        """Ratings up to a hundred."""
        users, items, ratings = batch
        return users, items, (torch.rand(ratings.shape, generator=self.generator) * 100).round()

    def error(self, users: Tensor, items: Tensor, ratings: Tensor) -> Tensor:
        """Mean squared error."""
        model = self.model
        predicted = MEAN + model["bu"](users)[:, 0] + model["bi"](items)[:, 0]
        predicted = predicted + (model["p"](users) * model["q"](items)).sum(1)
        error: Tensor = ((predicted - ratings) ** 2).mean()
        return error

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """The error of a batch."""
        return self.error(*batch), {}

    def evaluate(self) -> dict[str, float]:
        """On ratings that training does not have."""
        users, items, ratings = (column[self.cut :] for column in self.data)
        error = self.error(users, items, ratings).item()
        return {"val_loss": error, "val_rmse": math.sqrt(error) if error < 1e300 else math.nan}
