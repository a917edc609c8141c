"""Fixes according to Claude; one that could do harm says so, and is never copied by one key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..findings.blocks import Block, heading, plain
from ..findings.names import spoken
from ..findings.spans import BLANK, Line, Span, cells, clean, fit, hang, spread
from .point import Point

if TYPE_CHECKING:
    from ..engine.consult_protocol import OpinedFix

EXAMPLE_LINES = 3
"""Lines that one long line of an example may take."""
MOST_EXAMPLE = 40
_COMPACT = 2
"""Lines of a fix that needs no space around it."""


def copied_text(fix: OpinedFix) -> str:
    """What a key copies; empty if it must be typed by hand."""
    if fix.dangers or not fix.is_reversible:
        return ""
    return fix.example or fix.change or fix.title


def refusal(fix: OpinedFix) -> str:
    """Why a fix is not copied."""
    dangers = "; ".join(clean(danger) for danger in fix.dangers) or "it cannot be taken back"
    return f"This one is not copied: {dangers}. If you are sure, type it by hand."


def fix_blocks(fixes: Sequence[OpinedFix], width: int, key: Hashable) -> Iterator[Block]:
    """All fixes, in the order in which to try them."""
    if not fixes:
        return
    yield heading("Fixes according to Claude", width, "y copies the one under the cursor")
    was_long = False
    for rank, fix in enumerate(fixes, start=1):
        lines = tuple(_fix(rank, fix, width))
        is_long = len(lines) > _COMPACT
        if rank > 1 and (was_long or is_long):
            yield plain(BLANK)
        yield Block(lines, (key, "fix", rank), Point(remedy=fix))
        was_long = is_long


def _fix(rank: int, fix: OpinedFix, width: int) -> Iterator[Line]:
    lead: Line = (Span(f"{rank:<2} ", "quiet"),)
    title, tags = _arrows(fix.title or fix.change), _tags(fix)
    headed: Line = (*lead, Span(title, "heading"))
    if cells(headed) + 2 + cells(tags) <= width:
        yield spread(headed, tags, width) if tags else headed
    else:
        yield from hang(lead, title, width, "heading")
        if tags:
            yield fit((Span("   "), *tags), width)
    if fix.dangers or not fix.is_reversible:
        dangers = "; ".join(fix.dangers) or "cannot be taken back"
        warned = f"Careful: {dangers}. y does not copy it."
        yield from hang((Span("   ▲ ", "severity-warning"),), warned, width, "severity-warning")
    if fix.change and fix.change != fix.title:
        yield from hang((Span("   "),), _arrows(fix.change), width)
    for line in fix.example.splitlines()[:MOST_EXAMPLE]:
        indent = min(len(line) - len(line.lstrip()), width // 3)
        mark: Line = (Span("   │ " + " " * indent, "quiet"),)
        yield from hang(mark, line, width, "log-metric", most=EXAMPLE_LINES)
    for label, text in (
        ("expect", fix.expected),
        ("verify", fix.verify),
        ("else", fix.if_it_fails),
    ):
        if text:
            yield from hang((Span(f"   {label:<6} ", "quiet"),), text, width)


def _arrows(text: str) -> str:
    return clean(text).replace(" -> ", " → ")


def _tags(fix: OpinedFix) -> Line:
    tags: list[Span] = []
    if fix.is_quick:
        tags.append(Span("quick", "severity-fine"))
    if not fix.is_reversible:
        tags.append(Span("cannot be undone", "severity-warning"))
    if fix.addresses:
        tags.append(Span(f"for {spoken(fix.addresses)}", "quiet"))
    joined = [part for tag in tags for part in (Span(" · ", "quiet"), tag)]
    return tuple(joined[1:])
