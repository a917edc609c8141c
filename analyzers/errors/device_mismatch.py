"""device_mismatch: tensors on different devices.

What it sees: messages about tensors on the CPU and the GPU, or on two GPUs, that are combined.
Why it matters: the program stops at the first step that uses both.
Fires on:
    log: RuntimeError: Expected all tensors to be on the same device
Stays quiet:
    log: Using device cuda:0 | step 1 loss 2.5
Try next: move model and batch to one device; create layers in __init__ and constants as
    buffers.
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
class DeviceMismatch:
    """Tensors on different devices, by message."""

    id: ClassVar[str] = "device_mismatch"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
