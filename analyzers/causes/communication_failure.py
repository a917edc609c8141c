"""communication_failure: processes of the run could not reach each other over the network.

What it is: wrong address or interface, a firewall, a broken link or fabric, a plugin that is
    missing: collectives fail at once or wait in vain, often at the very first one.
Told apart by: messages of the fabric (`NET/IB ... error`, `unhandled system error`), refused or
    timed-out connections while setting up, sequence number 1, all ranks in the same operation. A
    peer that died shows in its own log first; a deadlock leaves ranks at different places.
Try next: a two-rank all-reduce on the same nodes with NCCL_DEBUG=INFO.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.failure import failure_evidence
from ..core.finding import Basis
from ..core.registry import cause
from ..distributed.collectives import behind, timeouts, world_size
from ..distributed.remedies import exclude_node, flight_recorder
from ..distributed.reports import COMMUNICATION, reports

_LITERAL = re.compile(
    r"NET/IB\b.{0,80}(?:error|status=|async)|unhandled system error|ncclSystemError|"
    r"[Cc]onnection refused|client socket has (?:timed out|failed)|"
    r"NET plugin|No route to host|[Nn]etwork is unreachable|failed to bind|"
    r"Getting socket times out|connectFullMesh|[Nn]o (?:usable|socket) interface|"
    r"Bootstrap : no socket interface|NCCL_SOCKET_IFNAME|"
    r"RendezvousConnectionError|C10d store has failed"
)
_PEER = re.compile(
    r"remote process exited|[Cc]losed by (?:remote )?peer|reset by peer|ncclRemoteError"
)


@cause
@dataclass(frozen=True, slots=True)
class CommunicationFailure:
    """Weighs what the libraries say about connections and who waited where."""

    id: ClassVar[str] = "communication_failure"
    explains: ClassVar[tuple[str, ...]] = (
        "nccl_timeout",
        "rank_failure",
        "orchestration_error",
        "nondeterminism",
        "stall",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Literal messages first, then the pattern of the waiting ranks."""
        for parted in case.all("nondeterminism"):
            if parted.details.get("kind") == "replicas":
                # Gradients no longer reach all of them.
                yield case.because(parted, 0.45)
        is_effect = any(f.number("is_effect") for f in case.all("nccl_timeout"))
        for report in reports(case.view):
            if report.kind != COMMUNICATION:
                continue
            said = report.placed.text + report.placed.event.title
            if _PEER.search(said):
                yield case.clue(0.35, failure_evidence(report.placed))
            elif _LITERAL.search(said):
                yield case.clue(0.92, failure_evidence(report.placed), states=True)
            else:
                yield case.clue(0.6, failure_evidence(report.placed))
        for placed in case.view.events_of(EventKind.WARNING):
            if re.search(r"NET/(?:IB|OFI)|NCCL WARN", placed.event.title):
                is_literal = bool(_LITERAL.search(placed.event.title)) and self._has_failed(case)
                weight = 0.9 if is_literal else 0.25
                yield case.clue(weight, placed.evidence(), states=is_literal)
        yield from self._waiting(case, is_effect=is_effect)
        for finding in case.all("orchestration_error"):
            is_cut_off = finding.details.get("root") == "network" and finding.is_alarm
            if is_cut_off or re.search(
                r"contact|connection|socket timed out|connect|CommClosedError", finding.title
            ):
                yield case.clue(0.6, finding.evidence[0])

    def _waiting(self, case: Case, *, is_effect: bool) -> Iterator[Clue]:
        finding, stalled = case.get("nccl_timeout"), case.get("stall")
        if finding is None:
            if stalled is not None and (world_size(case.view) or 1) > 1:
                yield case.because(stalled, 0.3)
            return
        waits = timeouts(case.view)
        if finding.number("is_setup"):
            said = " ".join(w.placed.event.title + w.placed.event.message for w in waits)
            is_literal = bool(_LITERAL.search(said))
            yield case.clue(0.88 if is_literal else 0.6, finding.evidence[0], states=is_literal)
        elif not finding.details.get("missing") and behind(waits) is None:
            yield case.because(finding, 0.35)
        else:
            yield case.because(finding, 0.25)
        if finding.details.get("phase"):
            yield case.clue(-0.4, finding.evidence[-1])
        if is_effect:
            yield case.clue(-0.7, finding.evidence[0])

    @staticmethod
    def _has_failed(case: Case) -> bool:
        return case.has("nccl_timeout", "rank_failure")

    def issue(self, case: Case) -> str:
        """One sentence with what could not be reached."""
        finding = case.get("nccl_timeout", "rank_failure", "orchestration_error")
        if finding is None and case.has("nondeterminism"):
            return "gradients are no longer exchanged between the ranks"
        if finding is not None and finding.number("is_setup"):
            return "the ranks could not connect to each other while setting up"
        if finding is not None and finding.id == "orchestration_error":
            return "a service that the job depends on could not be reached"
        return "the ranks' communication failed: link, fabric, interface or network plugin"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Address and interface for set-ups, another transport, another node."""
        yield Fix(
            addresses=self.id,
            change="name the network interface and the first node explicitly",
            example="export NCCL_SOCKET_IFNAME=ib0 GLOO_SOCKET_IFNAME=ib0 "
            "MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n1)",
            expected_impact="all ranks join within a minute instead of a timeout",
            verify="NCCL_DEBUG=INFO prints `NET/IB` or `NET/Socket : Using` that interface on all "
            "ranks",
            if_it_fails="test a plain TCP connection between the nodes: there may be a firewall",
            is_quick=True,
        )
        node = next((r.node for r in reports(case.view) if r.node), "")
        yield Fix(
            addresses=self.id,
            change="run a two-node all-reduce on these nodes with NCCL_DEBUG=INFO, once with "
            "NCCL_IB_DISABLE=1 and once without",
            example="NCCL_DEBUG=INFO srun -N2 --ntasks-per-node=1 all_reduce_perf -b 8 -e 128M",
            expected_impact="says within 5 minutes whether fabric or training is to blame",
            verify="with IB disabled it works, with IB it does not: the fabric; both fail: the "
            "addresses",
            if_it_fails="if both work, the ranks wait for each other: look for a deadlock",
            is_quick=True,
        )
        yield exclude_node(self.id, node)
        yield flight_recorder(self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a deadlock and from a dead peer."""
        yield (
            "the output of a rerun with NCCL_DEBUG=INFO: a `NET/IB` or socket error means "
            "communication_failure, silence a deadlock"
        )
        yield (
            "the last 50 lines of every rank's log: an exception in one of them means that it died "
            "(rank_failure), none that the connection did"
        )
