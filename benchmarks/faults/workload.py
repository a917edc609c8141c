"""A model with its data: what every family of trainings provides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .recipe import Recipe


@dataclass
class Batch:
    """Inputs and targets of one step."""

    x: Tensor
    y: Tensor

    def __len__(self) -> int:
        """Samples in the batch."""
        return len(self.x)


class Workload:
    """A model, its training and validation data, and how to measure them."""

    chance: float | None = None
    """The loss of a model that knows nothing but the classes' shares."""

    def __init__(self, recipe: Recipe, model: nn.Module) -> None:
        self.recipe = recipe
        self.model = model
        self.train_x = self.train_y = torch.empty(0)
        self.val_x = self.val_y = torch.empty(0)
        self._order = np.empty(0, dtype=np.int64)
        self._epoch = -1

    @property
    def steps_per_epoch(self) -> int:
        """Batches in the training set."""
        return max(1, len(self.train_x) // self.recipe.batch)

    def groups(self) -> list[dict[str, Any]]:
        """Parameter groups for the optimizer."""
        return [{"params": list(self.model.parameters())}]

    def batch(self, step: int) -> Batch:
        """The batch of a step; the order depends on seed and epoch alone, so runs can resume."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            rng = np.random.default_rng([self.recipe.seed, epoch, 11])
            self._order = rng.permutation(len(self.train_x))
            self._epoch = epoch
        chosen = torch.from_numpy(
            self._order[place * self.recipe.batch : (place + 1) * self.recipe.batch].copy()
        )
        return Batch(self.train_x[chosen], self.train_y[chosen])

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """What is minimised, and what else is measured with it."""
        raise NotImplementedError

    def evaluate(self) -> dict[str, float]:
        """Loss and metrics on the validation set, in evaluation mode."""
        self.model.eval()
        with torch.no_grad():
            loss, metrics = self.loss(Batch(self.val_x, self.val_y))
        self.model.train()
        return {"val_loss": float(loss), **{f"val_{key}": one for key, one in metrics.items()}}


class Classifier(Workload):
    """Cross-entropy over classes, with accuracy."""

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Mean cross-entropy and accuracy."""
        logits = self.model(batch.x)
        loss = nn.functional.cross_entropy(logits.float(), batch.y)
        right = (logits.argmax(-1) == batch.y).float().mean()
        return loss, {"acc": float(right)}


def activation(name: str) -> nn.Module:
    """The nonlinearity of a name in the configuration."""
    kinds: dict[str, type[nn.Module]] = {
        "relu": nn.ReLU,
        "gelu": nn.GELU,
        "tanh": nn.Tanh,
        "sigmoid": nn.Sigmoid,
    }
    return kinds[name]()


def scale_weights(model: nn.Module, scale: float) -> None:
    """Multiply every matrix of a freshly built model."""
    with torch.no_grad():
        for one in model.parameters():
            if one.dim() > 1:
                one.mul_(scale)


def cut(data: dict[str, Any], x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The first `train_size` samples, all if the setting is missing."""
    size = int(data.get("train_size", len(x)))
    return x[:size], y[:size]
