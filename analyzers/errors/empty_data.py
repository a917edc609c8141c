"""empty_data: no data where some is needed.

What it sees: datasets with 0 samples, empty batches and graphs, iterators that end before the
    planned last step.
Why it matters: nothing is trained, or less than planned.
Fires on:
    log: ValueError: num_samples should be a positive integer value, but got num_samples=0
    log: WARNING:tensorflow:Your input ran out of data; interrupting training.
Stays quiet:
    log: Found 1281167 images in 1000 folders | step 1 loss 6.9
Try next: count the files as the job sees them, and what every filter leaves.
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
class EmptyData:
    """Missing samples, by message."""

    id: ClassVar[str] = "empty_data"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
