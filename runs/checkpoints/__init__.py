"""Saved weights: what they hold, without ever running anything from them.

`tensor_shapes` and `weights_of` read headers here and now. `read_checkpoint` and
`compare_checkpoints` look into values, too, in a process of their own with bounded time and memory;
what they return is plain values.
"""

from __future__ import annotations

from .checkpoint_summary import CheckpointFile, CheckpointSummary, DtypeShare, Position
from .comparison import ClosestName, Comparison, ShapeMismatch, TensorChange
from .errors import (
    CheckpointCancelled,
    CheckpointElsewhere,
    CheckpointLimit,
    DamagedCheckpoint,
    UnsafeCheckpoint,
)
from .limits import Limits
from .optimizer_facts import KIND_LABELS, OptimizerFacts, ParameterState, ParamGroup
from .reading import compare_checkpoints, read_checkpoint
from .shapes import TensorInfo, tensor_shapes
from .summary import Weights, weights_of
from .tensor_facts import Role, TensorFacts, TensorStats

__all__ = [
    "KIND_LABELS",
    "CheckpointCancelled",
    "CheckpointElsewhere",
    "CheckpointFile",
    "CheckpointLimit",
    "CheckpointSummary",
    "ClosestName",
    "Comparison",
    "DamagedCheckpoint",
    "DtypeShare",
    "Limits",
    "OptimizerFacts",
    "ParamGroup",
    "ParameterState",
    "Position",
    "Role",
    "ShapeMismatch",
    "TensorChange",
    "TensorFacts",
    "TensorInfo",
    "TensorStats",
    "UnsafeCheckpoint",
    "Weights",
    "compare_checkpoints",
    "read_checkpoint",
    "tensor_shapes",
    "weights_of",
]
