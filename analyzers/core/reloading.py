"""What a resumed run shows about the weights that it was to go on with."""

from __future__ import annotations

import re
from bisect import bisect_left

import numpy as np

from mltd.runs.event import EventKind

from .case import Case
from .finding import Evidence
from .view import PlacedEvent

_KEYS = re.compile(
    r"(?i)\b(?:missing|unexpected)(?:[ _]keys?)?(?:\(s\))?(?: in [^:\[\n]{1,60})?"
    r"\s*[:=(]*\s*(?:\[\s*['\"]|[1-9]\d*\b)"
    r"|\b[1-9]\d* (?:missing|unexpected|mismatched)(?: keys?)?\b"
    r"|newly initiali[sz]ed|re-?initiali[sz](?:ed|ing)|not initiali[sz]ed from the model checkpoint"
    r"|randomly initiali[sz]ed|\bpartial(?:ly)? load"
)
_KINDS = (EventKind.CHECKPOINT, EventKind.RESTART, EventKind.WARNING, EventKind.ERROR)
_FIRST = 5
"""Points of a beginning that are compared."""
_NEAR = 0.2
"""Share of what had been won by which a second beginning may differ from the first."""


def loaded_in_part(case: Case) -> PlacedEvent | None:
    """A line just before the loss jumped that tells of weights which the file did not have."""
    step = case.onset("resume_discontinuity", "loss_spike", "loss_divergence")
    loss = case.view.curve("train/loss")
    if step is None or loss is None:
        return None
    for placed in case.view.events_of(*_KINDS):
        if placed.source is not case.view.run.files[loss.series.file]:
            continue
        if not _KEYS.search(placed.text):
            continue
        at = bisect_left(range(len(loss)), placed.event.line, key=loss.line)
        if 0 < at < len(loss) and abs(loss.step(at) - step) <= 2 * loss.spacing:
            return placed
    return None


def begins_anew(case: Case) -> Evidence | None:
    """The loss after a resume, where it repeats the first of the run: nothing was kept.

    A lost optimizer or rate throws the loss up from where it was, to no particular place.
    """
    resumed = case.get("resume_discontinuity")
    loss = case.view.curve("train/loss")
    if resumed is None or loss is None or resumed.number("jump") <= 0:
        return None
    at = int(resumed.number("position"))
    count = min(_FIRST, at // 2, len(loss) - at)
    if count < 3:
        return None
    first, second = loss.y[:count], loss.y[at : at + count]
    won = float(first[0] - np.median(loss.y[at - count : at]))
    # Both must be falling in the same way: a level alone may be met by chance.
    is_same = np.abs(first - second) <= _NEAR * won
    is_steep = float(first[0] - first[-1]) > _NEAR * won
    if not won > _NEAR * abs(float(first[0])) or not is_same.all() or not is_steep:
        return None
    return loss.evidence(at, at + count - 1, f"as at the start: {first[0]:.4g} -> {first[-1]:.4g}")
