"""missing_file: a file or directory is not there.

What it sees: exceptions and launch errors that name a path which does not exist. Checkpoints
    have a finding of their own.
Why it matters: the program stops before or during training; the path names the setting that is
    wrong.
Fires on:
    log: FileNotFoundError: [Errno 2] No such file or directory: '/data/train/labels.csv'
Stays quiet:
    log: FileNotFoundError: [Errno 2] No such file or directory: 'out/checkpoint-500/model.pt'
Try next: list the path from inside a job, directory by directory.
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
class MissingFile:
    """Files that are not there, by message."""

    id: ClassVar[str] = "missing_file"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
