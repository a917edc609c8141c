"""One line of the list: what stands behind it, and how deep it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Finding

    from ..engine.model_protocol import (
        CheckpointRow,
        MemoryRow,
        MisfitRow,
        ModuleRow,
        MoveRow,
    )


class Item(NamedTuple):
    """A line; at most one of the things below is there."""

    key: str
    """Finds it again in a newer list."""
    text: str = ""
    depth: int = 0
    checkpoint: CheckpointRow | None = None
    finding: Finding | None = None
    module: ModuleRow | None = None
    move: MoveRow | None = None
    misfit: MisfitRow | None = None
    memory: MemoryRow | None = None
    branch: str | None = None
    """Row of the tree of which there are more rows than are here."""
    columns: str = ""
    """For a heading: what stands in the columns below it."""
    is_open: bool = False

    @property
    def is_heading(self) -> bool:
        """True if the cursor passes over it."""
        return self.key.startswith("#")
