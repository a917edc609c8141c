"""Levels that change from one logged point to the next, and stay."""

from __future__ import annotations

import numpy as np

from .case import Case
from .clues import Answer, share_of_run

LEAST = 20
"""Points before and after, without which there is no level."""
LIFTED = 20.0


def shifted_gradients(case: Case) -> Answer | None:
    """How many times its size the gradient norm is since one step of a run that goes on.

    Growth takes several points and goes on, or ends in values that are not finite; a level that is
    there at once and neither grows nor comes back is that of other data, at the same rate.
    """
    found, curve = case.get("exploding_gradients"), case.view.curve("grad_norm")
    if found is None or found.first_step is None or curve is None or case.has("nan_loss"):
        return None
    if case.view.facts.grad_norm_flaw or share_of_run(case, found.first_step) < 0.1:
        return None
    at = int(np.searchsorted(curve.x, found.first_step))
    before, after = curve.y[max(0, at - 132) : at], curve.y[at:][-4096:]
    if min(len(before), len(after)) < LEAST or not np.isfinite(curve.y[-4096:]).all():
        return None
    usual = float(np.median(before))
    third = len(after) // 3
    first, last = float(np.median(after[:third])), float(np.median(after[-third:]))
    is_lifted = usual > 0 and float(np.quantile(after, 0.25)) > 0.3 * LIFTED * usual
    is_sudden = float(np.max(before[-3:])) < 3 * float(np.quantile(before, 0.9))
    is_level = 0.2 < last / max(first, 1e-30) < 3.0
    at_once = float(np.max(after[:3])) > LIFTED * usual
    if not (is_lifted and is_sudden and is_level and at_once):
        return None
    return Answer(first / usual, curve.evidence(max(0, at - 1), at + 2))
