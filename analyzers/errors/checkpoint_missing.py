"""checkpoint_missing: the checkpoint to load is not there, or the one that a finished run saved.

What it sees: messages that a checkpoint, a pretrained model or its files are not found. For a run
    that says it finished: the checkpoint that its log saved last, the best one, or one that its
    settings name (`save_path`, `best_model_path`) is not there or has 0 bytes; or none is there
    while the neighbouring runs have theirs. Paths that cannot be seen from this machine (another
    cluster's, a node's own disk, a log that was copied alone) are not judged.
Why it matters: the run does not start, or starts from random weights; or hours of training left
    nothing behind.
Fires on:
    log: ValueError: No valid checkpoint found in output directory (./out)
    log: FileNotFoundError: [Errno 2] No such file or directory: 'runs/last.ckpt'
Stays quiet:
    log: FileNotFoundError: [Errno 2] No such file or directory: '/data/labels.csv'
    log: step 9 loss 1.0 | Saving best model to best_model.pt | Training completed
Try next: list the checkpoints that exist and name one; resume only if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind
from mltd.runs.state import RunState
from mltd.runs.surroundings import Presence, surroundings_of

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .promised import Promise, checkpoint_evidence, promises, usual_name
from .told import report

QUIET = 15.0
"""Seconds of silence after which a finished run has written what it was going to write."""


@analyzer
@dataclass(frozen=True, slots=True)
class CheckpointMissing:
    """Checkpoints that are not there, by message or by looking for them."""

    id: ClassVar[str] = "checkpoint_missing"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning", "checkpoint", "finished")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said, and at what it left."""
        yield from report(view, self.id)
        finish = _finish(view)
        if finish is None or not _is_quiet(view):
            return
        made = promises(view)
        broken = [promise for promise in made if promise.is_broken]
        if broken:
            yield self._broken(broken, finish)
        elif not any(promise.found.presence is Presence.HERE for promise in made):
            yield from self._unlike_others(view, finish)

    def _broken(self, broken: list[Promise], finish: Evidence) -> Finding:
        worst = min(broken, key=lambda p: (not p.found.is_certain, not p.is_said))
        is_empty = worst.found.presence is Presence.EMPTY
        whose = "that it saved" if worst.is_said else f"that {worst.evidence.ref} names"
        how = "is empty" if is_empty else "is not there"
        is_certain = is_empty or worst.found.is_certain
        basis = Basis.OBSERVATION if worst.is_said or is_empty else Basis.RESEARCH
        remark = "" if is_certain else " (unless weights were left out of this copy)"
        return Finding(
            id=self.id,
            title=f"the run says it finished, but the checkpoint {whose} {how}: "
            f"{worst.found.path or worst.name}{remark}"[:400],
            severity=Severity.WARNING if is_certain else Severity.INFO,
            confidence=finding_confidence(basis, 0.9 if worst.is_said else 0.75),
            basis=basis,
            evidence=(checkpoint_evidence(worst.found), worst.evidence, finish),
            details={
                "kind": "promised",
                "said_file": worst.name,
                "path": worst.found.path,
                "is_empty": float(is_empty),
            },
        )

    def _unlike_others(self, view: RunView, finish: Evidence) -> Iterator[Finding]:
        """A training that left no checkpoint in a folder whose other runs did."""
        around = surroundings_of(view.run)
        if around is None or not around.is_run_folder or view.curve("train/loss") is None:
            return
        usual = usual_name(view, around)
        if usual is None:
            return
        name, having, alike = usual
        yield Finding(
            id=self.id,
            title=f"the run says it finished, but has no {name}, which {having} of {alike} "
            "neighbouring runs have",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.INFERENCE, 0.65),
            basis=Basis.INFERENCE,
            evidence=(Evidence(EvidenceKind.CHECKPOINT, f"{around.root}/{name}", "not there"),
                      finish),
            details={"kind": "promised", "said_file": name, "path": f"{around.root}/{name}"},
        )  # fmt: skip


def _finish(view: RunView) -> Evidence | None:
    """Where the run says that it finished; nothing if only its steps are all there."""
    if view.state is not RunState.FINISHED:
        return None
    said: list[PlacedEvent] = view.events_of(EventKind.FINISHED)
    if said:
        return said[-1].evidence(said[-1].text.partition("\n")[0].strip())
    job = view.run.job
    if job is not None and job.state.value == "COMPLETED":
        return Evidence(EvidenceKind.JOB, f"job:{job.id}", job.quote)
    return None


def _is_quiet(view: RunView) -> bool:
    if view.run.is_over or (view.run.job is not None and view.run.job.is_over):
        return True
    around = surroundings_of(view.run)
    return around is None or around.silent_for(view.moment) > QUIET
