"""hardware_fault: a GPU, its memory or its links are broken.

What it is: the driver reports errors that no program can cause (Xid 48, 63, 64, 74, 79, 94, 95,
    uncorrectable ECC, a GPU off the bus), or computations that do not repeat.
Told apart by: the driver's code, or ranks whose copies of the same weights are not the same.
    Xid 13, 31 and 43 are usually the program's own fault, as is an illegal memory access that
    happens again on another machine. A fault stays with its node.
Try next: leave the node out, run its diagnostics, resume from the last checkpoint elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.failure import failure_evidence
from ..core.finding import Basis
from ..core.registry import cause
from ..core.view import PlacedEvent
from ..distributed.remedies import exclude_node, resume
from ..distributed.reports import BAD_XIDS, GPU, HARDWARE, SOFTWARE_XIDS, Report, reports
from ..errors.hypothesis import clues_of, fixes_of, issue_of
from ..resources.measures import curves_of

_MEANING = {
    48: "an uncorrectable error in GPU memory",
    63: "a row of GPU memory that was remapped",
    64: "a row of GPU memory that could not be remapped",
    74: "an NVLink error",
    79: "a GPU that fell off the bus",
    92: "many single-bit errors in GPU memory",
    94: "a contained error in GPU memory",
    95: "an uncontained error in GPU memory",
    119: "a GPU processor that does not answer",
    120: "an error of the GPU's processor",
    140: "an unrecovered error in GPU memory",
}
_BREAKS = (
    "loss_divergence", "loss_spike", "exploding_gradients", "nan_loss", "nan_gradients",
    "nan_weights",
)  # fmt: skip
_APART = re.compile(
    r"(?i)^(?:param|weight|grad|model|replica|state|buffer|optimizer|checksum|hash|fingerprint|"
    r"digest)\w*\b.*\b(?:mismatch|differ\w*|disagree|diverged? (?:across|between|among)|"
    r"not (?:equal|identical|in sync)|out of sync)\b.*"
    r"\b(?:rank|replica|worker|process|device|gpu|node)s?\d*\b|"
    r"^(?:silent data corruption|SDC detected|bit ?flip)"
)
_LIKELY = re.compile(r"(?i)unspecified launch failure|unknown error|launch timed out")


@cause
@dataclass(frozen=True, slots=True)
class HardwareFault:
    """Weighs the driver's codes; without one it is a guess."""

    id: ClassVar[str] = "hardware_fault"
    explains: ClassVar[tuple[str, ...]] = (
        "rank_failure", "nccl_timeout", "exception", "stall", "straggler", "throughput_drop",
        "loss_divergence", "loss_spike", "exploding_gradients", "nan_loss", "nan_gradients",
        "nan_weights",
    )  # fmt: skip
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Driver messages state it; launch failures and read errors only hint."""
        yield from clues_of(self.id, case)
        for report in reports(case.view):
            shown = failure_evidence(report.placed)
            if report.kind == HARDWARE:
                if report.xid in SOFTWARE_XIDS:
                    yield case.clue(0.2, shown)
                    yield case.clue(-0.4, shown)
                elif report.xid is None or report.xid in BAD_XIDS:
                    yield case.clue(0.96, shown, states=True)
                else:
                    yield case.clue(0.5, shown)
            elif report.kind == GPU:
                is_likely = bool(_LIKELY.search(report.placed.text))
                yield case.clue(0.35 if is_likely else 0.2, shown)
        yield from self._slow(case)
        apart = _apart(case)
        if apart is not None:
            # What all ranks compute from the same numbers differs where a machine errs.
            yield case.clue(0.9, apart.evidence(), states=True)
        for finding in case.all("rank_failure"):
            is_bare = finding.is_alarm and not finding.number("has_own_error")
            if is_bare and finding.details.get("signal") in ("SIGSEGV", "SIGBUS", "SIGILL"):
                yield case.because(finding, 0.2)

    @staticmethod
    def _slow(case: Case) -> Iterator[Clue]:
        """One device that is slower than its sisters, or all since a moment; not their data."""
        behind, slower = case.get("straggler"), case.get("throughput_drop")
        waits = next(iter(curves_of(case.view, "data_time")), None)
        if behind is not None and behind.is_alarm:
            yield case.clue(0.65, behind.evidence[0])
        elif slower is not None and slower.is_alarm and not slower.number("gradual"):
            yield case.clue(0.25, slower.evidence[0])
            if waits is not None and not case.has("dataloader_bound"):
                yield case.clue(0.2, waits.evidence(len(waits) - 1))

    def issue(self, case: Case) -> str:
        """One sentence with code, meaning and place."""
        report = self._worst(case)
        apart = _apart(case)
        if report is None and apart is not None:
            return f"the copies of the model are not the same: {apart.event.title}"
        if report is None and (said := issue_of(self.id, case)):
            return said
        behind = case.get("straggler")
        if report is None and behind is not None:
            return (
                f"the device or node of rank {behind.number('rank'):g} is slower than the others: "
                "heat, a power limit, a neighbour, or a fault"
            )
        if report is None and case.has("throughput_drop"):
            return "the device got slower: heat, a power limit, or a neighbour on the node"
        where = f" on {report.node}" if report is not None and report.node else ""
        if report is None:
            return "the machine's memory or a device may be faulty: its kernel log would tell"
        if report.kind == GPU:
            return f"the GPU or its memory may be faulty{where}: the driver's log would tell"
        code = report.xid
        if code is None:
            return f"a GPU is faulty{where}: {report.placed.event.title}"
        return f"the driver reports {_MEANING.get(code, 'a GPU error')}{where} (Xid {code})"

    @staticmethod
    def _worst(case: Case) -> Report | None:
        found = [r for r in reports(case.view) if r.kind in (HARDWARE, GPU)]
        return min(found, key=lambda r: (r.kind != HARDWARE, r.xid not in BAD_XIDS), default=None)

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Away from the node, resume, have it tested."""
        report = self._worst(case)
        if report is None and (told := fixes_of(self.id, case)):
            yield from told.values()
            yield exclude_node(self.id, "")
            yield resume(case, self.id)
            return
        finding = case.get("rank_failure")
        node = (report.node if report else "") or str(
            finding.details.get("node", "") if finding else ""
        )
        is_software = report is not None and (report.kind == GPU or report.xid in SOFTWARE_XIDS)
        test = Fix(
            addresses=self.id,
            change="repeat the failing step on one GPU with synchronous launches",
            example="CUDA_LAUNCH_BLOCKING=1 compute-sanitizer --tool memcheck python train.py ...",
            expected_impact="names the kernel and line within one step if the program is to blame",
            verify="the same error at the same step on another GPU: not the hardware",
            if_it_fails="if it does not happen elsewhere, leave this GPU out",
            is_quick=True,
        )
        if is_software:
            yield test
        yield exclude_node(self.id, node)
        yield resume(case, self.id)
        yield Fix(
            addresses=self.id,
            change=f"have {node or 'the node'} drained and tested by the cluster's operators",
            example="dcgmi diag -r 3; nvidia-smi -q -d ECC,ROW_REMAPPER; dmesg | grep -i xid",
            expected_impact="the diagnosis fails on the faulty GPU within 15 minutes",
            verify="no new Xid line after the repair, in a run of the same length",
            if_it_fails="if all tests pass, repeat the step there: Xid 13, 31 and 43 are software",
            is_quick=True,
        )
        if not is_software:
            yield test

    def requests(self, case: Case) -> Iterator[str]:
        """The driver's own words."""
        yield (
            "`dmesg -T | grep -i xid` and `nvidia-smi -q -d ECC` of the node: Xid 48, 64, 74, 79, "
            "94 or 95 means hardware_fault, 13, 31 or 43 a bug in a kernel"
        )
        yield "the same step on another node: if it passes there, the hardware is to blame"


def _apart(case: Case) -> PlacedEvent | None:
    """A message, not long after the trouble, that ranks do not hold the same weights."""
    broke = case.onset(*_BREAKS)
    if broke is None:
        return None
    loss = case.view.curve("train/loss")
    reach = max(20 * loss.spacing, 0.1 * float(np.ptp(loss.x))) if loss is not None else np.inf
    for one in case.view.events_of(EventKind.WARNING):
        step = one.event.step
        if _APART.search(one.event.title) and (step is None or step <= broke + reach):
            return one
    return None
