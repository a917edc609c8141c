"""slurm_node_fail: a node of the job failed or could no longer be reached.

What it sees: `DUE TO NODE FAILURE`, `srun: error: Node failure on n12`, states NODE_FAIL and
    BOOT_FAIL, PBS that lost a sister node, Ray or Kubernetes that give a node up.
Why it matters: the run is dead through no fault of its own; on the same node it may die again.
Fires on:
    log: srun: error: Node failure on n12
    log: slurmstepd: error: *** JOB 1 ON n2 CANCELLED AT 2024-01-01T00:00:00 DUE TO NODE FAILURE ***
    log: State: NODE_FAIL (exit code 0)
    log: step 1 loss 2.0 | step 2 loss 1.9 ; job: state=NODE_FAIL, nodes=n12
Stays quiet:
    log: slurmstepd: error: *** JOB 1 ON n2 CANCELLED AT 2024-01-01T00:00:00 DUE TO TASK FAILURE ***
    log: graph has 12 nodes | step 1 loss 2.0 | step 2 loss 1.9 | step 3 loss 1.8
Try next: requeue without that node (--exclude); tell the cluster's operators; see whether other
    jobs failed there, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .outside import chosen, report
from .verdicts import Ended


@analyzer
@dataclass(frozen=True, slots=True)
class SlurmNodeFail:
    """Report the node that was lost."""

    id: ClassVar[str] = "slurm_node_fail"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("scheduler", "exception")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """What the scheduler said about a node."""
        statement = chosen(view, Ended.NODE_FAIL)
        if statement is not None:
            yield report(view, self.id, statement, "lost a node", Severity.CRITICAL)
