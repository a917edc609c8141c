"""Which files of a checkpoint's folder are looked into, by their names alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from .inside.deepspeed import files_read, is_deepspeed
from .inside.distributed import METADATA, is_distributed
from .inside.folder import INNER, LISTED, PARTS, READABLE, SETTINGS, TRAINER, WEIGHTS

_INDEX = ".index.json"
LATEST = "latest"
"""DeepSpeed writes into it which of the folders beside it is the newest."""


def needed_files(names: Sequence[str], inner: Mapping[str, Sequence[str]]) -> list[str]:
    """Files that have to be there to read the folder; `inner` are the names in those inside it.

    What else belongs to the checkpoint is only listed by its size.
    """
    own = sorted(names)
    if is_distributed(own):
        found = _metadata(own)
    elif is_deepspeed(own):
        found = files_read(own)
    else:
        found = _weights(own)
        for folder in sorted(inner):
            if INNER.fullmatch(folder):
                held = _inner(sorted(inner[folder]), has_weights=bool(found))
                found += [f"{folder}/{name}" for name in held]
        found += [name for name in own if any(p.fullmatch(name) for p in PARTS.values())]
    return [*found, *(name for name in (*SETTINGS, TRAINER) if name in own)]


def shards_of(index: str, names: Sequence[str]) -> list[str]:
    """Files that the index of a sharded checkpoint may name: those of its kind beside it."""
    whole, kind = os.path.splitext(index.removesuffix(_INDEX))
    mine = [name for name in names if name.endswith(kind) and _is_weights(name)]
    return [name for name in mine if name.startswith(f"{whole}-")] or mine


def has_latest(names: Sequence[str]) -> bool:
    """True if the folder itself says in which of its folders the checkpoint is."""
    return LATEST in names and TRAINER not in names and not is_deepspeed(list(names))


def _weights(names: list[str]) -> list[str]:
    whole = [name for name in WEIGHTS if name in names]
    if whole:
        return whole[:1]
    indexes = [name for name in names if name.endswith(_INDEX)]
    if indexes:
        return [indexes[0], *shards_of(indexes[0], names)]
    others = [name for name in names if _is_weights(name)]
    # Several are no one checkpoint: whoever reads them says so, without any of them.
    return others if len(others) == 1 else []


def _inner(names: list[str], *, has_weights: bool) -> list[str]:
    if is_deepspeed(names):
        return files_read(names, is_extra=has_weights)
    return _metadata(names) if is_distributed(names) else []


def _metadata(names: list[str]) -> list[str]:
    return [METADATA] if METADATA in names else []


def _is_weights(name: str) -> bool:
    special = (*PARTS.values(), LISTED)
    return READABLE.fullmatch(name) is not None and not any(p.fullmatch(name) for p in special)
