"""The metrics of a run as the screen lists them: what stands for the run first."""

from __future__ import annotations

import math
from functools import lru_cache

from mltd.analyzers.core.view import preference
from mltd.analyzers.gradients.layers import is_of_a_layer
from mltd.runs.envelope import Envelope, Envelopes
from mltd.runs.run import Run
from mltd.runs.series import Series

from .protocol import SeriesChanged, SeriesInfo

ENOUGH_LAYERS = 3
"""Layers from which on a map of layers shows more than curves do."""
_FIRST = (
    "train/loss",
    "val/loss",
    "grad_norm",
    "lr",
    "throughput",
    "memory",
    "val/accuracy",
    "train/accuracy",
)
"""Roles whose best metric comes before all others, in this order."""
_GROUPS = {
    "loss": "loss",
    "grad_norm": "gradients",
    "lr": "rate",
    "throughput": "throughput",
    "memory": "memory",
    "accuracy": "accuracy",
    "score": "accuracy",
}
_SPLITS = ("train/", "val/", "test/")
_is_layer = lru_cache(maxsize=16384)(is_of_a_layer)

FEW = 5
"""Points that may well lie in one place at the beginning of a run."""


def describe_series(number: int, run: Run, envelopes: Envelopes) -> SeriesChanged:
    """All metrics of a run; new points cost themselves."""
    series = [one for one in run.series if not (one.role or "").startswith("axis/") and len(one)]
    primary = {key_of(one) for one in primary_series(series).values()}
    infos = [_describe(number, one, envelopes, key_of(one) in primary) for one in series]
    layers = sum(is_layer_norm(one) for one in series)
    # Sorting is stable: the rest stay as they appeared.
    return SeriesChanged(number, tuple(sorted(infos, key=_rank)), layers >= ENOUGH_LAYERS)


def primary_series(series: list[Series]) -> dict[str, Series]:
    """For each role the metric that stands for it."""
    best: dict[str, Series] = {}
    for one in sorted((s for s in series if s.role is not None), key=preference):
        best.setdefault(one.role or "", one)
    return best


def is_layer_norm(series: Series) -> bool:
    """True if it measures the gradient of a single layer."""
    if series.layer:
        return series.name.startswith("grad_norm/")
    return series.role in (None, "grad_norm") and _is_layer(series.name)


def key_of(series: Series) -> str:
    """What names a metric within its run, however the run grows."""
    return f"{series.file}:{series.name}"


def find_series(run: Run, key: str) -> Series | None:
    """The metric with a key."""
    file, _, name = key.partition(":")
    found = run.find(int(file), name) if file.isdecimal() else None
    return found if found is not None and len(found) else None


def group_of(series: Series) -> str:
    """What a metric is drawn together with."""
    role = series.role
    if series.layer:
        return "gradients" if is_layer_norm(series) else "other"
    if role is None:
        return "gradients" if _is_layer(series.name) else "other"
    bare = next((role.removeprefix(split) for split in _SPLITS if role.startswith(split)), role)
    return _GROUPS.get(bare, "other")


def _rank(info: SeriesInfo) -> int:
    if info.is_primary and info.role in _FIRST:
        return _FIRST.index(info.role)
    return len(_FIRST) + info.is_layer


def _describe(number: int, series: Series, envelopes: Envelopes, is_primary: bool) -> SeriesInfo:
    envelope = envelopes.of(number, series)
    last = float(series.values[-1])
    return SeriesInfo(
        key=key_of(series),
        name=series.name,
        role=series.role,
        group=group_of(series),
        axes=_telling_axes(envelope, len(series)),
        points=series.logged,
        # Always the same NaN: two lists that say the same are then equal.
        last=math.nan if math.isnan(last) else last,
        low=envelope.low,
        high=envelope.high,
        nonfinite=envelope.bad + series.dropped_bad,
        unit=series.unit,
        rank=series.rank,
        is_primary=is_primary,
        is_layer=bool(series.layer) or is_layer_norm(series),
    )


def _telling_axes(envelope: Envelope, points: int) -> tuple[str, ...]:
    """The axes of a metric, those first on which its points do not all lie in one place."""

    def is_one_place(axis: str) -> bool:
        extent = envelope.extent(axis)
        return points >= FEW and extent is not None and extent[0] == extent[1]

    return tuple(sorted(envelope.axes, key=is_one_place))
