"""dataloader_worker_died: a process that loads data died.

What it sees: workers killed by a signal, shared memory that is too small, too many open files.
    An exception inside a worker is reported as what it is instead.
Why it matters: the run stops; the reason is the memory of the host or container, not the model.
Fires on:
    log: RuntimeError: DataLoader worker (pid 325) is killed by signal: Bus error.
Stays quiet:
    log: This DataLoader will create 8 worker processes in total. | step 1 loss 2.5
Try next: enlarge /dev/shm; fewer workers; more memory for the job.
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
class DataloaderWorkerDied:
    """Dead loading processes, by message."""

    id: ClassVar[str] = "dataloader_worker_died"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
