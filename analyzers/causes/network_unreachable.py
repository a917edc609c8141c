"""network_unreachable: a service outside cannot be reached from this node.

What it is: no route, no name resolution, a proxy or certificate in the way, or a service that
    is down.
Told apart by: messages of HTTP and name resolution, not of NCCL or the rendezvous, which speak
    of the cluster's own network.
Try next: download on a login node and work offline; set the proxy in the batch script.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..errors.hypothesis import MessageCause


@cause
@dataclass(frozen=True)
class NetworkUnreachable(MessageCause):
    """Weighs what speaks for a missing way out."""

    id: ClassVar[str] = "network_unreachable"
    explains: ClassVar[tuple[str, ...]] = (
        "network_error",
        "checkpoint_missing",
        "exception",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return "a service outside the cluster cannot be reached from this node"

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Do without the network."""
        yield Fix(
            addresses=self.id,
            change="make the run independent of the network: local copies, offline logging",
            example="export HF_HUB_OFFLINE=1 WANDB_MODE=offline TRANSFORMERS_OFFLINE=1",
            expected_impact="no request leaves the node; the first training step is reached",
            verify="the run starts with the network switched off",
            if_it_fails="the message then names the file that is not in the cache: fetch it first",
            is_quick=True,
        )
