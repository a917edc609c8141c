"""Where a fault may reach into a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from .workload import Batch

if TYPE_CHECKING:
    from .training import Training


class Hook:
    """Does nothing; faults override the moments that they change."""

    def begin(self, training: Training) -> None:
        """Before the first step, with model and optimizer built."""

    def learning_rate(self, training: Training, lr: float) -> float:
        """The learning rate that is really used (and logged)."""
        return lr

    def batch(self, training: Training, batch: Batch) -> Batch:
        """The batch that the model gets."""
        return batch

    def loss(self, training: Training, loss: Tensor) -> Tensor:
        """The loss that is logged and minimised."""
        return loss

    def gradients(self, training: Training) -> None:
        """After the backward pass, before clipping."""

    def stepped(self, training: Training) -> None:
        """After the optimizer's step."""

    def times(self, training: Training, step: float, data: float) -> tuple[float, float]:
        """Seconds that the step and its data took."""
        return step, data

    def evaluation(self, training: Training, values: dict[str, float]) -> dict[str, float]:
        """What the evaluation reports."""
        return values
