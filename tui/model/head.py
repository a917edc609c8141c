"""What stands above the list: how it is, what it is, and how it is divided."""

from __future__ import annotations

import os

from mltd.analyzers.resources.shortage import shown_bytes

from ..findings.names import GLYPHS
from ..findings.spans import Line, Span, cells, clean, fit, hang, middle, spread
from ..quantities import short_count
from ..wording import count, percent
from .rows import share_text
from .study import Mode, Shown, Study

_BAR = 10
_COLOURS = ("chart-1", "chart-2", "chart-3", "chart-4", "chart-5", "chart-6")
LOW = 14
"""Rows of a pane below which the balance is not worth one of them."""


def head(study: Study, width: int, height: int) -> list[Line]:
    """At most three lines."""
    lines = [fit(_state(study), width)]
    shown = study.shown
    if shown is not None:
        lines.append(_totals(shown, width))
        if height >= LOW and shown.page.balance:
            lines.append(_balance(shown, width))
    if study.notice:
        notice = hang((Span("● ", "severity-info"),), study.notice, width, most=2)
        lines += notice if height >= LOW else notice[:1]
    return lines


def _state(study: Study) -> Line:
    look = study.look
    if look is not None:
        return _progress(study)
    if not study.is_listed:
        return (Span("… looking for checkpoints", "quiet"),)
    if not study.rows:
        return (Span("No checkpoints of this run were found", "stale"),)
    shown = study.shown
    if shown is None:
        row = study.row
        if study.problem is not None:
            return (Span("✖ it could not be looked into", "severity-critical"),)
        if row is not None and row.copy_command:
            return (Span("● it is on another host, and not fetched", "severity-info"),)
        return (Span("… not read yet", "quiet"),)
    return _verdict(study, shown)


def _verdict(study: Study, shown: Shown) -> Line:
    page = shown.page
    worst, alarms = study.worst
    if alarms:
        said = f"{GLYPHS[worst]} {worst}: {count(alarms, 'finding')} in the weights"
        line: Line = (Span(said, f"severity-{worst}"),)
    elif not page.tensors:
        return (Span("? there are no weights in it", "severity-unknown"),)
    elif page.has_values:
        line = (Span(f"{GLYPHS['fine']} nothing wrong in the weights", "severity-fine"),)
    else:
        line = (Span("● shapes alone: nothing wrong", "severity-info"),)
    if study.mode is Mode.MEMORY:
        return line
    if study.against:
        line = (*line, Span("   esc ends the comparison", "key"))
    elif not page.has_values:
        asks = f"   v reads the values ({shown_bytes(page.bytes)})"
        line = (*line, Span(asks, "key"))
    return line


def _progress(study: Study) -> Line:
    look = study.look
    assert look is not None
    name = clean(os.path.basename(look.path.rstrip("/")))
    what = "values of " if look.needs_values else ""
    said = f"comparing with {name}" if look.against else f"reading {what}{name}"
    if look.is_stopping:
        return (Span("… stopping", "quiet"),)
    if not look.total:
        return (Span(f"… {said}", "quiet"), Span("   esc stops", "key"))
    done = min(1.0, look.done / look.total)
    full = int(done * _BAR)
    return (
        Span("▰" * full, "confidence"),
        Span("▱" * (_BAR - full), "confidence-ceiling"),
        Span(f" {percent(done)} of {shown_bytes(look.total)}, {said}"),
        Span("   esc stops", "key"),
    )


def _totals(shown: Shown, width: int) -> Line:
    page = shown.page
    name = clean(os.path.basename(page.path.rstrip("/")))
    if page.moves is not None:
        first = clean(os.path.basename(page.moves.first.rstrip("/")))
        name = f"{first} → {name}"
    facts = [f"{page.parameters:,} parameters", f"{page.tensors:,} tensors"]
    facts += [text for label, text in page.facts if label == "types"]
    facts.append(shown_bytes(page.bytes))
    if page.step is not None:
        facts.append(f"step {page.step:,}")
    said = " · ".join(clean(fact) for fact in facts)
    if len(said) + len(name) + 3 > width:
        facts = [f"{short_count(page.parameters)} params", *facts[2:]]
        said = " · ".join(clean(fact) for fact in facts)
    room = max(10, width - len(said) - 3)
    return fit((Span(middle(name, room), "heading"), Span(f"   {said}")), width)


def _balance(shown: Shown, width: int) -> Line:
    """One bar in which every kind has its part, and what the parts are."""
    shares = shown.page.balance
    said: list[Span] = []
    for place, one in enumerate(shares):
        label = f"{one.kind} {share_text(one.share)}"
        said += [Span("■ ", _COLOURS[place % len(_COLOURS)]), Span(f"{label}  ")]
    room = width - cells(said) - 1
    if room < _BAR:
        return fit(tuple(said), width)
    bar: list[Span] = []
    left = room
    for place, one in enumerate(shares):
        part = min(left, round(one.share * room))
        left -= part
        bar.append(Span("█" * part, _COLOURS[place % len(_COLOURS)]))
    return spread(tuple(said), tuple(bar), width)
