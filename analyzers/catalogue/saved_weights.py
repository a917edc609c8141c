"""Findings that only a look into a checkpoint makes: their pages, and examples of checkpoints.

An example names tensors, separated by ` | `, each with its shape and the root mean square of its
values, or the one number that all of them are:

    checkpoint: h.0.fc.weight 64x64 rms=0.1 | h.1.fc.weight 64x64 all=0.5
"""

from __future__ import annotations

import math
import sys

from mltd.runs.checkpoints import CheckpointSummary, Position, TensorFacts, TensorStats

from ..weights import odd_weights
from .page import Page, parse_page

FAMILY = "weights"
"""The folder that makes them, which is no family of `check`."""
HEAD = "checkpoint:"
_MODULES = (odd_weights,)


def saved_weights_pages() -> list[Page]:
    """One for each finding that no analyzer of runs makes."""
    return [
        parse_page(name, sys.modules[module.__name__].__doc__ or "")
        for module in _MODULES
        for name in [module.__name__.rpartition(".")[2]]
    ]


def example_checkpoint(text: str) -> CheckpointSummary:
    """The checkpoint that an example describes."""
    parts = text.strip().removeprefix(HEAD).split(" | ")
    tensors = tuple(_tensor(*part.split()) for part in parts)
    return CheckpointSummary(
        "example.pt", "torch", "torch", (), tensors, (), Position(), (), (), True, ()
    )


def _tensor(name: str, shape: str, value: str) -> TensorFacts:
    sizes = tuple(int(size) for size in shape.split("x"))
    count = math.prod(sizes)
    how, _, number = value.partition("=")
    rms = float(number)
    is_constant = how == "all"
    stats = TensorStats(
        least=rms if is_constant else -3 * rms,
        most=rms if is_constant else 3 * rms,
        mean=rms if is_constant else 0.0,
        std=0.0 if is_constant else rms,
        norm=rms * math.sqrt(count),
        zeros=count if is_constant and not rms else 0,
        nans=0,
        infs=0,
        is_constant=is_constant,
        dead_rows=0 if len(sizes) > 1 else None,
        first_dead=(),
        fingerprint=name,
    )
    return TensorFacts(
        name, sizes, "float32", count, 4 * count, "parameter", "", "example.pt", stats=stats
    )
