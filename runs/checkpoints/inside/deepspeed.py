"""A DeepSpeed folder: model states by rank of the model, optimizer states by rank of the data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ...errors import MltdError
from ..limits import Limits
from ..tensor_info import checked_shape
from .content import Content, Part
from .dtypes import item_bytes
from .leaf import Leaf, Node
from .opening import open_file

_MODEL = re.compile(r"(?:zero_pp_rank_(\d+)_)?mp_rank_(\d+)_model_states\.pt|layer_.*_states\.pt")
_OPTIMIZER = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d+)_mp_rank_(\d+)_optim_states\.pt")
MOST_MODEL_FILES = 64


def is_deepspeed(names: list[str]) -> bool:
    """True for the names in a `global_step500` folder."""
    return any(_MODEL.fullmatch(name) or _OPTIMIZER.fullmatch(name) for name in names)


def files_read(names: list[str], *, is_extra: bool = False) -> list[str]:
    """The shards that are looked into; of the others their sizes are enough."""
    # With ZeRO-3 every rank writes model states; the first says all that the others say.
    models = [
        name
        for name in names
        if _MODEL.fullmatch(name) and (not name.startswith("zero_pp_rank_") or "_rank_0_" in name)
    ]
    optimizers = [name for name in names if _OPTIMIZER.fullmatch(name)]
    return [*([] if is_extra else models[:MOST_MODEL_FILES]), *optimizers[:1]]


def add_deepspeed(
    content: Content,
    path: str,
    names: list[str],
    limits: Limits,
    *,
    needs_values: bool,
    is_extra: bool = False,
) -> None:
    """List and sum all shards; read the model states, and the optimizer's of the first rank."""
    models = [name for name in names if _MODEL.fullmatch(name)]
    optimizers = [name for name in names if _OPTIMIZER.fullmatch(name)]
    wanted = files_read(names, is_extra=is_extra)
    read = [name for name in models if name in wanted]
    for name in models:
        file = os.path.join(path, name)
        if name not in read:
            content.list_file(file, "shard")
            continue
        loaded = open_file(file, limits, needs_values=needs_values, root=content.root)
        section = name.removesuffix("_model_states.pt") if len(read) > 1 else ""
        content.take(loaded)
        content.parts[-1] = Part(_without_placeholders(loaded.node, content), section)
    for name in optimizers:
        file = os.path.join(path, name)
        if name not in wanted:
            content.list_file(file, "shard")
            continue
        try:
            loaded = open_file(file, limits, needs_values=needs_values, root=content.root)
            content.take(loaded, "optimizer", "optimizer")
        except MltdError as problem:
            content.list_file(file, "shard")
            content.notes.append(str(problem))
    if len(optimizers) > 1:
        content.notes.append(
            f"the optimizer is spread over {len(optimizers):,} ranks; only the first one's part "
            "was read, the others are counted by their size"
        )


def _without_placeholders(node: Node, content: Content) -> Node:
    """With ZeRO-3 the weights are elsewhere, and their shapes are written down."""
    if not isinstance(node, dict):
        return node
    for name, _ in _shapes(node.get("frozen_param_shapes")):
        content.frozen.add(name)
    shapes = dict(_shapes(node.get("param_shapes")))
    module = node.get("module")
    held = module if isinstance(module, dict) else {}
    is_empty = [leaf.elements == 0 for leaf in held.values() if isinstance(leaf, Leaf)]
    if not shapes or (is_empty and not all(is_empty)):
        return node
    content.notes.append(
        "the weights are partitioned (ZeRO-3): shapes are known, values are in the shards of all "
        "ranks; zero_to_fp32.py beside them puts them together"
    )
    dtypes = {leaf.dtype for leaf in held.values() if isinstance(leaf, Leaf)}
    dtype = dtypes.pop() if len(dtypes) == 1 else "float32"
    leaves = {
        name: Leaf(shape, dtype, _count(shape) * item_bytes(dtype))
        for name, shape in shapes.items()
    }
    return {**node, "module": leaves}


def _shapes(node: Node) -> Iterator[tuple[str, tuple[int, ...]]]:
    for table in node if isinstance(node, list) else [node]:
        for name, size in table.items() if isinstance(table, dict) else ():
            shape = checked_shape(size)
            if shape is not None:
                yield name, shape


def _count(shape: tuple[int, ...]) -> int:
    return Leaf(shape, "", 0).elements
