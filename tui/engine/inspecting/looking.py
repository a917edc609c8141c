"""One look into a checkpoint, or into two: all of it beside the main loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from mltd.analyzers.weights import Inspection, inspect_weights, kinds_of
from mltd.runs.checkpoints import (
    CheckpointSummary,
    Limits,
    compare_checkpoints,
    read_checkpoint,
)
from mltd.runs.open_artifact import ANYWHERE
from mltd.runs.run import Run

from ..model_protocol import ModelPage
from .branches import Branches
from .page import make_page

LIMITS = Limits()


class Job(NamedTuple):
    """What to look into, and what is known of it already."""

    path: str
    against: str
    needs_values: bool
    run: Run
    """Settings and statements alone: nobody else reads them."""
    known: CheckpointSummary | None = None
    """The same file, read before."""
    roots: tuple[str, str] = (ANYWHERE, ANYWHERE)
    """The folders that the two must lie in."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of it, kept for whoever unfolds the tree or asks for the memory."""

    found: Inspection
    branches: Branches
    page: ModelPage


def look(job: Job, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Looked:
    """Read, judge and lay out; an `MltdError` says what is wrong with the file."""
    summary, comparison = job.known, None
    # A comparison reads them all: whoever waits for it wants to know what they hold, too.
    needs_values = job.needs_values or bool(job.against)
    if summary is None or (needs_values and not summary.has_values):
        summary = read_checkpoint(
            job.path,
            root=job.roots[0],
            needs_values=needs_values,
            limits=LIMITS,
            progress=progress,
            cancelled=cancelled,
        )
    if job.against:
        comparison = compare_checkpoints(
            job.against,
            job.path,
            roots=(job.roots[1], job.roots[0]),
            limits=LIMITS,
            progress=progress,
            cancelled=cancelled,
        )
    found = inspect_weights(summary, comparison, job.run)
    branches = Branches(summary, found.tree, kinds_of(summary.model))
    return Looked(found, branches, make_page(found, branches))
