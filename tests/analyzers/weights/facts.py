"""Checkpoints made of names and shapes alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mltd.runs.checkpoints import CheckpointSummary, Position, TensorFacts
from mltd.runs.checkpoints.tensor_facts import Role

BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


def tensor(
    name: str, shape: tuple[int, ...], *, tied_to: str = "", role: Role = "parameter"
) -> TensorFacts:
    """One tensor without values."""
    count = math.prod(shape)
    is_buffer = name.endswith(BUFFERS)
    return TensorFacts(
        name, shape, "float32", count, 4 * count, "buffer" if is_buffer else role, "", "m.pt",
        tied_to=tied_to,
    )  # fmt: skip


def summary(*tensors: TensorFacts) -> CheckpointSummary:
    """A checkpoint of these tensors."""
    return CheckpointSummary(
        "m.pt", "torch", "torch", (), tensors, (), Position(), (), (), False, ()
    )


def shaped(shapes: Mapping[str, tuple[int, ...]]) -> CheckpointSummary:
    """A checkpoint of names and shapes."""
    return summary(*(tensor(name, shape) for name, shape in shapes.items()))
