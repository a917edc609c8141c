"""node_failure: a machine of the job crashed, rebooted or lost its network.

What it is: the scheduler or a peer can no longer reach a node, and all that ran there is gone.
Told apart by: `NODE FAILURE`, NODE_FAIL, `Node failure on n12`, nodes marked dead. Peers that see
    closed connections alone do not tell a dead node from a dead process.
Try next: leave the node out, resume, count failures per node over several jobs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.failure import failure_evidence
from ..core.finding import Basis
from ..core.registry import cause
from ..distributed.remedies import exclude_node, resume, save_more_often
from ..distributed.reports import COMMUNICATION, reports

_PEER = re.compile(
    r"remote process exited|[Cc]losed by (?:remote )?peer|reset by peer|ncclRemoteError"
)


@cause
@dataclass(frozen=True, slots=True)
class NodeFailure:
    """Weighs the scheduler's words; closed connections are a weak hint."""

    id: ClassVar[str] = "node_failure"
    explains: ClassVar[tuple[str, ...]] = ("slurm_node_fail", "rank_failure", "nccl_timeout")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A stated reason is enough."""
        for finding in case.all("slurm_node_fail"):
            yield case.clue(0.97, finding.evidence[0], states=True)
        for report in reports(case.view):
            if report.kind == COMMUNICATION and _PEER.search(report.placed.text):
                yield case.clue(0.25, failure_evidence(report.placed))

    def issue(self, case: Case) -> str:
        """One sentence with the node."""
        node = self._node(case)
        return f"node {node} failed" if node else "a node of the job failed or was cut off"

    @staticmethod
    def _node(case: Case) -> str:
        for finding in case.all("slurm_node_fail", "rank_failure"):
            if node := str(finding.details.get("node") or ""):
                return node
        return ""

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Elsewhere, resume, save more often, report."""
        node = self._node(case)
        yield exclude_node(self.id, node)
        yield resume(case, self.id)
        yield save_more_often(case, self.id)
        yield Fix(
            addresses=self.id,
            change=f"report {node or 'the node'} to the cluster's operators, with job and time",
            example=f"scontrol show node {node or 'NODE'}; "
            f"sacct -N {node or 'NODE'} -s NODE_FAIL -S now-7days",
            expected_impact="two failures of one node within a week: the node is to blame",
            verify="the node is drained (sinfo -R lists it with a reason)",
            if_it_fails="if other nodes fail, too, look at power, memory pressure or the network",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The scheduler's record."""
        yield (
            "`sacct -j JOB --format=JobID,State,NodeList,Reason` and `scontrol show node NODE`: "
            "NODE_FAIL or a fresh boot time means node_failure, else the process died by itself"
        )
