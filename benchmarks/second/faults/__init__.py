"""Injected faults, as hooks; wrong rates and the like are mere settings of the plan."""

from __future__ import annotations

from .data import Echoed, Garbage, Longer, Relabelled, Rescaled
from .machine import Leak, Slow, Slower, Straggler
from .optimisation import Frozen, Growing, KeptGradients, Negated, RateFactor, RateGrowth
from .weights import BitFlip, RouterBias, Saturated, ScaledInit, TinyScale

__all__ = [
    "BitFlip",
    "Echoed",
    "Frozen",
    "Garbage",
    "Growing",
    "KeptGradients",
    "Leak",
    "Longer",
    "Negated",
    "RateFactor",
    "RateGrowth",
    "Relabelled",
    "Rescaled",
    "RouterBias",
    "Saturated",
    "ScaledInit",
    "Slow",
    "Slower",
    "Straggler",
    "TinyScale",
]
