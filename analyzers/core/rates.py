"""Questions about the learning rate itself, and about what too high a one leaves behind."""

from __future__ import annotations

import numpy as np

from .case import Case
from .clues import Answer
from .finding import Evidence, Finding

THROWN = 3.0
"""Times the loss of a guess among the first values, which no usual initialisation gives."""


def thrown_to_a_guess(case: Case) -> Finding | None:
    """A loss that began far above a guess, and is a guess since: the first steps broke it."""
    for finding in case.all("not_learning"):
        if finding.number("at_chance") and finding.number("thrown") >= THROWN:
            return finding
    return None


EXCESS = 0.01
"""Share above the loss of a guess that no guess has that is left alone."""


def thrown_about_a_guess(case: Case) -> Finding | None:
    """A loss that stays a little above that of a guess, for certain: each step throws it about."""
    rate = highest_rate(case)
    if rate is not None and rate.value < 1e-3:
        return None
    for finding in case.all("not_learning"):
        if finding.number("at_chance") and finding.number("excess") >= EXCESS:
            return finding
    return None


def overwhelming_decay(case: Case) -> Evidence | None:
    """A pull of the weights towards 0 that no usual gradient holds against."""
    decay, optimizer = case.setting("weight_decay"), case.setting("optimizer")
    if decay is None or decay.number is None:
        return None
    # Decoupled from the gradient, as AdamW does it, a tenth is usual.
    is_coupled = optimizer is not None and optimizer.text in ("sgd", "adam", "rmsprop")
    return decay.evidence if decay.number >= (0.05 if is_coupled else 0.5) else None


def highest_rate(case: Case) -> Answer | None:
    """The learning rate of the settings, else the highest that was logged."""
    setting = case.view.settings.learning_rate()
    if setting is not None and setting.number is not None:
        return Answer(setting.number, setting.evidence)
    curve = case.view.curve("lr")
    if curve is None or len(curve) < 4 or not np.isfinite(curve.bins[4]).all():
        return None
    peak = float(np.max(curve.bins[4]))
    return Answer(peak, curve.remark(f"reaches {peak:.3g}"))


def creeping_validation(case: Case) -> Evidence | None:
    """A validation loss that is lower at each evaluation, by next to nothing.

    Labels that say nothing about their inputs cannot bring that about; steps that are too small,
    or that reach too little of the model, do.
    """
    val = case.view.curve("val/loss")
    if val is None or len(val) < 6:
        return None
    values = val.bins[2]
    if not np.isfinite(values).all() or float(values[0]) <= 0:
        return None
    gained = 1.0 - float(values[-1]) / float(values[0])
    falls = float(np.mean(np.diff(values) <= 0))
    if not 0.001 < gained < 0.03 or falls < 0.95:
        return None
    return val.evidence(0, len(val) - 1)
