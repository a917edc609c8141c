"""permission_denied: a file, directory or service may not be used.

What it sees: permission errors of the file system, read-only file systems, and services that
    refuse access.
Why it matters: the program stops, often only when it first writes.
Fires on:
    log: PermissionError: [Errno 13] Permission denied: '/data'
Stays quiet:
    log: Writing to /scratch/me/run | step 1 loss 2.5
Try next: use a directory of your own for output and caches; log in to the service.
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
class PermissionDenied:
    """Denied access, by message."""

    id: ClassVar[str] = "permission_denied"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
