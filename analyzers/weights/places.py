"""Tensors as evidence: the file and the name, and what stands there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from ..core.finding import Evidence, EvidenceKind

MOST_EVIDENCE = 12
"""Tensors that one finding names as evidence; its title says how many there are."""


def tensor_evidence(summary: CheckpointSummary, tensor: TensorFacts, quote: str) -> Evidence:
    """One tensor and what is to be seen in it."""
    file = tensor.file or os.path.basename(summary.path.rstrip("/"))
    return Evidence(EvidenceKind.CHECKPOINT, f"{file}:{tensor.name}", quote)


def place_evidence(path: str, name: str, quote: str) -> Evidence:
    """Something in a checkpoint that is no tensor of its model."""
    return Evidence(EvidenceKind.CHECKPOINT, f"{os.path.basename(path.rstrip('/'))}:{name}", quote)


def shape_text(shape: Iterable[int]) -> str:
    """A shape as one says it: 50257 x 768."""
    return " x ".join(str(size) for size in shape) or "one number"


def some(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    said = ", ".join(names[:most])
    return f"{said} and {more:,} more" if more > 0 else said


def counted(number: int, noun: str) -> str:
    """How many: 1 layer, 1,200 layers."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
