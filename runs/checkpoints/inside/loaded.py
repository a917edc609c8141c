"""One file of a checkpoint as it was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from .handle import Handle
from .leaf import Node


@dataclass(slots=True)
class Loaded:
    """What a file holds, whatever its format."""

    node: Node
    layout: str
    handle: Handle
    notes: list[str] = field(default_factory=list)
    has_values: bool = True
    """False if only names and shapes could be had."""
