"""What a conversation has used, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mltd.diagnosis.client.pricing import cost_text

from ..findings.spans import Line, Span, cells, clean, fit, spread
from ..quantities import short_count
from ..wording import duration

if TYPE_CHECKING:
    from mltd.diagnosis.events import Usage

    from .talk import Talk


def budget_line(talk: Talk, width: int) -> Line:
    """Model, tokens, cost and time; while it goes on, also what stops it."""
    right: Line = ()
    if talk.is_stopping:
        right = (Span("stopping…", "stale"),)
    elif talk.is_busy:
        right = (Span("esc", "key"), Span(" stops", "quiet"))
    room = width - (cells(right) + 2 if right else 0)
    variants = list(_variants(talk))
    said = next((text for text in variants if cells((Span(text),)) <= room), variants[-1])
    left: Line = (Span(said, "quiet"),)
    return spread(left, right, width) if right else fit(left, width)


def _variants(talk: Talk) -> list[str]:
    """The same with less and less."""
    usage, model = talk.usage, clean(talk.model)
    took = duration(talk.seconds) if talk.turns else ""
    cost = cost_text(usage.dollars) if usage is not None else ""
    full = [model, _tokens(usage), cost, took]
    short = [model, _short_tokens(usage), cost, took]
    return [
        " · ".join(part for part in parts if part)
        for parts in (full, short, full[1:], short[1:], short[2:])
    ]


def _tokens(usage: Usage | None) -> str:
    if usage is None:
        return ""
    cached = f" (and {usage.cached:,} cached)" if usage.cached else ""
    return f"{usage.input:,} tokens in{cached} · {usage.output:,} out"


def _short_tokens(usage: Usage | None) -> str:
    if usage is None:
        return ""
    cached = f" (+{short_count(usage.cached)} cached)" if usage.cached else ""
    return f"{short_count(usage.input)} in{cached} · {short_count(usage.output)} out"
