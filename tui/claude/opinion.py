"""A checked opinion in full: the answer first, then why, then what to do."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from ..findings.blocks import Block, heading, plain
from ..findings.names import spoken
from ..findings.spans import Line, Span, cells, clean, fit, hang
from .causes import cause_blocks
from .paragraphs import paragraphs
from .remedies import fix_blocks
from .stands import stand_blocks

if TYPE_CHECKING:
    from ..engine.consult_protocol import OpinionPage

STATUS = {
    "diagnosis_complete": "diagnosis complete",
    "needs_more_data": "more data needed",
    "healthy": "nothing is wrong",
    "not_enough_access": "what matters could not be read",
}


def opinion_blocks(page: OpinionPage, model: str, width: int, key: Hashable) -> Iterator[Block]:
    """Status, summary, causes, both verdicts side by side, fixes, and what is missing."""
    yield Block(tuple(_head(page, model, width)), (key, "head"))
    yield from cause_blocks(page.causes, width, key)
    yield from stand_blocks(page.stands, width)
    yield from fix_blocks(page.fixes, width, key)
    yield from _needed(page, width)
    if page.notes:
        yield heading("Notes on this answer", width)
        for note in page.notes:
            yield plain(*hang((Span(" - ", "quiet"),), note, width, "quiet"))


def _head(page: OpinionPage, model: str, width: int) -> Iterator[Line]:
    status = STATUS.get(page.status, spoken(page.status))
    first = Span(f"Claude: {status}", "heading")
    tally = Span(clean(page.tally), _tally_meaning(page))
    by = Span(clean(model), "quiet")
    parts = [part for part in (first, tally, by) if part.text]
    line: Line = tuple(s for part in parts for s in (Span(" · ", "quiet"), part))[1:]
    if cells(line) <= width:
        yield line
    else:
        headed: Line = (first, Span(" · ", "quiet"), by)
        yield headed if by.text and cells(headed) <= width else fit((first,), width)
        if tally.text:
            yield from hang((), tally.text, width, tally.meaning)
    yield from paragraphs(page.summary, width)


def _tally_meaning(page: OpinionPage) -> str:
    cited = [one for c in page.causes for one in (*c.evidence, *c.against) if one.kind != "words"]
    is_good = cited and all(one.verdict in ("confirmed", "elsewhere") for one in cited)
    return "severity-fine" if is_good else "severity-warning"


def _needed(page: OpinionPage, width: int) -> Iterator[Block]:
    if not page.needed:
        return
    yield heading("Claude would need", width)
    for need in page.needed:
        lines = hang((Span(" - ", "quiet"),), need.what, width)
        for label, text in (("why", need.why), ("how", need.how)):
            if text:
                lines += hang((Span(f"   {label}: ", "quiet"),), text, width, "quiet")
        yield plain(*lines)
