"""device_shared: another process holds memory on the same device.

What it is: a process that was left over, a neighbour, or several ranks of this very job that all
    use device 0.
Told apart by: total minus free minus what this process holds, in the message; or other processes
    listed there. A batch that is too large fills the device by itself.
Try next: give each rank its own device; look with nvidia-smi at who else is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..resources.remedies import smaller_batch
from ..resources.shortage import shown_bytes


@cause
@dataclass(frozen=True, slots=True)
class DeviceShared:
    """Reads it off the sizes in the message."""

    id: ClassVar[str] = "device_shared"
    explains: ClassVar[tuple[str, ...]] = ("cuda_oom",)
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Memory that is neither free nor ours."""
        found = case.get("cuda_oom")
        if found is None:
            return
        pattern = found.details.get("pattern")
        if pattern == "shared":
            yield case.clue(0.88, found.evidence[0], states=True)
        elif pattern == "refused":
            yield case.clue(0.5, found.evidence[0])

    def issue(self, case: Case) -> str:
        """Who holds how much."""
        found = case.get("cuda_oom")
        others = found.number("others") if found is not None else 0.0
        held = f"{shown_bytes(others)} of the device" if others > 0 else "part of the device"
        return f"{held} is held by other processes, or by other ranks of this job"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """One device per rank, then a free one."""
        yield Fix(
            addresses=self.id,
            change="bind every rank to its own device before anything is put on one",
            example="torch.cuda.set_device(int(os.environ['LOCAL_RANK']))",
            expected_impact="each device shows one process of this job; free plus own memory is "
            "the total, from the first step on",
            verify="nvidia-smi lists each process on another device",
            if_it_fails="another user's or a left-over process is there: choose a free device",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="run on a device that nobody uses",
            example="CUDA_VISIBLE_DEVICES=1 python train.py  # or ask for exclusive use",
            expected_impact="the whole device is free at the start of the run",
            verify="nvidia-smi before the start: memory in use below 1 GiB",
            if_it_fails="ask the administrators about processes that stayed behind",
            is_quick=True,
        )
        yield smaller_batch(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """Who is there."""
        yield (
            "`nvidia-smi` on that node while the job runs: tells ranks of this job on one device "
            "from a process that was left over"
        )
