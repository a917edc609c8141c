"""What is watched: the layers of a model, named as in its `state_dict`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .sharding import Sizes, is_sharded

if TYPE_CHECKING:
    from torch import Tensor, nn

_WRAPPING = frozenset({"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
"""Parts of names that wrappers add and that the plain model does not have."""
_WRAPPERS = frozenset({"DistributedDataParallel", "DataParallel", "FullyShardedDataParallel"})


def unwrap(model: Any) -> nn.Module:
    """The plain model inside of what data parallelism and compilation put around it."""
    while True:
        if hasattr(model, "_orig_mod"):
            model = model._orig_mod
        elif type(model).__name__ in _WRAPPERS and hasattr(model, "module"):
            model = model.module
        else:
            found: nn.Module = model
            return found


def plain_name(name: str) -> str:
    """A name without the parts that wrappers add."""
    parts = [part for part in name.split(".") if part not in _WRAPPING]
    return ".".join(parts) or "model"


@dataclass(slots=True)
class Layer:
    """A module with parameters of its own."""

    name: str
    module: weakref.ref[nn.Module]
    parameters: list[str]
    """Names inside the module; looked up each time, because parameters get replaced."""
    size: int = 0
    trainable: int = 0
    skipped: str = ""
    """Why its parameters cannot be measured; empty if they can."""

    def tensors(self) -> Iterator[Tensor]:
        """Its parameters as they are now."""
        module = self.module()
        if module is None:
            return
        for name in self.parameters:
            tensor = module._parameters.get(name)
            if tensor is not None:
                yield tensor


@dataclass(slots=True)
class LayerList:
    """The layers of a model; their places in the list are what measurements are kept under."""

    layers: list[Layer] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    """Places in the order in which data flows through the layers, once a forward pass was seen."""

    def measured(self) -> Iterator[tuple[int, Layer]]:
        """Layers whose parameters can be measured, with their place in the list."""
        return ((n, layer) for n, layer in enumerate(self.layers) if not layer.skipped)

    def put_in_order(self, called: list[str]) -> None:
        """Sort by the order in which modules were called; others stay behind their neighbour."""
        place = {name: n for n, name in enumerate(called)}
        current = -1
        keys: list[tuple[int, int]] = []
        for number, layer in enumerate(self.layers):
            current = place.get(layer.name, current)
            keys.append((current, number))
        self.order = sorted(range(len(keys)), key=lambda n: keys[n])

    def in_order(self) -> list[Layer]:
        """The layers as data flows through them."""
        return [self.layers[place] for place in self.order]

    def sort(self, places: Iterable[int]) -> list[int]:
        """Places in the order in which data flows through their layers."""
        wanted = set(places)
        return [place for place in self.order if place in wanted]


def find_layers(
    model: nn.Module, wanted: Callable[[str], bool], sizes: Sizes | None = None
) -> LayerList:
    """Every module that owns parameters; a shared parameter belongs to its first owner.

    `sizes` are those of parameters of which this rank holds a part.
    """
    seen: set[int] = set()
    found = LayerList()
    for name, module in model.named_modules():
        layer = Layer(plain_name(name), weakref.ref(module), [])
        if not wanted(layer.name):
            continue
        for own, tensor in module._parameters.items():
            if tensor is None or id(tensor) in seen:
                continue
            seen.add(id(tensor))
            reason = _problem(tensor)
            layer.parameters.append(own)
            layer.skipped = layer.skipped or reason
            if reason != "not initialised":
                size = (sizes or {}).get((id(module), own), tensor.numel())
                layer.size += size
                layer.trainable += size if tensor.requires_grad else 0
        if layer.parameters:
            found.layers.append(layer)
    return found


def _problem(tensor: Tensor) -> str:
    if any(kind.__name__ == "UninitializedParameter" for kind in type(tensor).__mro__):
        return "not initialised"
    if is_sharded(tensor):
        return "sharded"
    if tensor.is_meta:
        return "on the meta device"
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.is_quantized:
        return f"of type {str(tensor.dtype).removeprefix('torch.')}"
    return "empty" if tensor.numel() == 0 else ""
