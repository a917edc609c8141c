"""disk_full: a file could not be written because the disk, the quota or /dev/shm is full.

What it sees: errno 28 and 122 in any spelling (Python, Rust, shell tools, TensorFlow), and
    PyTorch's writer giving up half-way; whether it was the disk or shared memory.
Why it matters: the checkpoint that was being written is not usable, and the run ends or goes on
    without one.
Fires on:
    log: step 9 loss 1.2 | OSError: [Errno 28] No space left on device
    log: step 9 loss 1.2 | OSError: [Errno 122] Disk quota exceeded
    log: RuntimeError: PytorchStreamWriter failed writing file data/12: file write failed
Stays quiet:
    log: disk usage 41 % of quota | step 1 loss 2.0 | step 2 loss 1.9
    log: OSError: [Errno 5] Input/output error
Try next: `df -h` and `quota -s` for the path in the message; keep fewer checkpoints; for
    /dev/shm give the container more shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence, unresolved
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .messages import matching, said

_FULL = re.compile(
    r"\[Errno (?:28|122)\]|no space left on device|quota exceeded|StorageFull|"
    r"FilesystemQuotaExceeded|os error (?:28|122)\b|\bENOSPC\b|\bEDQUOT\b|"
    r"(?:database or )?disk is full|(?:not enough|insufficient) (?:free )?(?:disk|storage) ?space|"
    r"(?:disk|storage|volume) (?:quota|space) (?:is )?(?:exhausted|used up|exceeded)|"
    r"errno = (?:28|122)\b|ResourceExhausted.{0,80}(?:space|quota)",
    re.IGNORECASE,
)
_GAVE_UP = re.compile(
    r"PytorchStreamWriter failed writing|inline_container\.cc.{0,40}unexpected pos \d+ vs \d+|"
    r"\d+ requested and \d+ written|basic_ios::clear: iostream error|file write failed"
)
_QUOTA = re.compile(r"quota|Errno 122|os error 122|EDQUOT|code: 122", re.IGNORECASE)
_SHARED = re.compile(
    r"/dev/shm|\bshm\b|torch_\d+_\d+|SemLock|synchronize\.py|multiprocessing/(?:queues|context|heap)"
    r"|joblib",
    re.IGNORECASE,
)
_HANDED_OVER = re.compile(r"</torch_\d")
"""What data-loader workers hand over in shared memory: `dataloader_worker_died` reports it."""
_PATH = re.compile(r"['\"](/[^'\"\n]{1,200})['\"]")


@analyzer
@dataclass(frozen=True, slots=True)
class DiskFull:
    """Report the first failed write."""

    id: ClassVar[str] = "disk_full"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "oom", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Messages that say so; the writer's own failure where nothing does."""
        grave = (EventKind.EXCEPTION, EventKind.ERROR, EventKind.OOM)
        stated = [p for p in matching(view, _FULL, *grave) if not _HANDED_OVER.search(said(p))]
        if not stated:
            stated = list(matching(view, _GAVE_UP, *grave))
        warned = list(matching(view, _FULL, EventKind.WARNING))
        open_ends = {id(placed.event) for placed in unresolved(view)}
        fatal = [placed for placed in stated if id(placed.event) in open_ends]
        if fatal:
            yield self._report([*fatal, *warned], Severity.CRITICAL)
        elif stated:
            yield self._report([*stated, *warned], Severity.WARNING)
        elif warned:
            yield self._report(warned, Severity.INFO)

    def _report(self, found: list[PlacedEvent], severity: Severity) -> Finding:
        first = found[0]
        text = f"{said(first)}\n{first.text}"
        is_stated = bool(_FULL.search(said(first)))
        place = "shm" if _SHARED.search(text) else "quota" if _QUOTA.search(text) else "disk"
        path = _PATH.search(said(first))
        step = first.event.step
        basis = Basis.OBSERVATION if is_stated else Basis.RESEARCH
        return Finding(
            id=self.id,
            title=_title(place, path[1] if path else "", step, is_stated, severity),
            severity=severity,
            confidence=finding_confidence(basis, 0.95 if is_stated else 0.7),
            basis=basis,
            evidence=tuple(failure_evidence(placed) for placed in found[:3]),
            first_step=step,
            details={"place": place, "path": path[1] if path else "", "stated": float(is_stated)},
        )


def _title(place: str, path: str, step: float | None, is_stated: bool, severity: Severity) -> str:
    what = {
        "shm": "shared memory (/dev/shm) is full, not the disk",
        "quota": "the disk quota is used up",
        "disk": "no space is left on the disk",
    }[place]
    if not is_stated:
        what = "a checkpoint could not be written to its end, as on a full disk"
    title = what + (f" for {path}" if path else "")
    if step is not None:
        title += f", after step {step:.10g}"
    return title + (" (the run went on)" if severity is not Severity.CRITICAL else "")
