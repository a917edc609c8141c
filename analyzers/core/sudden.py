"""Whether a place inside a model made ordinary values into such that are not finite.

Whatever grows without bound overflows in some layer as well, and that layer is not to blame. Only a
break out of values of a usual size tells an operation without a finite value or slope from growth.
"""

from __future__ import annotations

import numpy as np

from .case import Case
from .curve import Curve
from .finding import Evidence
from .recording import FirstBad, first_bad, place_of, recordings

MOST_LOSS = 3.0
"""Times all that the loss has been before: what precedes an overflow is far above that."""
MOST_GRADIENT = 10.0
"""The same for the gradient norm, which varies more from batch to batch."""
MOST_UPDATE = 1.0
"""Weights that one step moves by more than their own length may be anywhere."""
NEAR = 3
"""Points before the break that are compared with those before them."""
REACH = 256


def sudden_break(case: Case) -> FirstBad | None:
    """Where a probe saw finite inputs and weights, of usual sizes, turn into NaN or infinities."""
    bad = first_bad(case.view)
    if bad is None or bad.step is None or bad.origin.kind not in ("activation", "gradient", "loss"):
        return None
    if bad.origin.kind == "loss" and not bad.saw_outputs:
        return None
    for role, most in (("train/loss", MOST_LOSS), ("grad_norm", MOST_GRADIENT)):
        for curve in case.view.curves(role)[:2]:
            if _grew(curve, bad.step, most):
                return None
    return None if leap_before(case) is not None else bad


def leap_before(case: Case) -> Evidence | None:
    """A step just before the break that moved the weights by more than their own length."""
    bad = first_bad(case.view)
    if bad is None or bad.step is None:
        return None
    for recording in recordings(case.view):
        curve = recording.total("update_ratio")
        at = place_of(curve, bad.step) if curve is not None else 0
        near = curve.y[max(0, at - NEAR) : at] if curve is not None else np.empty(0)
        if curve is not None and np.any(near > MOST_UPDATE):
            return curve.evidence(max(0, at - NEAR), at - 1)
    return None


def _grew(curve: Curve, step: float, most: float) -> bool:
    """True if the last values before a step were far beyond all that was seen until then."""
    at = place_of(curve, step)
    before = curve.y[max(0, at - REACH) : at]
    # An infinity just before is growth that has arrived.
    if np.isinf(before[-NEAR:]).any():
        return True
    before = np.abs(before[np.isfinite(before)])
    if len(before) < 2:
        return False
    near = min(NEAR, len(before) - 1)
    usual = float(before[:-near].max())
    return usual > 0 and float(before[-near:].max()) > most * usual
