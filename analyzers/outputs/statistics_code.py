"""What a line of code that takes a variance takes it over, by the names in it."""

from __future__ import annotations

import re

import numpy as np

from ..core.case import Case
from ..core.finding import Evidence, Finding

LEAST_BEFORE = 20
"""Finite losses before a warning that show that the code did well until then."""
OF_A_HEAD = re.compile(
    r"halt|head|ponder|gate|group|q_|logit|score|router|expert|attn|reward|return|advantage|mask|"
    r"steps?\b|prob",
    re.IGNORECASE,
)
OF_THE_BATCH = re.compile(r"batch|adv|return|loss|normali[sz]e|dim\s*=\s*0|\(0\)", re.IGNORECASE)


def went_well_before(case: Case, found: Finding) -> Evidence | None:
    """Losses of the steps before a warning, if there are many: the number of elements varies."""
    loss, code = case.view.curve("train/loss"), str(found.details.get("code", ""))
    # In a file of its own the warning has no step, but what it led to has one.
    step = found.first_step if found.first_step is not None else case.onset("nan_loss")
    if loss is None or step is None:
        return None
    if OF_A_HEAD.search(code) and not OF_THE_BATCH.search(code):
        return None  # units that halt one after the other leave a single one, too
    at = int(np.searchsorted(loss.x, step))
    if at < LEAST_BEFORE or not np.isfinite(loss.y[at - LEAST_BEFORE : at]).all():
        return None
    return loss.evidence(at - LEAST_BEFORE, at - 1)
