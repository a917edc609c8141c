"""What the training loop needs of every family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Batch = tuple[Tensor, ...]


class Task(ABC):
    """A model with its data; everything random comes from the seed."""

    usual_batch = 16
    tokens: int
    """What a batch holds, in whatever this family counts."""
    model: nn.Module

    def __init__(self, options: dict[str, Any], seed: int) -> None:
        self.options = options
        self.batch_size: int = options.get("batch", self.usual_batch)
        self.generator = torch.Generator().manual_seed(seed * 7 + 1)
        torch.manual_seed(seed)
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Make the data and the model."""

    @abstractmethod
    def batch(self) -> Batch:
        """The next training batch."""

    @abstractmethod
    def garbage(self, batch: Batch) -> Batch:
        """The same batch with meaningless contents."""

    @abstractmethod
    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """The loss of a batch, and what is measured on the way."""

    @abstractmethod
    def evaluate(self) -> dict[str, float]:
        """Values of held-out data."""

    def extras(self) -> dict[str, float]:
        """What else is logged with a step."""
        return {}

    def integers(self, high: int, *shape: int) -> Tensor:
        """Random integers from zero up to and without `high`."""
        return torch.randint(0, high, shape, generator=self.generator)

    def normals(self, *shape: int) -> Tensor:
        """Normal random numbers."""
        return torch.randn(*shape, generator=self.generator)


def classify(logits: Tensor, labels: Tensor) -> tuple[Tensor, float]:
    """Cross entropy and accuracy over all places."""
    flat = logits.float().reshape(-1, logits.shape[-1])
    right = (flat.argmax(-1) == labels.reshape(-1)).float().mean().item()
    return F.cross_entropy(flat, labels.reshape(-1)), right


def held_out(logits: Tensor, labels: Tensor) -> dict[str, float]:
    """What a classifier's evaluation reports."""
    loss, accuracy = classify(logits, labels)
    return {"val_loss": loss.item(), "val_acc": accuracy}
