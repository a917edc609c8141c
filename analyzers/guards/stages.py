"""Planned changes of what a run is fed: batch size, sequence length, curriculum stage."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Floats, Ints
from mltd.runs.roles import normalise
from mltd.runs.series import Series

from ..core.curve import SAMPLE
from ..core.facts import Change, Facts
from ..core.finding import Evidence, EvidenceKind
from ..core.siblings import siblings_of
from ..core.view import PlacedEvent, RunView

_WORDS = re.compile(
    r"\b(?:batch size|global batch size|bsz|seq len|seqlen|sequence length|seq length|context "
    r"length|curriculum|stage|phase|task|difficulty|level|severity|eps|epsilon|horizon|resolution|"
    r"image size|mix ratio|mask ratio|num classes|num tasks|n tasks|n classes|max len|max length|"
    r"img size|crop size|input size|block size|sparsity|prun\w+|beta|kl weight|teacher forcing\w*|"
    r"tokens per (?:batch|step))\b|^(?:len|length|res)$"
)
MOST = 40
"""A stage has few changes; what changes all the time is a measurement."""
_LEAST, _BEFORE = 8, 3
"""Evaluations of a task, and those before it began."""
_LITTLE = 0.2
"""Share of its size by which a setting is changed at least, if it is changed up and down."""
_RARE = 8
"""Times fewer points than the loss has: what is logged so seldom is said where it changes."""


def planned_changes(view: RunView, facts: Facts) -> None:
    """Guard 8: after such a change a new level of the loss is no surprise."""
    for series in view.series:
        if not _WORDS.search(normalise(series.name)):
            continue
        values, places = series.values, _places(view, series)
        axis = series.axis_name
        known = places if axis == "index" else series.coordinates.axis(axis, series.rows[places])
        for place, at in zip(places.tolist(), known.tolist(), strict=True):
            step = float(at)
            if not np.isfinite(step):
                continue
            quote = f"{values[place - 1]:g} -> {values[place]:g}"
            evidence = _point(series.name, step, quote)
            facts.changes.append(Change(step, f"{series.name} {quote}", evidence))
    facts.changes += _announced(view)
    if not facts.changes:
        facts.changes += _begun_tasks(view)
    facts.changes.sort(key=lambda change: change.step)
    if facts.changes:
        facts.notes["stages"] = facts.changes[0].evidence


def _places(view: RunView, series: Series) -> Ints:
    """Where a setting changes that holds for a while each time; none where it is a measurement."""
    values, loss = series.values, view.curve("train/loss")
    places = np.flatnonzero(values[1:] != values[:-1]) + 1
    is_rare = loss is not None and len(loss) >= _RARE * len(series)
    most = len(values) if is_rare else len(values) // 3 if len(values) >= 3 else 0
    if _wavers(values):
        return places[:0]
    return places if 0 < len(places) <= min(MOST, most) else places[:0]


def _wavers(values: Floats) -> bool:
    """Up and down by a little: a mean of what batches happened to be, which nobody has set."""
    moves = np.diff(values)
    is_both_ways = bool((moves > 0).any() and (moves < 0).any())
    return is_both_ways and float(np.ptp(values)) < _LITTLE * abs(float(np.median(values)))


def _announced(view: RunView) -> Iterator[Change]:
    """Lines that tell of a change, unless they come as often as the loss itself."""
    told = [placed for placed in view.events if _tells(placed)]
    loss = view.curve("train/loss")
    if len(told) > MOST or (loss is not None and len(told) > len(loss) // 3):
        return
    for placed in told:
        step = _begins_at(view, placed)
        if step is not None:
            yield Change(step, placed.event.title, placed.evidence())


def _tells(placed: PlacedEvent) -> bool:
    return placed.event.kind is EventKind.STAGE or bool(_ANNOUNCED.search(placed.event.title))


def _begins_at(view: RunView, placed: PlacedEvent) -> float | None:
    """The first point of the loss behind the line that tells of it; nothing changed before one."""
    loss = view.curve("train/loss")
    if loss is None or placed.source is not view.run.files[loss.series.file]:
        return placed.event.step
    at = bisect_left(range(len(loss)), placed.event.line, key=loss.line)
    return loss.step(at) if 0 < at < len(loss) else None


def _begun_tasks(view: RunView) -> Iterator[Change]:
    """One of several tasks that nothing was known of is won at once: its data are new."""
    for curve in view.all_curves():
        is_share = (curve.series.role or "").endswith("accuracy")
        if not is_share or not _LEAST <= len(curve) <= SAMPLE or not np.isfinite(curve.y).all():
            continue
        at = _won_at_once(curve.y)
        if at is not None and any(True for _ in siblings_of(view, curve)):
            step = curve.step(at)
            quote = f"{curve.y[at - 1]:.3g} -> {curve.y[at]:.3g}"
            yield Change(step, f"{curve.name} {quote}", curve.evidence(at, None, quote))


def _won_at_once(values: Floats) -> int | None:
    """Where most of what a share ever gains comes within a point, after many without any."""
    rises = np.diff(values)
    at = int(np.argmax(rises)) + 1
    before = values[:at]
    gained = float(np.median(values[-3:]) - np.median(before))
    scale = 100.0 if float(values.max()) > 1.5 else 1.0
    if at < _BEFORE or gained < 0.3 * scale or float(rises[at - 1]) < 0.4 * gained:
        return None
    return at if float(np.ptp(before)) < 0.4 * gained else None


_ANNOUNCED = re.compile(
    r"\b(?:curriculum|phase|stage)\b.{0,40}(?:->|→|\bto\b|\d)|\bswitch(?:ing|ed)\b.{0,40}"
    r"\b(?:data|dataset|task|stage|phase|curriculum|sequence|seq)",
    re.IGNORECASE,
)


def _point(name: str, step: float, quote: str) -> Evidence:

    return Evidence(EvidenceKind.SERIES, f"{name}@{step:.10g}", quote)
