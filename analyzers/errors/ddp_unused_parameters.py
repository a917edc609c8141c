"""ddp_unused_parameters: parameters without gradient in distributed training.

What it sees: messages of DistributedDataParallel about reductions that did not finish, or
    parameters that were used twice.
Why it matters: the run stops at its second step.
Fires on:
    log: RuntimeError: Expected to have finished reduction in the prior iteration
Stays quiet:
    log: find_unused_parameters=True | step 1 loss 2.5
Try next: name the parameters with TORCH_DISTRIBUTED_DEBUG=DETAIL; use or freeze them.
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
class DdpUnusedParameters:
    """Broken promises to DDP, by message."""

    id: ClassVar[str] = "ddp_unused_parameters"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
