"""Arithmetic on values of any size: overflow and division by zero are answers, not warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from mltd.runs.harvest import Floats

_P = ParamSpec("_P")
_Item = TypeVar("_Item")


def calmly(look: Callable[_P, Iterable[_Item]]) -> Callable[_P, list[_Item]]:
    """Let a generator run to its end without floating-point warnings."""

    @wraps(look)
    def looked(*args: _P.args, **kwargs: _P.kwargs) -> list[_Item]:
        with np.errstate(all="ignore"):
            return list(look(*args, **kwargs))

    return looked


def median(values: Floats) -> float:
    """The median of the finite values, NaN if there are none."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return float("nan")
    with np.errstate(all="ignore"):
        # The mean of the middle two would overflow for the largest floats.
        return float(np.partition(finite, len(finite) // 2)[len(finite) // 2])
