"""Recognisers that put out nothing: all blank, or all wrong at every evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Basis, Severity
from ..core.view import RunView
from .endings import ending, smooth_levels
from .sign import Sign

_BLANK = re.compile(
    r"(?:.* )?blanks? (?:share|frac|fraction|ratio|rate|pct|prob)|(?:frac|share|pct) blanks?"
)
_ERROR_RATE = re.compile(r"(?:.* )?(?:wer|cer|ter|word error rate|char(?:acter)? error rate)")
_NOTHING_SAID = 0.98
"""Of all frames: peaks of a healthy recogniser leave less than that to the blank."""
_ALL_WRONG = 0.99
_LONG = 12


def said_nothing(view: RunView) -> Iterator[Sign]:
    """Blanks that are logged, else error rates of one beside a loss that has come to rest."""
    curves = [(normalise(curve.name), curve) for curve in view.all_curves()]
    rates = [curve for name, curve in curves if _ERROR_RATE.fullmatch(name) and len(curve)]
    if any(float(np.median(c.y[-3:])) < 0.95 * _scale(c) for c in rates):
        return  # words come out all the same
    for name, curve in curves:
        found = _blank(curve) if _BLANK.fullmatch(name) else None
        if found is not None:
            yield found
            return
    for curve in rates:
        if (found := _all_wrong(view, curve)) is not None:
            yield found
            return


def _scale(curve: Curve) -> float:
    """Rates are written as shares or in percent."""
    return 100.0 if float(np.nanmax(curve.y)) > 10.0 else 1.0


def _blank(curve: Curve) -> Sign | None:
    scale = _scale(curve)
    end = ending(curve, lambda v: (v > _NOTHING_SAID * scale) & (v <= 1.001 * scale), 3, 0.25)
    if end is None:
        return None
    return _sign(
        f"{end.level / scale:.0%} of the output is blank ({curve.name}) from {curve.axis_name} "
        f"{curve.step(end.start):.10g} on",
        curve,
        end.start,
        0.75,
    )


def _all_wrong(view: RunView, rate: Curve) -> Sign | None:
    loss = view.curve("train/loss")
    levels = smooth_levels(loss) if loss is not None else np.empty(0)
    if loss is None or len(levels) < _LONG or len(rate) < _LONG:
        return None
    fallen = float(levels[0] - levels[-1])
    # While the loss still falls, words are yet to come.
    is_flat = float(np.ptp(levels[len(levels) // 2 :])) < 0.05 * fallen
    if not is_flat or fallen < 0.2 * float(levels[0]):
        return None
    scale = _scale(rate)
    if float(np.nanmin(rate.y)) < _ALL_WRONG * scale or float(np.nanmax(rate.y)) > scale:
        return None
    return _sign(
        f"{rate.name} is {rate.y[-1]:g} at each of {len(rate)} evaluations although {loss.name} is "
        "at rest: nothing is put out that is right",
        rate,
        0,
        0.6,
    )


def _sign(title: str, curve: Curve, start: int, raw: float) -> Sign:
    return Sign(
        "predictions",
        title,
        Severity.WARNING,
        Basis.RESEARCH,
        raw,
        (curve.evidence(start, len(curve) - 1),),
        curve.step(start),
        {"share": 1.0},
    )
