"""Analyzers and Claude side by side: where they agree, and where they do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..cells import fitted
from ..findings.blocks import Block, heading, plain
from ..findings.names import spoken
from ..findings.spans import Line, Span, cells, clip, fit, hang

if TYPE_CHECKING:
    from ..engine.consult_protocol import Stand

_SIGNS = {
    "agree": ("=", "agree", "severity-fine"),
    "disagree": ("≠", "disagree", "severity-warning"),
    "only Claude": ("+", "only Claude", "severity-info"),
    "only analyzers": ("-", "only analyzers", "quiet"),
}
_FIRST = 18
"""Cells of the column that says how they stand to each other."""
_WIDEST = 46
"""Cells that one side is ever given."""
_TWO_COLUMNS = 70
_FINDING = " (finding)"


def stand_blocks(stands: Sequence[Stand], width: int) -> Iterator[Block]:
    """A table, or a list where a table does not fit."""
    if not stands:
        return
    yield heading("Analyzers and Claude side by side", width)
    side = min(_WIDEST, (width - _FIRST - 2) // 2) if width >= _TWO_COLUMNS else 0
    if side:
        yield plain((Span(" " * _FIRST + fitted("analyzers", side) + "  Claude", "quiet"),))
    for stand in stands:
        yield plain(*(_row(stand, side, width) if side else _stacked(stand, width)))


def _row(stand: Stand, side: int, width: int) -> Iterator[Line]:
    mark, said, meaning = _sign(stand)
    ours, theirs = _sides(stand)
    yield fit(
        (
            Span(fitted(f" {mark} {said}", _FIRST), meaning),
            Span(_cell(*ours, side)),
            Span("  "),
            Span(_cell(*theirs, side).rstrip()),
        ),
        width,
    )
    if stand.why:
        yield from hang((Span(" " * _FIRST),), f"why: {stand.why}", width, "quiet")


def _stacked(stand: Stand, width: int) -> Iterator[Line]:
    mark, said, meaning = _sign(stand)
    yield fit((Span(f" {mark} {said}", meaning),), width)
    for name, (text, confidence) in zip(("analyzers", "Claude"), _sides(stand), strict=True):
        sure = f" {confidence:.2f}" if confidence is not None else ""
        lead: Line = (Span(f"   {name:<9} ", "quiet"),)
        yield from hang(lead, text + sure, width, most=2)
    if stand.why:
        yield from hang((Span("   "),), f"why: {stand.why}", width, "quiet")


def _sign(stand: Stand) -> tuple[str, str, str]:
    return _SIGNS.get(stand.relation, ("?", spoken(stand.relation), "quiet"))


def _sides(stand: Stand) -> tuple[tuple[str, float | None], tuple[str, float | None]]:
    """What each of them says; of findings Claude says only what it makes of them."""
    tag = _FINDING if stand.subject == "finding" else ""
    ours = spoken(stand.ours) + tag if stand.ours else "say nothing of it"
    theirs = spoken(stand.claudes) if stand.claudes else "says nothing of it"
    if not stand.claudes and stand.relation in ("agree", "disagree"):
        theirs = {"agree": "agrees", "disagree": "disagrees"}[stand.relation]
    return (ours, stand.ours_confidence), (theirs, stand.claudes_confidence)


def _cell(text: str, confidence: float | None, width: int) -> str:
    sure = f" {confidence:.2f}" if confidence is not None else ""
    if cells((Span(text + sure),)) > width:
        text = text.removesuffix(_FINDING)
    return fitted(clip(text, width - len(sure)) + sure, width)
