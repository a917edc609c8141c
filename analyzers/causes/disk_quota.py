"""disk_quota: the disk or the user's quota is full.

What it is: checkpoints, caches and logs have used up what there is, so a write fails.
Told apart by: errno 28 (disk) or 122 (quota) in the message, and the file that was written. The
    same errno while a semaphore or a worker's tensor is made means /dev/shm, not the disk.
Try next: look at `df -h` and `quota -s`, write elsewhere, keep fewer checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause


@cause
@dataclass(frozen=True, slots=True)
class DiskQuota:
    """The message says it, unless it is about shared memory."""

    id: ClassVar[str] = "disk_quota"
    explains: ClassVar[tuple[str, ...]] = ("disk_full", "checkpoint_missing", "missing_file")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The message, and how many checkpoints were written before."""
        found = case.get("disk_full")
        if found is None:
            for left in case.all("checkpoint_missing"):
                if left.number("is_empty"):
                    # A file is made before there is room for what goes into it.
                    yield case.clue(0.6, left.evidence[0])
            for refused in case.all("missing_file"):
                if refused.details.get("rule") == "not_writable":
                    yield case.because(refused, 0.5)
            return
        evidence = found.evidence[0]
        if found.details.get("place") == "shm":
            yield case.clue(0.3, evidence)
            yield case.clue(-0.7, evidence)
            return
        is_stated = found.number("stated") > 0
        yield case.clue(0.92 if is_stated else 0.65, evidence, states=is_stated)
        saved = case.view.events_of(EventKind.CHECKPOINT)
        if len(saved) >= 3:
            yield case.clue(0.3, saved[-1].evidence(), source="checkpoint")

    def issue(self, case: Case) -> str:
        """Disk or quota, and where."""
        found = case.get("disk_full")
        if found is None:
            return "a file could be made but not filled: the disk or the quota may be full"
        place, path = ("", "")
        if found is not None:
            place, path = str(found.details["place"]), str(found.details["path"])
        what = "the disk quota is used up" if place == "quota" else "the disk is full"
        return f"{what}{f' ({path})' if path else ''}, so the run cannot write"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Write elsewhere, write less, write safely."""
        yield Fix(
            addresses=self.id,
            change="write checkpoints and caches to a volume with room",
            example="output_dir: $SCRATCH/run  # and HF_HOME, TMPDIR, WANDB_DIR likewise",
            expected_impact="the next checkpoint is written whole, at the first save",
            verify="df -h and quota -s for that path show at least three checkpoints of room",
            if_it_fails="the limit may be on the number of files: df -i",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="keep only the best and the last two checkpoints",
            example="save_total_limit: 3  # or ModelCheckpoint(save_top_k=1, save_last=True)",
            expected_impact="used space stays level after three saves",
            verify="size of the output directory after five saves",
            if_it_fails="logs or caches are what grows: du -sh of the run's directories",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="write each checkpoint under another name and rename it when it is whole, and "
            "resume from the last whole one",
            example="torch.save(state, path + '.part'); os.replace(path + '.part', path)",
            expected_impact="a full disk costs the steps since the last save, never the "
            "checkpoint, from the next save on",
            verify="load the newest checkpoint in a fresh process",
            if_it_fails="resume from the one before it",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """Which of the limits."""
        yield "`df -h`, `df -i` and `quota -s` for the output path: tell a full disk from a quota"
