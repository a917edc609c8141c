"""Whether parameters that stand still look frozen on purpose."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mltd.runs.checkpoints import TensorFacts

SMALL = 0.01
"""Share of the model that may stand still unnoticed: a pooler that nobody uses, a single scale."""


def is_deliberate(still: Collection[str], parameters: Sequence[TensorFacts]) -> bool:
    """True for a base below adapters, for the first layers of a model, or for very little of it."""
    own = [tensor for tensor in parameters if tensor.name in still]
    total = sum(tensor.elements for tensor in parameters)
    if not own or not total:
        return True
    if sum(tensor.elements for tensor in own) < SMALL * total:
        return True
    names = [tensor.name for tensor in parameters]
    moving = [name for name in names if name not in still]
    if moving and all("lora_" in name or "adapter" in name or "prompt" in name for name in moving):
        return True
    # A body is frozen from its input up to some layer, never in the middle alone.
    first_moving = next((i for i, name in enumerate(names) if name not in still), len(names))
    return first_moving > 0 and all(name not in still for name in names[first_moving:])
