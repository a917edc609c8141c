"""Saved weights: which tensors they hold, without running or loading anything."""

from __future__ import annotations

from .shapes import TensorInfo, tensor_shapes
from .summary import Weights, weights_of

__all__ = ["TensorInfo", "Weights", "tensor_shapes", "weights_of"]
