"""A folder of torch.distributed.checkpoint (FSDP): `.metadata` and shards named `__0_0.distcp`."""

from __future__ import annotations

import os
import re

from ..errors import DamagedCheckpoint
from ..inert_pickle import Call, Name, PickleProblem, read_with_names
from ..limits import Limits
from ..tensor_info import checked_shape
from .allowed_globals import check_globals
from .content import Content, Part
from .dtypes import item_bytes
from .handle import Handle
from .leaf import Leaf, Node, text
from .nesting import nested

METADATA = ".metadata"
_MOST_LOOKS = 200
_DEEPEST = 30
_STATE = re.compile(
    r"(?:^|\.)optim|^state\.|\.(?:exp_avg(?:_sq)?|momentum_buffer|max_exp_avg_sq)$|param_groups"
)
_NOTE = (
    "the values are spread over shards of torch.distributed.checkpoint and were not read; "
    "`python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER FILE` joins them"
)


def is_distributed(names: list[str]) -> bool:
    """True for the names in such a folder."""
    return METADATA in names or any(name.endswith(".distcp") for name in names)


def add_distributed(
    content: Content, path: str, names: list[str], limits: Limits, *, is_extra: bool = False
) -> None:
    """Shapes from the metadata, sizes from the shards."""
    for name in names:
        if name.endswith(".distcp"):
            content.list_file(os.path.join(path, name), "shard")
    if METADATA not in names:
        content.notes.append(f"{METADATA} is missing, so only sizes are known: was it still saved?")
        content.parts.append(Part({}))
        return
    handle = Handle(os.path.join(path, METADATA), content.root)
    content.handles.append(handle)
    content.list_file(handle.path, "index")
    entries, paths = _entries(handle, limits)
    saved = nested((ways, _leaf(entries[key])) for key, ways in paths.items() if key in entries)
    tensors: dict[str, Node] = {}
    other: dict[str, Node] = {}
    for key, entry in entries.items():
        if key not in paths:
            label = text(key)
            is_state = is_extra or _STATE.search(label) is not None
            (other if is_state else tensors)[label] = _leaf(entry)
    if saved:
        content.parts.append(Part(saved, "optimizer" if is_extra and len(saved) > 1 else ""))
    if tensors or not saved:
        content.parts.append(Part(tensors))
    if other:
        content.parts.append(Part(other, "optimizer"))
    content.notes.append(_NOTE)


def _entries(
    handle: Handle, limits: Limits
) -> tuple[dict[object, object], dict[object, tuple[str, ...]]]:
    """What the metadata says about each thing that was saved, and the keys that led to it."""
    try:
        saved, names = read_with_names(handle.read(min(handle.size, 1 << 28), 0), 30_000_000)
    except PickleProblem as problem:
        raise DamagedCheckpoint(f"{METADATA}: {problem}", hint="it may be half written") from None
    check_globals(names, METADATA)
    state = saved.state if isinstance(saved, Call) else None
    table = state.get("state_dict_metadata") if isinstance(state, dict) else None
    if not isinstance(table, dict) or len(table) > limits.most_tensors:
        raise DamagedCheckpoint(f"{METADATA} has no table of tensors that makes sense")
    assert isinstance(state, dict)
    planned = state.get("planner_data")
    ways = planned.items() if isinstance(planned, dict) else ()
    return table, {key: path for key, way in ways if (path := _path(way)) is not None}


def _path(way: object) -> tuple[str, ...] | None:
    """The keys of nested tables, one after the other; None for what are none."""
    if not isinstance(way, tuple) or not 0 < len(way) <= _DEEPEST:
        return None
    if not all(isinstance(key, str | int) for key in way):
        return None
    return tuple(text(key) for key in way)


def _leaf(entry: object) -> Node:
    """A tensor's shape and type; other things were saved as bytes."""
    state = entry.state if isinstance(entry, Call) else None
    if not isinstance(state, dict) or "size" not in state:
        return "saved as bytes"
    size = state["size"]
    if isinstance(size, Call) and isinstance(size.arguments, tuple) and size.arguments:
        size = size.arguments[0]
    shape = checked_shape(size)
    if shape is None:
        raise DamagedCheckpoint(f"{METADATA}: the shape of a tensor makes no sense")
    dtype = _dtype(state.get("properties"))
    leaf = Leaf(shape, dtype, 0)
    leaf.bytes = leaf.elements * item_bytes(dtype)
    return leaf


def _dtype(properties: object) -> str:
    """The first thing in the properties that is named like an element type."""
    waiting = [properties]
    for _ in range(_MOST_LOOKS):
        if not waiting:
            break
        value = waiting.pop()
        if isinstance(value, Name) and item_bytes(value.name):
            return value.name
        if isinstance(value, Call):
            waiting += [value.state, value.arguments]
        elif isinstance(value, tuple | list):
            waiting += value[:20]
        elif isinstance(value, dict):
            waiting += list(value.values())[:20]
    return ""
