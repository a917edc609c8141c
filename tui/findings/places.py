"""Evidence: each piece with its place, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..cells import fitted
from .blocks import Block, Target
from .spans import Line, Span, cells, clean, clip, hang, middle

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Evidence, Finding

FOR, AGAINST = "+", "\N{MINUS SIGN}"
_SIGNS = {FOR: "severity-fine", AGAINST: "severity-critical"}
QUOTE_LINES = 4
TWO_COLUMNS = 56
"""Columns from which quotes stand in their own column."""
WIDEST_REF = 36


def evidence_blocks(
    pieces: Sequence[Evidence],
    width: int,
    owner: str,
    *,
    sign: str = " ",
    finding: Finding | None = None,
    cause: RootCause | None = None,
    column: int = 0,
) -> list[Block]:
    """A block per piece; `sign` tells what speaks for it from what speaks against it."""
    column = column or ref_column(pieces, width)
    blocks = []
    for number, piece in enumerate(pieces):
        lead: Line = (Span(f" {sign} ", _SIGNS.get(sign, "quiet")), *_ref(piece, column, width))
        quote = clean(piece.quote).replace(" -> ", " → ")
        if cells(lead) > column + 5:
            indent: Line = (Span("     "),)
            lines = [lead, *hang(indent, quote, width, most=QUOTE_LINES)]
        else:
            lines = hang(lead, quote, width, most=QUOTE_LINES)
        target = Target(finding=finding, evidence=piece, cause=cause)
        blocks.append(Block(tuple(lines), ("evidence", owner, sign, number), target))
    return blocks


def ref_column(pieces: Sequence[Evidence], width: int) -> int:
    """How wide the column of places is, so that most of them fit."""
    if width < TWO_COLUMNS or not pieces:
        return 0
    longest = max(cells((Span(clean(piece.ref)),)) for piece in pieces)
    return min(longest, WIDEST_REF, max(width // 3, min(28, width * 2 // 5)))


def _ref(piece: Evidence, column: int, width: int) -> Line:
    ref = clean(piece.ref)
    if not column:
        return Span(middle(ref, max(8, width - 12)), "log-metric"), Span("  ")
    if cells((Span(ref),)) > column:
        return (Span(clip(ref, width - 6), "log-metric"), Span("  "))
    return Span(fitted(ref, column), "log-metric"), Span("  ")
