"""checkpoint_missing: the checkpoint to load is not there.

What it sees: messages that a checkpoint, a pretrained model or its files are not found.
Why it matters: the run does not start, or starts from random weights.
Fires on:
    log: ValueError: No valid checkpoint found in output directory (./out)
    log: FileNotFoundError: [Errno 2] No such file or directory: 'runs/last.ckpt'
Stays quiet:
    log: FileNotFoundError: [Errno 2] No such file or directory: '/data/labels.csv'
Try next: list the checkpoints that exist and name one; resume only if there is one.
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
class CheckpointMissing:
    """Checkpoints that are not there, by message."""

    id: ClassVar[str] = "checkpoint_missing"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
