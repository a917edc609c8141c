"""What may be wrong with weights and their precision."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..hook import Hook
from ..tasks.task import Task

EXPONENT_BIT = 30


@dataclass
class BitFlip(Hook):
    """The highest exponent bit of the largest number of a parameter flips."""

    parameter: str = ""

    def updated(self, step: int, model: nn.Module) -> None:
        """Flip it once."""
        if step != self.at:
            return
        with torch.no_grad():
            numbers = model.get_parameter(self.parameter).view(-1)
            place = int(numbers.abs().argmax())
            bits = numbers[place : place + 1].clone().view(torch.int32)
            numbers[place] = (bits ^ (1 << EXPONENT_BIT)).view(torch.float32)[0]


@dataclass
class ScaledInit(Hook):
    """All matrices start too large, or at zero."""

    factor: float = 1.0

    def begin(self, task: Task) -> None:
        """Multiply them."""
        with torch.no_grad():
            for one in task.model.parameters():
                if one.dim() > 1:
                    one.mul_(self.factor)


@dataclass
class Saturated(Hook):
    """Activations with flat ends, fed far outside of their range."""

    activation: type[nn.Module] = nn.Sigmoid
    factor: float = 1.0
    bias: float = 0.0

    def begin(self, task: Task) -> None:
        """Exchange activations, and spoil the layers before them."""
        model = task.model
        assert isinstance(model, nn.Sequential)
        with torch.no_grad():
            for place, module in enumerate(list(model)[:-1]):
                if isinstance(module, nn.Linear):
                    module.weight.mul_(self.factor)
                    module.bias.add_(self.bias)
                else:
                    model[place] = self.activation()


@dataclass
class RouterBias(Hook):
    """The router starts with a strong preference for the first expert."""

    bias: float = 0.0

    def begin(self, task: Task) -> None:
        """Give it that preference."""
        with torch.no_grad():
            task.model.get_parameter("gate.bias")[0] += self.bias


@dataclass
class TinyScale(Hook):
    """A static loss scale far below one; gradients are unscaled afterwards, as they should."""

    factor: float = 1.0

    @property
    def loss_scale(self) -> float:
        """What loggers say of it."""
        return self.factor

    def loss(self, step: int, loss: Tensor) -> Tensor:
        """Scale."""
        return loss * self.factor

    def gradients(self, step: int, model: nn.Module) -> None:
        """Unscale what is left."""
        for one in model.parameters():
            if one.grad is not None:
                one.grad.div_(self.factor)
