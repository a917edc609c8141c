"""The first record of a file: what the arrays of the others stand for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from .activations import Activations
    from .layers import LayerList


def heading(
    layers: LayerList,
    activations: Activations,
    optimizers: Sequence[Optimizer],
    *,
    every: int,
    ranks: tuple[int, int],
) -> dict[str, object]:
    """Names in forward order, sizes, versions and ranks."""
    import torch

    owned = {id(p) for o in optimizers for group in o.param_groups for p in group["params"]}
    unoptimized = [
        layer.name
        for layer in layers.in_order()
        if optimizers and any(t.requires_grad and id(t) not in owned for t in layer.tensors())
    ]
    header: dict[str, object] = {
        "time": round(time.time(), 3),
        "torch": str(torch.__version__),
        "rank": ranks[0],
        "world_size": ranks[1],
        "every": every,
        "optimizers": [type(optimizer).__name__ for optimizer in optimizers],
        "order": "forward" if activations.seen else "registration",
        "layers": [layer.name for layer in layers.in_order()],
        "parameters": [layer.size for layer in layers.in_order()],
        "trainable": [layer.trainable for layer in layers.in_order()],
        "modules": activations.modules,
    }
    if unoptimized:
        header["unoptimized"] = unoptimized
        # A part that runs under no_grad() is left out on purpose; with gradients it was forgotten.
        unreached = [
            layer.name
            for layer in layers.in_order()
            if layer.name in unoptimized and all(t.grad is None for t in layer.tensors())
        ]
        if unreached:
            header["unreached"] = unreached
    tables = (torch.nn.Embedding, torch.nn.EmbeddingBag)
    embeddings = [layer.name for layer in layers.in_order() if isinstance(layer.module(), tables)]
    if embeddings:
        header["embeddings"] = embeddings
    skipped = {layer.name: layer.skipped for layer in layers.layers if layer.skipped}
    if skipped:
        header["skipped"] = skipped
    if not activations.seen:
        header["activations"] = "none seen: the model is compiled, or called in another way"
    return header
