"""Confidence as a bar: how sure, and how sure one could be at most."""

from __future__ import annotations

import math

from mltd.analyzers.core.finding import Basis

from .spans import Line, Span, cells, fit

FULL, EMPTY, CEILING, BEYOND = "▰", "▱", "│", "·"
WIDE_BAR, SHORT_BAR = 10, 6


def bar(confidence: float, ceiling: float, width: int, *, has_mark: bool = True) -> Line:
    """A bar over 0..1 in `width` cells, and one more for the mark at the ceiling.

    It is full up to the mark only if the confidence has reached its ceiling.
    """
    reachable = min(width, math.ceil(ceiling * width - 1e-9))
    full = min(reachable - 1, max(1, round(confidence * width)))
    if round(confidence, 2) >= ceiling:
        full = reachable
    if confidence <= 0:
        full = 0
    drawn = Span(FULL * full, "confidence")
    if not has_mark:
        return drawn, Span(EMPTY * (width - full), "confidence-ceiling")
    rest = EMPTY * (reachable - full) + CEILING + BEYOND * (width - reachable)
    return drawn, Span(rest, "confidence-ceiling")


def confidence_line(confidence: float, basis: Basis, width: int) -> Line:
    """Bar, number, basis and ceiling: all that a confidence says, as long as there is room."""
    return stated_confidence(confidence, basis.value, basis.ceiling, width)


def stated_confidence(confidence: float, basis: str, ceiling: float, width: int) -> Line:
    """The same for a basis that somebody else has named."""
    number = Span(f" {confidence:.2f}")
    for size, said in (
        (WIDE_BAR, f" by {basis}, at most {ceiling:.2f}"),
        (SHORT_BAR, f" by {basis}, ≤ {ceiling:.2f}"),
        (SHORT_BAR, f" {basis} ≤ {ceiling:.2f}"),
        (SHORT_BAR, f" ≤ {ceiling:.2f}"),
    ):
        line = (*bar(confidence, ceiling, size), number, Span(said, "quiet"))
        if cells(line) <= width:
            return line
    return fit((*bar(confidence, ceiling, SHORT_BAR), number), width)
