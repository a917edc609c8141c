"""What surrounds a training step: ranks, memory, learning rates, the loss scale."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.optim import Optimizer

MOST_GROUPS = 8
"""Parameter groups whose learning rates are kept; some optimizers have one for each layer."""


def rank_and_world() -> tuple[int, int]:
    """This process's number among those that train together, and how many there are."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    try:
        return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    except ValueError:
        return 0, 1


def path_for_rank(path: str, rank: int) -> str:
    """The name of another rank's file."""
    stem, extension = os.path.splitext(path)
    return path if rank == 0 else f"{stem}.rank{rank}{extension}"


def plain_optimizers(given: Any) -> list[Optimizer]:
    """The optimizers of torch inside of what a user passes: one, several, or wrapped ones."""
    import torch

    found: list[Optimizer] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        # Some wrappers claim to be optimizers themselves, but have no hooks.
        while isinstance(inner := getattr(one, "optimizer", None), torch.optim.Optimizer):
            one = inner
        if not isinstance(one, torch.optim.Optimizer):
            raise TypeError(f"{type(one).__name__} is no optimizer of torch")
        if one not in found:
            found.append(one)
    return found


def learning_rates(optimizers: Sequence[Optimizer]) -> list[float]:
    """The learning rate of each parameter group."""
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    return [float(group["lr"]) for group in groups[:MOST_GROUPS] if "lr" in group]


def steps_done(optimizer: Optimizer) -> int:
    """Steps that the optimizer has in its own state, for example from a checkpoint."""
    counts = (state.get("step") for state in optimizer.state.values() if isinstance(state, dict))
    count = next((count for count in counts if count is not None), 0)
    return int(count)


def loss_scale(scaler: Any, optimizer: Any) -> float | None:
    """What the loss is multiplied with, if anything says so."""
    if scaler is None:
        scale = getattr(optimizer, "grad_scale", None)
        return None if scale is None else float(scale)
    if getattr(scaler, "is_enabled", lambda: True)() is False:
        return None
    for name in ("get_scale", "loss_scale", "cur_scale", "scale_value"):
        scale = getattr(scaler, name, None)
        if scale is not None:
            return float(scale() if callable(scale) else scale)
    return None


def memory_in_use() -> dict[str, int] | None:
    """Bytes on this process's GPU; None where there is none."""
    import torch

    is_there = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if not is_there:
        return None
    return {
        "allocated": torch.cuda.memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
        "max_allocated": torch.cuda.max_memory_allocated(),
    }


def warn(sentence: str) -> None:
    """Say something once to whoever reads the job's output."""
    try:
        sys.stderr.write(f"mltd probe: {sentence}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return  # nobody listens
