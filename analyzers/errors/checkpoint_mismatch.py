"""checkpoint_mismatch: a checkpoint does not fit or is broken.

What it sees: missing, unexpected and differently shaped parameters, optimizer states of other
    groups, truncated files, and bodies that silently start from random weights.
Why it matters: the run does not start, or continues with weights that are not the trained ones.
Fires on:
    log: RuntimeError: Error(s) in loading state_dict for Net:
    log: RuntimeError: PytorchStreamReader failed reading zip archive
Stays quiet:
    log: Loading checkpoint from out/last.ckpt | step 100 loss 1.2
Try next: compare keys and shapes of checkpoint and model; go back to the checkpoint before.
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
class CheckpointMismatch:
    """Checkpoints that do not fit, by message."""

    id: ClassVar[str] = "checkpoint_mismatch"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
