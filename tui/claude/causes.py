"""Root causes according to Claude, each as sure as its evidence bears."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..findings.bars import stated_confidence
from ..findings.blocks import Block, heading, plain
from ..findings.names import GLYPHS, spoken
from ..findings.spans import Line, Span, cells, fit, hang, spread
from .cited import cited_blocks, place_column
from .paragraphs import paragraphs, remark
from .point import Point

if TYPE_CHECKING:
    from ..engine.consult_protocol import OpinedCause


def cause_blocks(causes: Sequence[OpinedCause], width: int, key: Hashable) -> Iterator[Block]:
    """Every cause, the best first, with what speaks for and against it."""
    if not causes:
        return
    yield heading("Root causes according to Claude", width, "h keeps one as a hypothesis")
    pieces = [p for cause in causes for p in (*cause.evidence, *cause.against)]
    column = place_column([p for p in pieces if p.kind != "words"], width)
    for rank, cause in enumerate(causes, start=1):
        if rank > 1:
            yield plain(())
        yield Block(tuple(_head(rank, cause, width)), (key, "cause", rank), Point(opined=cause))
        yield plain(*_explanation(cause, width))
        yield from cited_blocks(cause.evidence, width, cause, (key, "for", rank), column)
        if cause.against:
            yield plain((Span("   against it", "quiet"),))
            yield from cited_blocks(cause.against, width, cause, (key, "against", rank), column)


def _head(rank: int, cause: OpinedCause, width: int) -> Iterator[Line]:
    severity = cause.severity if cause.severity in GLYPHS else "unknown"
    left: Line = (
        Span(f"{rank} ", "quiet"),
        Span(spoken(cause.id) or "no name", "heading"),
        Span("" if cause.is_known else " (not in the catalogue)", "quiet"),
        Span("  "),
        Span(f"{GLYPHS[severity]} {severity}", f"severity-{severity}"),
    )
    sure = stated_confidence(cause.confidence, spoken(cause.basis), cause.ceiling, width - 3)
    if cells(left) + 2 + cells(sure) <= width:
        yield spread(left, sure, width)
    else:
        yield fit(left, width)
        yield (Span("   "), *sure)
    indent: Line = (Span("   "),)
    if cause.confidence < cause.said:
        said = f"Claude said {cause.said:.2f}"
        yield from remark(indent, said, "; ".join(cause.notes), width, "stale")
    else:
        for note in cause.notes:
            yield from remark(indent, "note", note, width, "stale")
    yield from hang(indent, cause.issue, width)


def _explanation(cause: OpinedCause, width: int) -> Iterator[Line]:
    yield from paragraphs(cause.explanation, width, "   ")
    if cause.explains:
        names = ", ".join(spoken(name) for name in cause.explains)
        yield from hang((Span("   "),), f"explains {names}", width, "quiet")
