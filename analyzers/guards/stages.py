"""Planned changes of what a run is fed: batch size, sequence length, curriculum stage."""

from __future__ import annotations

import re

import numpy as np

from mltd.runs.roles import normalise

from ..core.facts import Change, Facts
from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView

_WORDS = re.compile(
    r"\b(?:batch size|global batch size|bsz|seq len|seqlen|sequence length|seq length|context "
    r"length|curriculum|stage|phase|task|difficulty|level|severity|eps|epsilon|horizon|resolution|"
    r"image size|mix ratio|mask ratio|num classes|"
    r"tokens per (?:batch|step))\b"
)
MOST = 40
"""A stage has few changes; what changes all the time is a measurement."""


def planned_changes(view: RunView, facts: Facts) -> None:
    """Guard 8: after such a change a new level of the loss is no surprise."""
    for series in view.series:
        if len(series) < 3 or not _WORDS.search(normalise(series.name)):
            continue
        values = series.values
        places = np.flatnonzero(values[1:] != values[:-1]) + 1
        if not 0 < len(places) <= min(MOST, len(values) // 3):
            continue
        axis = series.axis_name
        known = places if axis == "index" else series.coordinates.axis(axis, series.rows[places])
        for place, at in zip(places.tolist(), known.tolist(), strict=True):
            step = float(at)
            if not np.isfinite(step):
                continue
            quote = f"{values[place - 1]:g} -> {values[place]:g}"
            evidence = _point(series.name, step, quote)
            facts.changes.append(Change(step, f"{series.name} {quote}", evidence))
    for placed in view.events:
        if _ANNOUNCED.search(placed.event.title) and placed.event.step is not None:
            facts.changes.append(Change(placed.event.step, placed.event.title, placed.evidence()))
    facts.changes.sort(key=lambda change: change.step)
    if facts.changes:
        facts.notes["stages"] = facts.changes[0].evidence


_ANNOUNCED = re.compile(
    r"\b(?:curriculum|phase|stage)\b.{0,40}(?:->|→|\bto\b|\d)|\bswitch(?:ing|ed)\b.{0,40}"
    r"\b(?:data|dataset|task|stage|phase|curriculum|sequence|seq)",
    re.IGNORECASE,
)


def _point(name: str, step: float, quote: str) -> Evidence:

    return Evidence(EvidenceKind.SERIES, f"{name}@{step:.10g}", quote)
