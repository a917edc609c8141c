"""Which charts there are: metrics that belong together share one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..engine.protocol import SeriesInfo
from ..escaping import printable

TITLES = {
    "loss": "loss",
    "gradients": "gradients",
    "rate": "lr",
    "throughput": "throughput",
    "memory": "memory",
    "accuracy": "accuracy",
}
"""Groups with a chart of their own, in order, and its title."""
_FROM_ZERO = frozenset({"throughput", "memory", "accuracy"})
_MOST_LINES = 4
"""Metrics in one chart, unless the user wants more."""
_MOST_OTHERS = 4
"""Charts of ungrouped metrics when there are no others."""
_TELLING = ("rew", "return", "score", "error", "wer", "cer", "bleu", "iou", "map", "f1", "ppl")
"""Parts of names of what a training is about where it has no loss."""
_COMPARABLE = 30.0
"""Metrics on one axis differ at most by this factor, or one of them would be a flat line."""
COLOURS = 6

Run = tuple[int, str, tuple[SeriesInfo, ...]]
"""Number, name and metrics of a run."""


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of one run in a chart."""

    run: int
    key: str
    label: str
    run_name: str
    """Empty if only one run is shown."""
    colour: int
    axes: tuple[str, ...]
    last: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Metrics drawn over the same axes."""

    key: str
    title: str
    lines: tuple[Line, ...]
    is_from_zero: bool = False


def charts_of(
    run: Run, overlay: Sequence[Run] = (), chosen: Mapping[str, bool] = {}
) -> list[Chart]:
    """The charts of a run; `chosen` holds the metrics that the user put in or took out."""
    runs = [run, *overlay]
    series = run[2]
    charts: list[Chart] = []
    alone: list[SeriesInfo] = []
    order = sorted(TITLES, key=lambda group: group != "accuracy")
    has_loss = any(s.group == "loss" for s in series)
    for group in TITLES if has_loss else order:
        title = TITLES[group]
        members, rejected = _members(group, series, chosen)
        alone += rejected
        if members:
            chart = _chart(group, title, members, runs)
            charts.append(replace(chart, is_from_zero=group in _FROM_ZERO))
    alone += [s for s in series if s.group not in TITLES and chosen.get(s.key)]
    if not alone and not any(s.group in ("loss", "accuracy") for s in series):
        # What a training is about has some other name here, such as a reward.
        others = [
            s for s in series
            if s.group not in TITLES and not s.is_layer and chosen.get(s.key, True)
        ]  # fmt: skip
        telling = [s for s in others if any(word in s.name.lower() for word in _TELLING)]
        if telling or not charts:
            alone = (telling or others)[:_MOST_OTHERS]
            return [*_lone(alone, runs), *charts]
    return [*charts, *_lone(alone, runs)]


def _lone(series: Sequence[SeriesInfo], runs: list[Run]) -> list[Chart]:
    return [_chart(f"metric:{s.key}", printable(s.name), [s], runs) for s in series]


def _members(
    group: str, series: Sequence[SeriesInfo], chosen: Mapping[str, bool]
) -> tuple[list[SeriesInfo], list[SeriesInfo]]:
    """The metrics of a group that share its chart, and chosen ones that need their own."""
    everyone = [s for s in series if s.group == group]
    usual = [s for s in everyone if s.is_primary] or everyone[:1]
    usual = [s for s in usual if _fits(usual[0], s)][:_MOST_LINES]
    members = [s for s in usual if chosen.get(s.key, True)]
    added = [s for s in everyone if chosen.get(s.key) and s not in usual]
    members += [s for s in added if _fits((members or added)[0], s)]
    return members, [s for s in added if s not in members]


def _fits(first: SeriesInfo, other: SeriesInfo) -> bool:
    if _base(first) == _base(other) == "loss":
        # Training and validation loss belong together however far they are apart.
        return True
    sizes = [max(abs(s.low), abs(s.high)) for s in (first, other)]
    if first.unit != other.unit or not all(map(math.isfinite, sizes)):
        return first.unit == other.unit
    small, large = sorted(sizes)
    return large <= _COMPARABLE * small or large == 0


def _chart(key: str, title: str, members: list[SeriesInfo], runs: list[Run]) -> Chart:
    labels = _labels(members)
    lines: list[Line] = []
    for place, (_number, _name, series) in enumerate(runs):
        for index, (member, label) in enumerate(zip(members, labels, strict=True)):
            found = member if place == 0 else _match(member, series)
            if found is not None:
                colour = _colour(index, place, len(runs))
                lines.append(_line(runs[place], found, label, colour, is_alone=len(runs) == 1))
    return Chart(key, title, tuple(lines))


def _line(run: Run, series: SeriesInfo, label: str, colour: int, *, is_alone: bool) -> Line:
    name = "" if is_alone else printable(run[1])
    return Line(run[0], series.key, label, name, colour, series.axes, series.last)


def _colour(metric: int, run: int, runs: int) -> int:
    """The first metric of a run has the run's colour in every chart; the others come after."""
    return (run if metric == 0 else metric * runs + run) % COLOURS + 1


def _match(wanted: SeriesInfo, series: Sequence[SeriesInfo]) -> SeriesInfo | None:
    """The metric of another run that means the same."""
    same_role = [s for s in series if wanted.role is not None and s.role == wanted.role]
    same_name = [s for s in series if s.name == wanted.name]
    by_name = [s for s in same_role if s.name == wanted.name]
    best = by_name or [s for s in same_role if s.is_primary] or same_role or same_name
    alike = [s for s in best if s.rank == wanted.rank]
    return next(iter(alike or best), None)


def _base(series: SeriesInfo) -> str:
    return (series.role or "").rpartition("/")[2]


def _labels(members: list[SeriesInfo]) -> list[str]:
    labels = [_label(s) for s in members]
    repeated = {label for label, count in Counter(labels).items() if count > 1}
    names = [printable(s.name) for s in members]
    labels = [n if label in repeated else label for n, label in zip(names, labels, strict=True)]
    repeated = {label for label, count in Counter(labels).items() if count > 1}
    return [
        f"{label} r{s.rank}" if label in repeated and s.rank is not None else label
        for label, s in zip(labels, members, strict=True)
    ]


def _label(series: SeriesInfo) -> str:
    """`loss` for train/loss, `val` for val/loss; the logged name if it has no role."""
    if not series.role:
        return printable(series.name)
    split, _, base = series.role.rpartition("/")
    return base if split in ("", "train") else split
