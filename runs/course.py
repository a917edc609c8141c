"""What a series is that its name alone does not tell: `train 2.31  valid 2.40`, `tl 2.31  vl 2.40`.

People who print nothing but splits print losses or accuracies; which, their course tells. What
two letters stand for, the other two letters beside them tell. And a `scale` of powers of two is
that of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .harvest import Floats
from .roles import Roles

_LOOKS = (8, 32, 128)
"""Numbers of first points that are looked at, so that how a file is cut changes nothing."""
_MOVED = 0.1
"""A share by which the last of them must differ from the first."""
_MOST_PERCENT = 100.0


_PAIRS = {
    "tl": ("vl", "train/loss"),
    "vl": ("tl", "val/loss"),
    "ta": ("va", "train/accuracy"),
    "va": ("ta", "val/accuracy"),
}
"""Initials, their partner without which they may mean anything, and what they mean with it."""

_SCALES = frozenset({"scale", "ls", "scaler", "amp"})
_LEAST_SCALE = 128.0
_SPLITS = frozenset({"val", "valid", "validation", "eval"})
_ACCURACIES, _LOSSES = ("acc", "accuracy"), ("loss", "ce", "nll")


def role_by_company(name: str, is_logged: Callable[[str], bool]) -> str | None:
    """The role of a series that is called by initials, if its partner is logged beside it.

    Or of a bare `val` between a `loss` and a `val_acc`: the one measure of validation that has no
    name is the one of training that needs none.
    """
    if name in _SPLITS:
        is_other = any(is_logged(f"{name}_{word}") for word in _ACCURACIES)
        is_measured = any(is_logged(f"{name}_{word}") for word in _LOSSES)
        return "val/loss" if is_other and not is_measured and is_logged("loss") else None
    partner, role = _PAIRS.get(name, ("", None))
    return role if partner and is_logged(partner) else None


_MEASURED = frozenset({"train/accuracy", "score", "error_rate", "regression_error"})


def role_behind_losses(role: str | None, others: Iterable[str | None]) -> str | None:
    """`train_loss  valid_loss  accuracy`: what comes behind both was measured where the last was.

    `others` are the roles of the losses that were logged before, as their own names tell them.
    """
    if role not in _MEASURED or not {"train/loss", "val/loss"} <= set(others):
        return role
    return f"val/{role.removeprefix('train/')}"


def role_by_course(name: str, values: Floats, roles: Roles) -> str | None:
    """The role of a series that is called like a split and nothing else, once it is clear."""
    if len(values) < _LOOKS[0]:
        return None
    if name.casefold() in _SCALES:
        return "loss_scale" if _is_loss_scale(values[: _LOOKS[0]]) else None
    if not roles.is_split(name) or _is_counter(values[: _LOOKS[0]]):
        return None
    for count in _LOOKS:
        seen = values[:count]
        if len(values) < count or not np.isfinite(seen).all() or (seen < 0).any():
            return None
        quarter = count // 4
        first, last = float(np.median(seen[:quarter])), float(np.median(seen[-quarter:]))
        if last < (1 - _MOVED) * first:
            return f"{roles.split_of(name)}/loss"
        if last > (1 + _MOVED) * first and seen.max() <= _MOST_PERCENT:
            return f"{roles.split_of(name)}/accuracy"
    return None


def _is_loss_scale(values: Floats) -> bool:
    """Powers of two, large at first: nothing else that is called `scale` keeps to them."""
    if not (np.isfinite(values).all() and (values > 0).all() and values[0] >= _LEAST_SCALE):
        return False
    return bool((np.frexp(values)[0] == 0.5).all())


def _is_counter(values: Floats) -> bool:
    """`Train 1`, `Train 2`: how often, not how well."""
    return bool((np.diff(values) == 1).all())
