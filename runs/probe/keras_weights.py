"""What can be read of a Keras model between two batches, whatever its backend."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STRIDE_OVER = 16_384
"""Elements of a weight that are kept to see how far it moves."""


@dataclass(slots=True)
class Before:
    """A layer's learnable weights before a batch: samples, and the norm of all of it."""

    samples: list[Any]
    norm: float


def layers_of(model: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Layers with weights, those of models inside of models too."""
    for layer in model.layers:
        name = f"{prefix}{layer.name}"
        if getattr(layer, "layers", None):
            yield from layers_of(layer, f"{name}/")
        elif layer.weights:
            yield name, layer


def synchronise(model: Any) -> None:
    """Have the weights where they can be read: with JAX they are elsewhere during an epoch."""
    sync = getattr(model, "jax_state_sync", None)
    if sync is not None:
        sync()


def before(layer: Any) -> Before:
    """A layer as it is now."""
    weights = _learning(layer)
    return Before([_sample(weight) for weight in weights], _norm([_array(w) for w in weights]))


def moved(layer: Any, then: Before) -> float | None:
    """How far a layer moved relative to its norm."""
    pairs = zip(_learning(layer), then.samples, strict=True)
    distance, size = _norm([_sample(weight) - old for weight, old in pairs]), _norm(then.samples)
    return distance / size if size else None


def is_finite(layer: Any) -> bool:
    """False if a weight is not finite; running statistics count, too."""
    return math.isfinite(_norm([_array(weight) for weight in layer.weights]))


def gradient_norm(layer: Any) -> float | None:
    """The gradient's norm, where the backend leaves it at the weights: torch does."""
    found = [getattr(weight.value, "grad", None) for weight in layer.trainable_weights]
    norms = [float(one.detach().float().norm()) for one in found if one is not None]
    return math.hypot(*norms) if norms else None


def size_of(weights: list[Any]) -> int:
    """How many elements weights have."""
    return sum(math.prod(weight.shape) for weight in weights)


def number_in(value: Any) -> float:
    """A number that may be a variable."""
    return float(value.numpy() if hasattr(value, "numpy") else value)


def _learning(layer: Any) -> list[Any]:
    """Weights that the optimizer changes; running statistics move by themselves."""
    found: list[Any] = layer.trainable_weights or layer.weights
    return found


def _array(weight: Any) -> Any:
    import numpy as np

    value = weight.numpy() if hasattr(weight, "numpy") else weight
    return np.asarray(value, dtype=np.float64)


def _sample(weight: Any) -> Any:
    flat = _array(weight).reshape(-1)
    return flat[:: max(1, -(-flat.size // _STRIDE_OVER))].copy()


def _norm(arrays: list[Any]) -> float:
    return math.sqrt(sum(float((array * array).sum()) for array in arrays))
