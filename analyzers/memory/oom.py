"""The numbers of an out-of-memory message, and what they add up to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..core.finding import Evidence
from ..core.view import RunView
from ..resources.messages import lacks, phase_of
from ..resources.shortage import Shortage
from .amount import Amount, Origin, exactly


@dataclass(frozen=True, slots=True)
class Oom:
    """One message about missing device memory; what it does not say is None."""

    evidence: Evidence
    phase: str
    """What the training was doing, if the log tells."""
    pattern: str
    """`capacity`, `fragmented`, `shared`, `absurd`, `refused`, or empty."""
    request: Amount | None
    total: Amount | None
    free: Amount | None
    allocated: Amount | None
    """By tensors of this process."""
    idle: Amount | None
    """Reserved by this process's allocator and not in use."""
    own: Amount | None
    """By this process, the driver's context included."""
    others: Amount | None
    needed: Amount | None
    """What the whole program would need, where a compiler says so."""

    @property
    def outside(self) -> str:
        """Whose the memory of others is: old messages do not tell the driver's from it."""
        return "held by other processes" if self.own is not None else "of other processes or driver"

    @property
    def context(self) -> Amount | None:
        """The driver's context and libraries: this process's memory that no tensor has."""
        if self.own is None or self.allocated is None or self.idle is None:
            return None
        size = self.own.middle - self.allocated.middle - self.idle.middle
        if size < 0:
            return None
        how = f"{self.own.shown} in use - {self.allocated.shown} - {self.idle.shown}"
        return exactly(size, Origin.DERIVED, how, (self.evidence,))

    @property
    def demand(self) -> Amount | None:
        """What would have to fit: everything in use, and the request.

        Idle memory counts as in use: the allocator gives back whole idle blocks before it fails,
        so what is left of it is holes that this request cannot use.
        """
        if self.needed is not None:
            return self.needed
        if self.total is None or self.request is None:
            return None
        if self.free is not None:
            used = max(0.0, self.total.middle - self.free.middle)
            parts = f"{self.total.shown} - {self.free.shown} free"
        elif self.allocated is not None:
            used, parts = self.allocated.middle, self.allocated.shown
        else:
            return None
        how = f"{parts} + {self.request.shown} asked for"
        return exactly(used + self.request.middle, Origin.DERIVED, how, (self.evidence,))

    @property
    def idle_share(self) -> float | None:
        """Idle memory as a share of the device."""
        if self.idle is None or self.total is None or self.total.middle <= 0:
            return None
        return self.idle.middle / self.total.middle


def oom_of(view: RunView) -> Oom | None:
    """The message that says most; one that ended the run before one that was overcome."""
    found = lacks(view, "device")
    fatal = [lack for lack in found if not lack.is_overcome and not lack.is_earlier]
    chosen = fatal or [lack for lack in found if lack.is_earlier] or found
    if not chosen:
        return None
    best = max(chosen, key=lambda lack: lack.shortage.sizes)
    return read_oom(best.shortage, best.evidence, phase_of(view, best.placed))


def read_oom(shortage: Shortage, evidence: Evidence, phase: str = "") -> Oom:
    """A parsed message as amounts, all measured by the allocator that wrote it."""

    def amount(size: float | None, how: str) -> Amount | None:
        if size is None or not 0 <= size < math.inf:
            return None
        return exactly(size, Origin.MEASURED, how, (evidence,))

    return Oom(
        evidence,
        phase,
        shortage.pattern,
        amount(shortage.request, "asked for"),
        amount(shortage.total or None, "the device's capacity"),
        amount(shortage.free, "free on the device"),
        amount(shortage.allocated, "in tensors"),
        amount(shortage.idle, "reserved but not in use"),
        amount(shortage.own, "this process"),
        _others(shortage, evidence),
        amount(shortage.needed, "the whole program, as compiled"),
    )


def _others(shortage: Shortage, evidence: Evidence) -> Amount | None:
    size = shortage.others
    if size is None or not 0 <= size < math.inf:
        return None
    how = "total - free - this process"
    return exactly(size, Origin.DERIVED, how, (evidence,))
