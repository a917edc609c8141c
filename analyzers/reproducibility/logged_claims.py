"""Settings that the run logs beside its losses and that are others than configured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.view import RunView
from .disagreement import Disagreement

_RATE = re.compile(r"(?:.* )?(?:lrs?|learning rates?|eta|lr0|lrf)(?: .*)?|.* lr \w+")
_UNRELATED = re.compile(
    r"\b(?:weight decay|wd|l2|drop ?out|momentum|betas?\d?|beta \d|eps|epsilon|smoothing|seed)\b"
)
"""No program multiplies its rate by these, though 1 / 0.01 is a round factor."""
_LEAST_RECORDS = 10
_CLEARLY = 5.0
"""Smaller factors are scalings of groups and stages that configs often do not state."""
_MOST_DEVICES = 4096
_UNITS = 1000.0
"""Rates are printed in thousandths or millionths, too."""


def logged_claims(view: RunView) -> Iterator[Disagreement]:
    """A constant rate or batch size that no setting states."""
    yield from _rate(view)
    yield from _batch(view)


def _rate(view: RunView) -> Iterator[Disagreement]:
    setting = view.settings.learning_rate()
    curves = view.curves("lr")
    # Several groups have several rates, of which a config may state a single one.
    if setting is None or not setting.number or len(curves) != 1:
        return
    logged = _constant(curves[0], _LEAST_RECORDS)
    stated = [s.number for s in view.settings if s.number and _RATE.fullmatch(normalise(s.path))]
    if logged is None or not stated:
        return
    if any(_is_made_of(logged, number, view) for number in [*stated, setting.number]):
        return
    yield Disagreement(
        "lr",
        f"the configured {setting.path} is {setting.value} but {curves[0].name} is logged as "
        f"{logged:g} throughout",
        (setting.evidence, curves[0].evidence(0, len(curves[0]) - 1)),
    )


def _is_made_of(logged: float, stated: float, view: RunView) -> bool:
    """Equal, or scaled as programs scale it: by devices, by batch size, by the unit printed."""
    ratio = max(logged, stated) / min(logged, stated)
    if ratio < _CLEARLY:
        return True
    if ratio <= _MOST_DEVICES and math.isclose(ratio, 2.0 ** round(math.log2(ratio)), rel_tol=1e-3):
        return True
    if ratio >= _UNITS and math.isclose(ratio, 10.0 ** round(math.log10(ratio)), rel_tol=1e-3):
        return True
    numbers = {
        abs(s.number)
        for s in view.settings
        if s.number and not isinstance(s.value, bool) and not _UNRELATED.search(normalise(s.path))
    }
    # Devices, accumulated steps, factors, and batch sizes over a reference of 256 or 512.
    factors = numbers | {n / 256 for n in numbers} | {n / 512 for n in numbers}
    factors |= {math.sqrt(n) for n in numbers}
    return any(math.isclose(ratio, n if n >= 1 else 1 / n, rel_tol=1e-2) for n in factors if n)


def _constant(curve: Curve, least: int) -> float | None:
    """Its value, if it has but one and that is larger than 0."""
    _, _, mean, low, high, counts = curve.bins
    known = counts > 0
    if int(counts.sum()) < least:
        return None
    value = float(mean[known][0])
    is_constant = bool(np.all(low[known] == value) and np.all(high[known] == value))
    return value if is_constant and value > 0 else None


def _batch(view: RunView) -> Iterator[Disagreement]:
    setting = view.settings.get("batch_size")
    if setting is None or not setting.number or setting.number <= 0:
        return
    stated = {s.number for s in view.settings if "batch" in normalise(s.path)}
    for curve in view.named("batch", "size"):
        value = _constant(curve, 3) if normalise(curve.name) == "batch size" else None
        if value is None or value in stated or value % setting.number == 0:
            continue
        yield Disagreement(
            "batch_size",
            f"{setting.path} is {setting.value} but batches of {value:g} are logged",
            (setting.evidence, curve.evidence(0)),
        )
        return
