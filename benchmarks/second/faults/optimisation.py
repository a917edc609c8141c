"""What may be wrong with rates, losses and updates."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..hook import Hook


@dataclass
class RateFactor(Hook):
    """The learning rate jumps at a step."""

    factor: float = 1.0

    def rate(self, step: int, lr: float) -> float:
        """Multiply it for good."""
        return lr if step < self.at else lr * self.factor


@dataclass
class RateGrowth(Hook):
    """The learning rate grows without end: a decay factor above one."""

    factor: float = 1.0

    def rate(self, step: int, lr: float) -> float:
        """A little more with every step."""
        return lr * self.factor ** max(0, step - self.at)


@dataclass
class Negated(Hook):
    """The loss is maximised."""

    def loss(self, step: int, loss: Tensor) -> Tensor:
        """Turn its sign."""
        return -loss


@dataclass
class KeptGradients(Hook):
    """Gradients are never cleared."""

    kept: list[Tensor] = field(default_factory=list)

    def gradients(self, step: int, model: nn.Module) -> None:
        """Add those of all steps before."""
        now = [one.grad for one in model.parameters() if one.grad is not None]
        for one, old in zip(now, self.kept, strict=False):
            one.add_(old)
        self.kept = [one.clone() for one in now]


@dataclass
class Frozen(Hook):
    """Nothing is updated: the optimizer holds copies."""

    kept: list[Tensor] = field(default_factory=list)

    def gradients(self, step: int, model: nn.Module) -> None:
        """Remember the weights."""
        self.kept = [one.detach().clone() for one in model.parameters()]

    def updated(self, step: int, model: nn.Module) -> None:
        """Put them back."""
        with torch.no_grad():
            for one, old in zip(model.parameters(), self.kept, strict=True):
                one.copy_(old)


@dataclass
class Growing(Hook):
    """Decoupled weight decay with the wrong sign: weights grow."""

    growth: float = 0.0
    """Share by which they grow in a step."""

    def updated(self, step: int, model: nn.Module) -> None:
        """Let all matrices grow."""
        if step < self.at:
            return
        with torch.no_grad():
            for one in model.parameters():
                if one.dim() > 1:
                    one.mul_(1 + self.growth)
