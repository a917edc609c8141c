"""tracker_offline: the experiment tracker was told to stay offline, or its process died.

What it is: W&B writes to a local folder only: offline on purpose (no network on the nodes), or
    its background process was killed or lost its connection.
Told apart by: `syncing is set to offline` or an offline folder for the first; errors of
    wandb-core, closed sockets and unsynced files for the second.
Try next: sync the folder from a machine with network; keep it until that is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause


@cause
@dataclass(frozen=True, slots=True)
class TrackerOffline:
    """The tracker's own messages state it."""

    id: ClassVar[str] = "tracker_offline"
    explains: ClassVar[tuple[str, ...]] = ("unsynced_wandb",)
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """An alarm about the tracker; offline on purpose needs no explanation."""
        finding = case.get("unsynced_wandb")
        if finding is not None and finding.is_alarm:
            yield case.clue(0.9, finding.evidence[0], states=True)

    def issue(self, case: Case) -> str:
        """One sentence."""
        finding = case.get("unsynced_wandb")
        if finding is not None and finding.number("is_gone"):
            return "the tracker's own process died or lost its connection; training went on"
        return "the tracker ran offline, so nobody else has this run's data"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Sync, keep, restart the tracker."""
        finding = case.get("unsynced_wandb")
        folder = str(finding.details.get("folder") or "") if finding is not None else ""
        shown = folder or "wandb/offline-run-*"
        command = str(finding.details.get("command") or "") if finding is not None else ""
        yield Fix(
            addresses=self.id,
            change=f"sync {shown} from a machine with network",
            example=command or f"wandb sync {shown}",
            expected_impact="all logged steps appear in the project within minutes",
            verify="the last step in the web view equals the last one in the log",
            if_it_fails="sync to another run id: wandb sync --id NEW_ID FOLDER",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="copy the folder from scratch to a place that is kept until it is synced",
            example=f"rsync -a {shown} $HOME/unsynced/",
            expected_impact="no data is lost when scratch is emptied",
            verify="the copy's .wandb file has the same size",
            if_it_fails="ask how long scratch is kept, and sync before that",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="let the next run survive a broken tracker: offline, synced by a second job",
            example="export WANDB_MODE=offline; sbatch --dependency=afterany:JOB sync.sh",
            expected_impact="training no longer depends on the network; curves come an hour late",
            verify="the sync job ends with `done` and the run is in the project",
            if_it_fails="log to a CSV file as well",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The tracker's own log."""
        yield (
            "wandb/run-*/logs/debug-internal.log: tells a lost connection from a process that the "
            "node killed for memory"
        )
