"""All that belongs to one checkpoint, before it is summed up."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import orjson

from ...errors import MltdError
from ..checkpoint_summary import CheckpointFile, Position
from .handle import Handle
from .leaf import Node, text
from .loaded import Loaded

MOST_SETTINGS = 1 << 26
"""Bytes of a JSON file beside the weights: a trainer's whole history is smaller."""


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
    parts: list[Part] = field(default_factory=list)
    files: list[CheckpointFile] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    position: Position = field(default_factory=Position)
    extras: list[tuple[str, str]] = field(default_factory=list)
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


def read_settings(path: str) -> dict[str, object]:
    """A small JSON object beside the weights; empty if it is missing or damaged."""
    try:
        handle = Handle(path)
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
