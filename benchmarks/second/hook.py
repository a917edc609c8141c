"""Where a fault may reach into a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor, nn

if TYPE_CHECKING:
    from .tasks.task import Batch, Task


@dataclass
class Hook:
    """Does nothing; faults override the moments that they change."""

    at: int = 0
    """The step from which the fault acts."""

    @property
    def loss_scale(self) -> float | None:
        """A static loss scale, if there is one."""
        return None

    def begin(self, task: Task) -> None:
        """Before the first step, with the model built."""

    def rate(self, step: int, lr: float) -> float:
        """The learning rate that is really used (and logged)."""
        return lr

    def batch(self, step: int, batch: Batch, task: Task) -> Batch:
        """The batch that the model gets."""
        return batch

    def loss(self, step: int, loss: Tensor) -> Tensor:
        """The loss that is minimised; the logged one is the true one."""
        return loss

    def gradients(self, step: int, model: nn.Module) -> None:
        """After the backward pass, before clipping."""

    def updated(self, step: int, model: nn.Module) -> None:
        """After the optimizer's step."""

    def seconds(self, step: int, seconds: float) -> float:
        """What a step takes."""
        return seconds

    def memory(self, step: int, gigabytes: float) -> float:
        """What a step holds."""
        return gigabytes

    def rank_seconds(self, step: int, seconds: list[float]) -> list[float]:
        """What a step takes on every rank."""
        return seconds
