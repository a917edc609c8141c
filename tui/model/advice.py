"""What to try where no cause explains a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..findings.blocks import Block, Target, heading
from ..findings.spans import Line, Span, clean, hang

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import Fix

MOST = 6


def advice_blocks(fixes: Sequence[Fix], width: int) -> Iterator[Block]:
    """The change, the line that does it, what to expect, how to check, what next."""
    if fixes:
        yield heading("Worth trying", width)
    for rank, fix in enumerate(fixes[:MOST], start=1):
        yield Block(tuple(_lines(rank, fix, width)), ("advice", rank), Target(fix=fix))


def _lines(rank: int, fix: Fix, width: int) -> Iterator[Line]:
    change = clean(fix.change).replace(" -> ", " → ")
    yield from hang((Span(f"{rank} ", "quiet"),), change, width, "heading")
    for line in fix.example.splitlines():
        yield from hang((Span("  │ ", "quiet"),), line, width, "log-metric", most=3)
    for label, text in (
        ("expect", fix.expected_impact),
        ("verify", fix.verify),
        ("else", fix.if_it_fails),
    ):
        yield from hang((Span(f"  {label:<6} ", "quiet"),), text, width)
