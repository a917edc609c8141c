"""Parameters of which each rank holds a part: how to tell, and how large they are as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

_KINDS = frozenset({"DTensor", "FlatParameter", "ShardedTensor"})
Sizes = dict[tuple[int, str], int]


def is_sharded(tensor: Tensor) -> bool:
    """True if the norm of a parameter would need all ranks at once."""
    # FSDP's first version keeps ordinary parameters that are views of this rank's part.
    if getattr(tensor, "_fsdp_flattened", False):
        return True
    return any(kind.__name__ in _KINDS for kind in type(tensor).__mro__)


def whole_sizes(model: Any) -> Sizes:
    """Elements of flattened parameters on all ranks, by module and name; empty if nobody says."""
    found: Sizes = {}
    modules: list[nn.Module] = list(model.modules()) if hasattr(model, "modules") else []
    for module in modules:
        handle: Any = getattr(module, "_handle", None)
        flat = getattr(handle, "flat_param", None)
        if flat is None:
            continue
        try:
            sizes = [shape.numel() for shape in flat._shapes]
            for info, size in zip(flat._param_infos, sizes, strict=True):
                found[id(info.module), info.param_name] = size
            found[id(handle._fully_sharded_module), "_flat_param"] = sum(sizes)
        except (AttributeError, TypeError, ValueError):
            continue  # names of a version that we do not know
    return found
