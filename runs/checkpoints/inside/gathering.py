"""A path as a checkpoint: a file, the index of a sharded one, or a folder."""

from __future__ import annotations

import os

from ...errors import InputError, MltdError
from ...remote.names import shown
from ..limits import Limits
from .content import Content
from .deepspeed import is_deepspeed
from .folder import SETTINGS, WEIGHTS, add_settings, listed, open_folder
from .handle import Handle
from .opening import open_file
from .shard_index import add_shards


def gather(path: str, limits: Limits, *, needs_values: bool) -> Content:
    """All that belongs to the checkpoint at a path."""
    if os.path.isdir(path):
        return open_folder(_latest(path), limits, needs_values=needs_values)
    if path.endswith(".index.json"):
        Handle(path).close()  # says what is wrong with it, if anything is
        content = Content("sharded", "huggingface")
        add_shards(content, path, limits, needs_values=needs_values)
        _add_beside(content, path)
        return content
    loaded = open_file(path, limits, needs_values=needs_values)
    content = Content(loaded.layout)
    content.take(loaded)
    if loaded.handle.name in WEIGHTS:
        _add_beside(content, path)
    return content


def _add_beside(content: Content, path: str) -> None:
    """Weights under a name of Hugging Face have their settings beside them."""
    folder = os.path.dirname(path)
    add_settings(content, folder, [n for n in SETTINGS if os.path.isfile(f"{folder}/{n}")])


def _latest(path: str) -> str:
    """DeepSpeed writes into `latest` which of the folders beside it is the newest."""
    names = listed(path)
    if "latest" not in names or "trainer_state.json" in names or is_deepspeed(names):
        return path
    try:
        handle = Handle(os.path.join(path, "latest"))
    except MltdError:
        return path
    try:
        named = handle.read(200, 0).decode("utf-8", "replace").strip()
    finally:
        handle.close()
    if named in names and os.path.isdir(os.path.join(path, named)):
        return os.path.join(path, named)
    if any(name.startswith("global_step") for name in names):
        raise InputError(
            f"{shown(path)}/latest names {named[:80]!r}, which is not there",
            hint="name one of the global_step folders",
        )
    return path
