"""Which way a metric gets better, and which metrics matter first."""

from __future__ import annotations

from mltd.analyzers.gradients.layers import is_of_a_layer
from mltd.runs.roles import normalise

_SMALLER = frozenset(
    {"loss", "perplexity", "error_rate", "regression_error", "step_time", "data_time", "memory",
     "overflow_count"}
)  # fmt: skip
_LARGER = frozenset({"accuracy", "score", "throughput", "mfu", "reward"})
_DISTANCES = ("fid", "dis", "medr")
"""How words begin that make a score a distance."""
OUTCOMES = ("loss", "perplexity", "accuracy", "error_rate", "score", "regression_error", "reward")
"""What a training is for, the most telling first; the other metrics are what it takes."""
_ORDER = (*OUTCOMES, "grad_norm", "lr", "throughput", "mfu", "step_time", "data_time", "memory")
_SPLITS = ("train", "val", "test")


def kind_of(role: str | None) -> str:
    """What is measured, on whichever data: `loss` of `val/loss`."""
    return (role or "").rpartition("/")[2]


def split_of(role: str | None) -> str:
    """The data it is measured on: `val` of `val/loss`, nothing of `reward`."""
    return (role or "").rpartition("/")[0]


def smaller_is_better(role: str | None, name: str) -> bool | None:
    """Which direction is better, as far as one can tell by what is measured."""
    kind = kind_of(role)
    if kind in _SMALLER:
        return True
    if kind == "score" and any(word.startswith(_DISTANCES) for word in normalise(name).split()):
        return True
    return False if kind in _LARGER else None


def importance(role: str | None, name: str, *, is_shared: bool) -> tuple[bool, int, int, bool, str]:
    """Sort key: the loss first, layers last."""
    kind, split = kind_of(role), split_of(role)
    is_layer = is_of_a_layer(name)
    return (
        is_layer,
        _ORDER.index(kind) if kind in _ORDER else len(_ORDER),
        _SPLITS.index(split) if split in _SPLITS else 0,
        not is_shared,
        "" if is_layer else name,  # layers stay in the order of the model
    )
