"""How finely a curve was logged: averaged before logging, or printed with few digits."""

from __future__ import annotations

import math

import numpy as np

from ..core.facts import Facts
from ..core.view import RunView

LEAST_POINTS = 48
SMOOTH = 0.58
"""Around its trend, independent noise turns back on 2/3 of its moves, a mean of it on 1/2."""
_BLOCK = 32
"""Moves whose median is the trend."""
FEW_VALUES = 20
IN = 200
"""At most so many distinct values in so many points: the digits are the noise."""
_ROLES = ("train/loss", "val/loss", "grad_norm")


def smoothed(view: RunView, facts: Facts) -> None:
    """Guard 1: a running mean moves late and spreads a spike over many points."""
    for role in _ROLES:
        curve = view.curve(role)
        if curve is None or len(curve) < LEAST_POINTS:
            continue
        words = curve.name.casefold()
        is_named = any(w in words for w in ("smooth", "ema", "running", "so far"))
        # A smooth descent without noise turns back as rarely; only noise can be smoothed.
        if is_named or (_is_averaged(curve.y) and not _is_noise_free(curve.y)):
            facts.smoothed[curve.name] = (
                f"{curve.name} is logged as a running mean: onset is approximate"
            )
            facts.notes["smoothed"] = curve.remark(facts.smoothed[curve.name])


def _is_averaged(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """True if moves around the trend turn back too seldom, by more than four standard errors."""
    tail = values[-4096:]
    with np.errstate(over="ignore", invalid="ignore"):
        moves = np.diff(tail[np.isfinite(tail)])
        blocks = moves[len(moves) % _BLOCK :].reshape(-1, _BLOCK)
        signs = np.sign(blocks - np.median(blocks, axis=1, keepdims=True)).ravel()
    signs = signs[(signs == 1) | (signs == -1)]
    if len(signs) < _BLOCK:
        return False
    turns = float(np.mean(signs[1:] != signs[:-1]))
    return turns < min(SMOOTH, 2 / 3 - 4 * math.sqrt(2 / 9 / len(signs)))


def _is_noise_free(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    tail = values[-4096:]
    tail = tail[np.isfinite(tail)][-512:]
    if len(tail) < 8:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        bends = np.diff(tail, 2)
        moves = np.abs(np.diff(tail))
    return bool(np.median(np.abs(bends)) < 0.02 * np.median(moves)) if moves.any() else True


def quantised(view: RunView, facts: Facts) -> None:
    """Guard 2: with two digits printed, or bf16, nothing seems to change."""
    for role in _ROLES:
        curve = view.curve(role)
        if curve is None or len(curve) < 32:
            continue
        tail = curve.y[-IN:]
        tail = tail[np.isfinite(tail)]
        distinct = len(np.unique(tail))
        if 1 < distinct <= min(FEW_VALUES, len(tail) // 3):
            facts.quantised[curve.name] = (
                f"{curve.name} takes only {distinct} different values in its last {len(tail)} "
                "points: it is printed too coarsely to see small changes"
            )
            facts.notes["quantised"] = curve.remark(facts.quantised[curve.name])
