"""How far a step moves the weights: samples of them from before, compared with after."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .norms import norms, sample

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(slots=True)
class Updates:
    """The parameters that one optimizer is about to change."""

    owners: list[int] = field(default_factory=list)
    """For each sample, the layer that it belongs to."""
    tensors: list[Tensor] = field(default_factory=list)
    before: list[Tensor] = field(default_factory=list)
    moved: list[Tensor] = field(default_factory=list)

    def keep(self, owned: Iterable[tuple[int, Tensor]]) -> None:
        """Copy samples: 64 KB of a parameter at most, whatever its size."""
        for owner, tensor in owned:
            self.owners.append(owner)
            self.tensors.append(tensor)
            self.before.append(sample(tensor).clone())

    def measure(self) -> None:
        """Compare with the weights as they are now; nothing is transferred yet."""
        import torch

        now = [sample(tensor) for tensor in self.tensors]
        moved = [
            new.float() - old.float() if new.dtype in (torch.float16, torch.bfloat16) else new - old
            for new, old in zip(now, self.before, strict=True)
        ]
        self.moved = norms(moved) if moved else []

    def by_layer(self, moved: list[float]) -> dict[int, float]:
        """The estimated norm of each layer's update, from the norms of its samples."""
        squares: dict[int, float] = {}
        pairs = zip(self.owners, self.tensors, self.before, moved, strict=True)
        for owner, tensor, kept, norm in pairs:
            if not math.isfinite(norm):  # single precision may not be enough
                norm = float((sample(tensor).double() - kept.double()).norm())
            share = kept.numel() / tensor.numel()
            squares[owner] = squares.get(owner, 0.0) + norm * norm / share
        return {owner: math.sqrt(square) for owner, square in squares.items()}
