"""Boosted trees that were not allowed a single split: what their libraries say about it."""

from __future__ import annotations

import re

from mltd.runs.event import EventKind

from ..core.finding import Evidence
from ..core.view import RunView

_NO_SPLIT = re.compile(
    r"no meaningful features which satisfy|no more leaves that meet the split requirements|"
    r"no further splits with positive gain|All features are either constant or ignored|"
    r"Total Bins 0\b|number of used features: 0\b",
    re.IGNORECASE,
)


def no_split_allowed(view: RunView) -> Evidence | None:
    """The first warning that no tree could grow; at the end of a training it is a usual remark."""
    for placed in view.events_of(EventKind.WARNING):
        if _NO_SPLIT.search(placed.text):
            return placed.evidence()
    return None
