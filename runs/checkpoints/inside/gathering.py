"""A path as a checkpoint: a file, the index of a sharded one, or a folder."""

from __future__ import annotations

import os

from ...errors import InputError, MltdError
from ...open_artifact import ANYWHERE, folder_of, is_within
from ...remote.names import shown
from ..limits import Limits
from .content import Content
from .deepspeed import is_deepspeed
from .folder import SETTINGS, WEIGHTS, add_settings, listed, open_folder
from .handle import Handle
from .opening import open_file
from .shard_index import add_shards

_CACHE_DEPTH = 4
"""Folders of a model below its snapshot: `text_encoder`, for example."""


def gather(path: str, limits: Limits, *, needs_values: bool, root: str = ANYWHERE) -> Content:
    """All that belongs to the checkpoint at a path.

    With a root, no file out of it is read. A checkpoint that the user named may be a link to
    anywhere, but what is read because of it (its shards, its settings) lies in its folder.
    """
    is_folder = os.path.isdir(path)
    inner = _own_root(path if is_folder else folder_of(path))
    if root != ANYWHERE and not is_within(root, inner):
        inner = root
    if is_folder:
        return open_folder(_latest(path, inner), limits, needs_values=needs_values, root=inner)
    if path.endswith(".index.json"):
        Handle(path, root and inner).close()  # says what is wrong with it, if anything is
        content = Content("sharded", "huggingface", inner)
        add_shards(content, path, limits, needs_values=needs_values)
        _add_beside(content, path)
        return content
    loaded = open_file(path, limits, needs_values=needs_values, root=root and inner)
    content = Content(loaded.layout, root=inner)
    content.take(loaded)
    if loaded.handle.name in WEIGHTS:
        _add_beside(content, path)
    return content


def _own_root(folder: str) -> str:
    """The folder in which the files of a named checkpoint may lie.

    In a cache of the Hugging Face Hub, `models--gpt2/snapshots/607a30d/` holds links to files in
    `models--gpt2/blobs/`.
    """
    above = os.path.abspath(folder)
    for _ in range(_CACHE_DEPTH):
        above, name = os.path.split(above)
        if os.path.basename(above) == "snapshots" and name:
            repository = os.path.dirname(above)
            return repository if os.path.isdir(os.path.join(repository, "blobs")) else folder
    return folder


def _add_beside(content: Content, path: str) -> None:
    """Weights under a name of Hugging Face have their settings beside them."""
    folder = os.path.dirname(path)
    add_settings(content, folder, [n for n in SETTINGS if os.path.isfile(f"{folder}/{n}")])


def _latest(path: str, root: str) -> str:
    """DeepSpeed writes into `latest` which of the folders beside it is the newest."""
    names = listed(path)
    if "latest" not in names or "trainer_state.json" in names or is_deepspeed(names):
        return path
    try:
        handle = Handle(os.path.join(path, "latest"), root)
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
