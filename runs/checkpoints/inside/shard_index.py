"""A Hugging Face checkpoint in shards: an index.json says which file holds which tensor."""

from __future__ import annotations

import os

from ...errors import FormatError, InputError
from ..errors import CheckpointElsewhere
from ..limits import Limits
from .content import Content, read_settings
from .leaf import text
from .opening import open_file

MOST_SHARDS = 2_000


def add_shards(content: Content, index: str, limits: Limits, *, needs_values: bool) -> None:
    """Read all shards that are there, and tell which are not."""
    name = os.path.basename(index)
    table = read_settings(index, content.root).get("weight_map")
    if not isinstance(table, dict) or not table:
        raise FormatError(f"{name} has no table of shards", hint="it may be half written")
    promised: dict[str, list[str]] = {}
    for tensor, file in table.items():
        promised.setdefault(str(file), []).append(str(tensor))
    if len(promised) > MOST_SHARDS:
        raise FormatError(f"{name} names {len(promised):,} shards, more than is sensible")
    content.list_file(index, "index")
    folder = os.path.dirname(index)
    missing: list[str] = []
    for file, tensors in sorted(promised.items()):
        if os.path.basename(file) != file or file in ("", ".", ".."):
            content.notes.append(
                f"{name} names {text(file, 80)!r}, which is not beside it: left out"
            )
            continue
        path = os.path.join(folder, file)
        try:
            loaded = open_file(path, limits, needs_values=needs_values, root=content.root)
        except CheckpointElsewhere:
            raise
        except InputError as problem:
            if os.path.lexists(path):
                content.notes.append(problem.message)
            missing.append(f"{text(file, 80)} ({len(tensors):,} tensors)")
            continue
        held = loaded.node if isinstance(loaded.node, dict) else {}
        if absent := [tensor for tensor in tensors if text(tensor) not in held]:
            content.notes.append(
                f"{file} lacks {len(absent):,} tensors that {name} says it has, such as "
                f"{text(absent[0], 80)}"
            )
        content.take(loaded)
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        content.notes.append(f"{len(missing)} of {len(promised)} shards cannot be read: {shown}")
    if not content.parts:
        raise InputError(f"none of the shards that {name} names can be read", hint="copy them too")
