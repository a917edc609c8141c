"""All that belongs to one checkpoint, before it is summed up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from ...errors import MltdError
from ...open_artifact import ANYWHERE, Roots
from ..checkpoint_summary import CheckpointFile, Position
from .handle import Handle
from .leaf import SHORT, Node, text
from .loaded import Loaded

MOST_SETTINGS = 1 << 26
"""Bytes of a JSON file beside the weights: a trainer's whole history is smaller."""

MOST_PLAIN = 200
"""Settings of one file that are kept; a model's have some fifty."""


@dataclass(slots=True)
class Part:
    """Something that was saved in one file."""

    node: Node
    section: str = ""
    """What it is if its file says so: `optimizer`, `scheduler`; empty for the weights."""


@dataclass(slots=True)
class Content:
    """Parts, files and facts from the names and settings around them."""

    layout: str
    framework: str = ""
    root: str = ANYWHERE
    """The folder that its files must really lie in to be read."""
    parts: list[Part] = field(default_factory=list)
    files: list[CheckpointFile] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    position: Position = field(default_factory=Position)
    extras: list[tuple[str, str]] = field(default_factory=list)
    settings: list[tuple[str, str]] = field(default_factory=list)
    """Sizes and switches of the model, as the files beside its weights state them."""
    frozen: set[str] = field(default_factory=set)
    """Names of parameters that are said to be frozen."""

    def take(self, loaded: Loaded, kind: str = "weights", section: str = "") -> None:
        """Add a file that was read."""
        self.parts.append(Part(loaded.node, section))
        self.handles.append(loaded.handle)
        self.notes.extend(loaded.notes)
        self.files.append(CheckpointFile(text(loaded.handle.path), loaded.handle.size, kind))

    def list_file(self, path: str, kind: str) -> None:
        """Add a file by its size alone."""
        try:
            size = os.stat(path).st_size
        except OSError:
            return
        self.files.append(CheckpointFile(text(path), size, kind))

    def check_unchanged(self) -> None:
        """Complain if a file was written to while it was read."""
        for handle in self.handles:
            handle.check_unchanged()

    def close(self) -> None:
        """Let go of the files."""
        for handle in self.handles:
            handle.close()
        self.handles.clear()


def read_settings(path: str, root: Roots = ANYWHERE) -> dict[str, object]:
    """A small JSON object beside the weights; empty if it is missing or damaged."""
    try:
        handle = Handle(path, root)
    except MltdError:
        return {}
    try:
        data = handle.read(min(handle.size, MOST_SETTINGS), 0)
        found = orjson.loads(data)
    except (orjson.JSONDecodeError, MltdError):
        return {}
    finally:
        handle.close()
    return found if isinstance(found, dict) else {}


def plain_settings(found: Mapping[str, object]) -> list[tuple[str, str]]:
    """The numbers, words and switches of a file of settings; tables and lists are left out."""
    kept = ((key, value) for key, value in found.items() if isinstance(value, str | int | float))
    return [(text(key, SHORT), text(value, SHORT)) for key, value in kept][:MOST_PLAIN]
