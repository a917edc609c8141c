"""What may be wrong with the data."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..hook import Hook
from ..tasks.reversal import Reversal
from ..tasks.task import Batch, Task
from ..tasks.text import VOCABULARY


@dataclass
class Garbage(Hook):
    """Meaningless batches for some steps."""

    length: int = 1
    share: float = 1.0
    """Of the batches in these steps."""
    part: float = 1.0
    """Of every such batch."""

    def batch(self, step: int, batch: Batch, task: Task) -> Batch:
        """Spoil what lies in the pocket."""
        is_inside = self.at <= step < self.at + self.length
        if not is_inside or float(torch.rand(1, generator=task.generator)) >= self.share:
            return batch
        count = int(len(batch[0]) * self.part)
        return tuple(
            torch.cat([bad[:count], good[count:]])
            for bad, good in zip(task.garbage(batch), batch, strict=True)
        )


@dataclass
class Echoed(Hook):
    """Targets are the inputs, not the next characters."""

    def batch(self, step: int, batch: Batch, task: Task) -> Batch:
        """Forget the shift."""
        return batch[0], batch[0]


@dataclass
class Relabelled(Hook):
    """From a step on the inputs follow another vocabulary."""

    def batch(self, step: int, batch: Batch, task: Task) -> Batch:
        """Give every character the number of another."""
        if step < self.at:
            return batch
        table = torch.randperm(VOCABULARY, generator=torch.Generator().manual_seed(1))
        return table[batch[0]], *batch[1:]


@dataclass
class Rescaled(Hook):
    """From a step on the inputs have another scale."""

    factor: float = 1.0

    def batch(self, step: int, batch: Batch, task: Task) -> Batch:
        """Multiply the inputs."""
        return batch if step < self.at else (batch[0] * self.factor, *batch[1:])


@dataclass
class Longer(Hook):
    """The curriculum goes on to longer sequences, with another rate if one is given."""

    length: int = 20
    rate_factor: float = 1.0

    def rate(self, step: int, lr: float) -> float:
        """Another rate for the new stage."""
        return lr if step < self.at else lr * self.rate_factor

    def batch(self, step: int, batch: Batch, task: Task) -> Batch:
        """Sequences of the new length."""
        if step < self.at or not isinstance(task, Reversal):
            return batch
        return task.draw(len(batch[0]), self.length, task.generator)

    def seconds(self, step: int, seconds: float) -> float:
        """Longer sequences take longer."""
        return seconds if step < self.at else 1.3 * seconds
