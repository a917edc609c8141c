"""Fixes: the change, the line that does it, what to expect, how to check, what next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .blocks import Block, Target, heading
from .names import spoken
from .spans import Line, Span, cells, clean, fit, hang, spread

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import Fix, RootCause
    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.core.verdict import Diagnosis

MOST_FIXES = 12
EXAMPLE_LINES = 3
"""Lines that one long line of an example may take."""


def causes_of(diagnosis: Diagnosis, finding: Finding) -> list[RootCause]:
    """The causes that explain a finding, the best first."""
    return [cause for cause in diagnosis.root_causes if finding.id in cause.explains]


def fixes_of(causes: Sequence[RootCause]) -> list[tuple[RootCause, Fix]]:
    """What to try, the best cause's fixes first; none twice."""
    seen: dict[str, tuple[RootCause, Fix]] = {}
    for cause in causes:
        for fix in cause.fixes:
            seen.setdefault(fix.change, (cause, fix))
    return list(seen.values())[:MOST_FIXES]


def fix_blocks(causes: Sequence[RootCause], width: int) -> Iterator[Block]:
    """All fixes in the order in which to try them."""
    fixes = fixes_of(causes)
    if not fixes:
        return
    yield heading("What to do", width, "y copies the line")
    counted: dict[str, int] = {}
    for rank, (cause, fix) in enumerate(fixes, start=1):
        nth = counted[cause.id] = counted.get(cause.id, 0) + 1
        lines = tuple(_fix(rank, fix, cause, width))
        yield Block(lines, ("fix", cause.id, nth), Target(cause=cause, fix=fix))


def _fix(rank: int, fix: Fix, cause: RootCause, width: int) -> Iterator[Line]:
    lead: Line = (Span(f"{rank} ", "quiet"),)
    change = clean(fix.change).replace(" -> ", " → ")
    tags = _tags(fix, cause)
    headed: Line = (*lead, Span(change, "heading"))
    if cells(headed) + 2 + cells(tags) <= width:
        yield spread(headed, tags, width)
    else:
        yield from hang(lead, change, width, "heading")
        yield fit((Span("  "), *tags), width)
    for line in fix.example.splitlines():
        indent = len(line) - len(line.lstrip())
        mark: Line = (Span("  │ " + " " * indent, "quiet"),)
        yield from hang(mark, line, width, "log-metric", most=EXAMPLE_LINES)
    for label, text in (
        ("expect", fix.expected_impact),
        ("verify", fix.verify),
        ("else", fix.if_it_fails),
    ):
        yield from hang((Span(f"  {label:<6} ", "quiet"),), text, width)


def _tags(fix: Fix, cause: RootCause) -> Line:
    spans = [Span("quick", "severity-fine"), Span(" · ", "quiet")] if fix.is_quick else []
    if not fix.reversible:
        spans += [Span("cannot be undone", "severity-warning"), Span(" · ", "quiet")]
    return (*spans, Span(f"for {spoken(cause.id)}", "quiet"))
