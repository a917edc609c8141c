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
from .told import report, told


@analyzer
@dataclass(frozen=True, slots=True)
class DeviceAssert:
    """Assertions and memory errors on the device, by message."""

    id: ClassVar[str] = "device_assert"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        is_hardware = any(one.match.entry.rule == "hardware_error" for one in told(view))
        for finding in report(view, self.id):
            # A broken GPU fails the launches that follow; that is no assertion.
            if not (is_hardware and finding.details.get("rule") == "launch_failure"):
                yield finding
