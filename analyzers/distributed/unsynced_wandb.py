"""unsynced_wandb: what the run logged to Weights & Biases exists on this machine alone.

What it sees: a `wandb/offline-run-...` folder of this run without the mark that `wandb sync`
    leaves, `wandb sync` hints in the log, `WANDB_MODE=offline`, and messages that the W&B process
    died or could not upload while training went on. Folders of other runs in the same `wandb`
    folder are left out: one belongs to the run if it holds its files, if the log names it, if
    both come from the same Slurm job, or if it is the only one that ended when the log did.
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
from mltd.runs.roles import normalise
from mltd.runs.state import RunState
from mltd.runs.surroundings import surroundings_of
from mltd.runs.tracker_folders import TrackerFolder, own_folders, shown_path, sync_command

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
_MODE = frozenset({"wandb mode", "wandb offline", "offline"})
MOST_NAMED = 4
"""Folders whose names fit into one command."""


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
        told = " ".join(p.text[:1000] for p in (*offline, *gone))
        folders, is_sure = _own(view, told)
        left = [one for one in folders if not one.is_synced and (one.is_offline or gone)]
        if folders and is_sure and not left:
            return
        if not is_sure:
            left = []
        folder = shown_path(left[0].path) if left else ""
        if not folder and not folders:
            folder = next((m[0] for path in paths if (m := _FOLDER.search(path))), "")
            folder = folder or next((m[0] for p in offline if (m := _FOLDER.search(p.text))), "")
        if gone or offline or folder:
            yield self._report(view, gone, offline, folder, left)

    def _report(
        self,
        view: RunView,
        gone: list[PlacedEvent],
        offline: list[PlacedEvent],
        folder: str,
        left: list[TrackerFolder],
    ) -> Finding:
        evidence = [placed.evidence() for placed in (*gone[:2], *offline[:2])]
        evidence += [
            Evidence(EvidenceKind.LOG, shown_path(one.path), "an offline run, no mark of a sync")
            for one in left[:MOST_NAMED]
        ]
        evidence += _mode(view)
        if not evidence:
            evidence = [Evidence(EvidenceKind.LOG, folder, "an offline run, no mark of a sync")]
        command = _command(left, folder)
        where = f": {folder}" if folder else ""
        if left and view.state is not RunState.RUNNING:
            where = f": {command}"
        if gone:
            title = f"W&B stopped syncing while the run went on: {gone[0].event.title}"
        elif view.state is RunState.FAILED:
            title = f"the run failed with its W&B data on this machine alone{where}"
        else:
            title = f"W&B data of this run is on this machine alone{where}"
        is_alarm = bool(gone) or view.state is RunState.FAILED
        basis = Basis.OBSERVATION if gone or offline or left else Basis.RESEARCH
        return Finding(
            id=self.id,
            title=title[:400],
            severity=Severity.WARNING if is_alarm else Severity.INFO,
            confidence=finding_confidence(basis, 0.85),
            basis=basis,
            evidence=tuple(dict.fromkeys(evidence)),
            first_step=gone[0].event.step if gone else None,
            details={"folder": folder, "is_gone": float(bool(gone)), "command": command},
        )


def _own(view: RunView, told: str) -> tuple[list[TrackerFolder], bool]:
    """The tracker's folders of this run; not sure if there are several that may be its own."""
    around = surroundings_of(view.run)
    return ([], True) if around is None else own_folders(around, told)


def _command(left: list[TrackerFolder], folder: str) -> str:
    if 0 < len(left) <= MOST_NAMED:
        return sync_command(left)
    return f"wandb sync {folder or 'wandb/offline-run-*'}"


def _mode(view: RunView) -> list[Evidence]:
    """The setting that keeps the tracker offline, if the run states it."""
    return [
        setting.evidence
        for setting in view.settings
        if normalise(setting.path.rpartition(".")[2]) in _MODE
        and setting.text in ("offline", "dryrun", "true", "1")
        and "wandb" in normalise(setting.path)
    ][:1]
