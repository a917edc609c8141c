"""Runs that differ in nothing but the seed, and how each of them ended."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise
from mltd.runs.run import Run
from mltd.runs.state import RunState

from ..core.curve import Curve
from ..core.settings_lookup import Settings
from ..core.view import RunView

_ASIDE = re.compile(
    r"\b(?:seed|path|dir|directory|folder|file|output|out|name|run|exp|experiment|id|uuid|date|time|"
    r"timestamp|host|hostname|node|rank|port|log|logs|logging|logger|save|checkpoint|ckpt|wandb|"
    r"project|group|tags?|notes?|device|gpu|gpus|cuda|pid|resume|user|cwd|root|commit|git)\b"
)
"""Words of settings that may differ between repetitions of one training."""
_WRITTEN = re.compile(
    r"\b(?:output|out|name|run|id|uuid|date|time|timestamp|host|hostname|node|port|log|logs|logging|"
    r"logger|save|wandb|tags?|notes?|pid|user)\b"
)
"""Words of settings that say where a run writes, and when it ran."""
_NUMBER = re.compile(r"\d+")
_PLACE = re.compile(r"[/\\]|\d{4}-\d\d-\d\d|\d\d:\d\d")
_SEED = re.compile(r"(?:^|[_\-./=])seed[_=-]?(\d+)(?=$|[_\-./])", re.IGNORECASE)
_REPEAT = re.compile(
    r"(?:^|[_\-./=])(?:repeat|repetition|replicate|rep)[_=-]?\d+(?=$|[_\-./])", re.IGNORECASE
)
"""Names that call a run one of several that are meant to be the same."""
METRICS = ("val/accuracy", "val/loss", "train/accuracy", "train/loss")
LEAST_POINTS = 5
_REACHED = 0.9
"""Share of the usual length that a run must have to be compared."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """One run of a group."""

    run: Run
    seed: float | None


@dataclass(frozen=True, slots=True)
class Ending:
    """The metric of one run at the step that all have reached."""

    run: Run
    seed: float | None
    curve: Curve
    step: float
    value: float
    start: float


def siblings(runs: Sequence[Run]) -> list[list[Sibling]]:
    """Groups of at least two runs with the same settings but for the seed."""
    groups: dict[Hashable, list[Sibling]] = {}
    for run in runs:
        key = _key(run)
        if key is not None:
            groups.setdefault(key, []).append(Sibling(run, _seed(run)))
    return [group for group in groups.values() if len(group) >= 2]


def _key(run: Run) -> Hashable | None:
    """What repetitions share: their settings, or without any, their name without the seed."""
    settings = [
        (s.path, str(s.value))
        for s in Settings(run.config)
        if not _ASIDE.search(normalise(s.path)) and not _PLACE.search(str(s.value))
    ]
    if len(settings) >= 2:
        return tuple(sorted(settings))
    for pattern in (_SEED, _REPEAT):
        if not run.config and pattern.search(run.name):
            return pattern.sub("#", run.name)
    return None


def _seed(run: Run) -> float | None:
    setting = Settings(run.config).get("seed")
    if setting is not None and setting.number is not None:
        return setting.number
    found = _SEED.search(run.name)
    return float(found[1]) if found else None


def are_copies(runs: Sequence[Run]) -> bool:
    """Nothing tells these runs apart but numbers in their names and where they write to.

    Other code, other data or another checkpoint would be reason enough to differ.
    """
    kinds = {
        (
            _NUMBER.sub("#", run.name),
            tuple(
                sorted(
                    (s.path, str(s.value))
                    for s in Settings(run.config)
                    if not _WRITTEN.search(normalise(s.path))
                )
            ),
        )
        for run in runs
    }
    return len(kinds) == 1


def endings(group: Sequence[Sibling]) -> list[Ending]:
    """The best metric that the runs share, at the last step that they share."""
    # A run that broke off says nothing about where the training leads.
    views = [
        (sibling, view)
        for sibling in group
        if (view := RunView(sibling.run)).state is not RunState.FAILED
    ]
    for role in METRICS:
        curves = [
            (sibling, curve)
            for sibling, view in views
            if (curve := view.curve(role)) is not None and len(curve) >= LEAST_POINTS
        ]
        if len(curves) < max(2, 0.75 * len(views)):
            continue
        usual = float(np.median([curve.step(len(curve) - 1) for _, curve in curves]))
        full = [(s, c) for s, c in curves if c.step(len(c) - 1) >= _REACHED * usual]
        common = min(curve.step(len(curve) - 1) for _, curve in full)
        found = [e for s, c in full if (e := _ending(s, c, common)) is not None]
        if len(found) >= 2:
            return found
    return []


def _ending(sibling: Sibling, curve: Curve, common: float) -> Ending | None:
    stop = int(np.searchsorted(curve.x, common, side="right"))
    if stop == 0:
        return None
    # One evaluation is what a paper would report; single steps of training are too noisy.
    width = 3 if (curve.series.role or "").startswith("val/") else max(3, stop // 20)
    tail = curve.y[max(0, stop - width) : stop]
    head = curve.y[: max(1, min(3, stop // 10))]
    return Ending(
        sibling.run, sibling.seed, curve, common, _mean(tail), _mean(head) if stop > 3 else np.nan
    )


def _mean(values: Floats) -> float:
    """Mean, NaN if any value is not finite: such a run did not end well."""
    if len(values) == 0 or not np.isfinite(values).all():
        return np.nan
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else np.nan
