"""index_out_of_range: an index, label or token id beyond its table.

What it sees: messages about indices, class labels, token ids and edges that are not below the
    size of what they point into.
Why it matters: labels and model, or tokenizer and model, do not belong together.
Fires on:
    log: IndexError: Target 10 is out of bounds.
    log: IndexError: index out of range in self
Stays quiet:
    log: num_classes 10 | step 1 loss 2.3
Try next: compare the largest index with the size of the table; run on the CPU for the exact
    line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding
from ..core.registry import analyzer
from ..core.view import RunView
from .told import report


@analyzer
@dataclass(frozen=True, slots=True)
class IndexOutOfRange:
    """Indices beyond their table, by message."""

    id: ClassVar[str] = "index_out_of_range"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
