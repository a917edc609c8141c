"""unsynced_wandb: what the run logged to Weights & Biases exists on this machine alone.

What it sees: a `wandb/offline-run-...` folder or `wandb sync` hints without a sync, and messages
    that the W&B process died or could not upload while training went on.
Why it matters: curves that others look at stop or are missing, and scratch folders are emptied.
    Training itself is not touched.
Fires on:
    log: wandb: W&B syncing is set to `offline` in this directory. | step 1 loss 2.0
    log: wandb: You can sync this run to the cloud by running: | wandb: wandb sync offline-run-1
    log: step 1 loss 2.0 | wandb: WARNING wandb-core exited unexpectedly with code 1
Stays quiet:
    log: wandb: Syncing run red-fox-1 | wandb: View run at https://example.org/x | step 1 loss 2.0
    log: wandb: Synced 5 W&B file(s), 0 media file(s) | Training completed
Try next: `wandb sync` the folder from a machine with network; keep it out of scratch until then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind
from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView

_OFFLINE = re.compile(
    r"(?i)^wandb: .{0,200}(?:syncing is set to .offline|sync this run|wandb sync |offline-run-)|"
    r"^wandb: .{0,80}offline mode|^W&B syncing is set to .offline|^You can sync this run"
)
_GONE = re.compile(
    r"SockClientClosedError|HandleAbandonedError|MailboxClosedError|"
    r"wandb-(?:core|service)\b.{0,60}(?:exited|died|killed|terminated|not running|crashed)|"
    r"data was not synced|[Dd]ropped streaming file chunk|communicating with wandb process|"
    r"wandb: ERROR .{0,80}(?:upload|[Ff]ailed to sync|sync failed)"
)
_FOLDER = re.compile(r"[\w./\\~:-]{0,200}offline-run-[\w-]{1,80}")


@analyzer
@dataclass(frozen=True, slots=True)
class UnsyncedWandb:
    """Report data that only this machine has."""

    id: ClassVar[str] = "unsynced_wandb"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("warning", "error", "exception")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """A tracker that died weighs more than one that was offline on purpose."""
        paths = [source.path for source in view.run.files]
        paths += [artifact.path for artifact in view.run.artifacts]
        if any(path.endswith(".synced") for path in paths):
            return
        said = view.events_of(EventKind.WARNING, EventKind.ERROR, EventKind.EXCEPTION)
        gone = [
            p for p in said if _GONE.search(f"{p.event.exception} {p.event.title} {p.text[:300]}")
        ]
        offline = [p for p in said if _OFFLINE.search(p.event.title)]
        folder = next((m[0] for path in paths if (m := _FOLDER.search(path))), "")
        folder = folder or next((m[0] for p in offline if (m := _FOLDER.search(p.text))), "")
        if not gone and not offline and not folder:
            return
        yield self._report(view, gone, offline, folder)

    def _report(
        self, view: RunView, gone: list[PlacedEvent], offline: list[PlacedEvent], folder: str
    ) -> Finding:
        evidence = [placed.evidence() for placed in (*gone[:2], *offline[:2])]
        if not evidence:
            evidence = [Evidence(EvidenceKind.LOG, folder, "an offline run, no mark of a sync")]
        where = f": {folder}" if folder else ""
        if gone:
            title = f"W&B stopped syncing while the run went on: {gone[0].event.title}"
        elif view.state is RunState.FAILED:
            title = f"the run failed with its W&B data on this machine alone{where}"
        else:
            title = f"W&B data of this run is on this machine alone{where}"
        is_alarm = bool(gone) or view.state is RunState.FAILED
        basis = Basis.OBSERVATION if gone or offline else Basis.RESEARCH
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.WARNING if is_alarm else Severity.INFO,
            confidence=finding_confidence(basis, 0.85),
            basis=basis,
            evidence=tuple(dict.fromkeys(evidence)),
            first_step=gone[0].event.step if gone else None,
            details={"folder": folder, "is_gone": float(bool(gone))},
        )
