"""A learning rate that is logged beside one that is configured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.settings_lookup import Setting
from ..core.view import RunView
from .disagreement import Disagreement, is_same

_LEAST_POINTS = 5
_LARGEST_WORLD = 4096


def rate_claims(view: RunView) -> Iterator[Disagreement]:
    """A constant rate that no setting has, and that no rule of scaling makes of the one set."""
    setting, curve = view.settings.learning_rate(), view.curve("lr")
    if setting is None or not setting.number or setting.number <= 0 or curve is None:
        return
    if len(curve) < _LEAST_POINTS or len(list(view.run.with_role("lr"))) > 1:
        return  # groups of parameters have rates of their own
    _, _, mean, low, high, counts = curve.bins
    known = counts > 0
    rate = float(mean[known][0])
    if rate <= 0 or not (np.all(low[known] == rate) and np.all(high[known] == rate)):
        return  # a schedule may begin, peak and end anywhere
    is_stated = any(other.number and is_same(other.number, rate) for other in view.settings)
    if is_stated or _may_be_scaled(rate, setting, view):
        return
    yield Disagreement(
        "lr",
        f"{setting.path} is {setting.value} but a learning rate of {rate:g} is logged throughout",
        (setting.evidence, curve.evidence(0)),
    )


def _may_be_scaled(rate: float, setting: Setting, view: RunView) -> bool:
    """By the number of devices, or by the batch: a power of two, or as the batch is to 256."""
    factor = rate / (setting.number or 1.0)
    powers = (2.0**n for n in range(-8, 13))
    batches = (s.number for s in view.settings if "batch" in s.path.lower() and s.number)
    scales = [*powers, *(number / 256.0 for number in batches)]
    is_world = factor <= _LARGEST_WORLD and any(is_same(factor, scale) for scale in scales)
    return is_world and not is_same(factor, 1.0)
