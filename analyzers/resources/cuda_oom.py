"""cuda_oom: the accelerator has no memory left for a tensor.

What it sees: the out-of-memory messages of PyTorch (all generations, CUDA, HIP, XPU, NPU),
    cuBLAS, cuDNN, TensorFlow, JAX, MXNet, Paddle and Caffe; the arithmetic inside them (asked
    for, total, free, in use, reserved but idle, held by others) and what the run was doing.
Why it matters: the run ends there, and the same settings end it there again.
Fires on:
    log: step 1 loss 2.0 | torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 56.00 MiB.
    log: RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
    log: Resource exhausted: OOM when allocating tensor with shape[2304,384]
Stays quiet:
    log: reduce batch size to avoid CUDA out of memory | step 1 loss 2.0 | step 2 loss 1.9
    log: MemoryError: Unable to allocate 14.9 GiB for an array with shape (2000000000,)
Try next: halve the batch and double the accumulation steps; read the sizes in the message: idle
    memory above the request means fragmentation, memory of others means a shared device.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .messages import Lack, lacks, phase_of
from .shortage import Shortage, shown_bytes

_WHY = {
    "absurd": "more than the device has: a wrong shape rather than a large batch",
    "shared": "another process holds {others} of it",
    "fragmented": "{idle} are reserved but idle: fragmentation",
    "refused": "although {free} are reported free",
    "capacity": "{allocated} are in use by tensors",
}

_AFTERWARDS = {
    Severity.CRITICAL: "",
    Severity.WARNING: " (in an earlier attempt)",
    Severity.INFO: " (the run went on)",
}


@analyzer
@dataclass(frozen=True, slots=True)
class DeviceOutOfMemory:
    """Report the first message, with the sizes of the one that says most."""

    id: ClassVar[str] = "cuda_oom"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("oom", "exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look for messages that ended the run; those that were overcome are information."""
        found = lacks(view, "device")
        fatal = [lack for lack in found if not lack.is_overcome and not lack.is_earlier]
        earlier = [lack for lack in found if lack.is_earlier]
        if fatal:
            yield self._report(view, fatal, Severity.CRITICAL)
        elif earlier:
            yield self._report(view, earlier, Severity.WARNING)
        elif found:
            yield self._report(view, found, Severity.INFO)

    def _report(self, view: RunView, found: list[Lack], severity: Severity) -> Finding:
        first = found[0]
        best = max(found, key=lambda lack: lack.shortage.sizes)
        phase = phase_of(view, first.placed)
        states = any(lack.shortage.how == "states" for lack in found)
        basis = Basis.OBSERVATION if states else Basis.RESEARCH
        places = dict.fromkeys((best.evidence, *(lack.evidence for lack in found[:3])))
        steps = [f.placed.event.step for f in found if f.placed.event.step is not None]
        return Finding(
            id=self.id,
            title=_title(best.shortage, phase, min(steps, default=None), severity),
            severity=severity,
            confidence=finding_confidence(basis, 0.95 if states else 0.75),
            basis=basis,
            evidence=tuple(places),
            first_step=min(steps, default=None),
            details=_details(best.shortage, phase, len(first.placed.event.ranks)),
        )


def _title(shortage: Shortage, phase: str, step: float | None, severity: Severity) -> str:
    title = "the device ran out of memory"
    if shortage.request is not None:
        title += f" when {shown_bytes(shortage.request)} were asked for"
    if shortage.total is not None:
        title += f" of {shown_bytes(shortage.total)} in total"
    if phase:
        title += f", in the {phase}"
    elif step is not None:
        title += f", after step {step:.10g}"
    if shortage.pattern:
        sizes = {
            "others": shown_bytes(shortage.others or 0.0),
            "idle": shown_bytes(shortage.idle or 0.0),
            "free": shown_bytes(shortage.free or 0.0),
            "allocated": shown_bytes(shortage.allocated or 0.0),
        }
        title += f"; {_WHY[shortage.pattern].format(**sizes)}"
    return title + _AFTERWARDS[severity]


def _details(shortage: Shortage, phase: str, ranks: int) -> dict[str, float | str]:
    details: dict[str, float | str] = {
        "pattern": shortage.pattern,
        "phase": phase,
        "ranks": ranks,
        "how": shortage.how,
    }
    for name in ("request", "total", "free", "own", "allocated", "idle", "others"):
        if (size := getattr(shortage, name)) is not None:
            details[name] = size
    return details
