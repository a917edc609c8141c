"""device_assert: an assertion or memory error on the GPU.

What it sees: failed assertions in kernels, illegal memory accesses and failed calls of GPU
    libraries. The line in the traceback is late, so the assertion itself is the evidence.
Why it matters: the process is lost; most often a label or an id is out of range.
Fires on:
    log: Loss.cu:242: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.
    log: RuntimeError: CUDA error: device-side assert triggered
Stays quiet:
    log: For debugging consider passing CUDA_LAUNCH_BLOCKING=1.
Try next: search upwards for the assertion; rerun one step on the CPU or with
    CUDA_LAUNCH_BLOCKING=1.
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
class DeviceAssert:
    """Assertions and memory errors on the device, by message."""

    id: ClassVar[str] = "device_assert"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
