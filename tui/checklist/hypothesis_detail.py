"""A hypothesis in full: how sure, why, what speaks against it, and what would decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..findings.bars import confidence_line
from ..findings.blocks import Block, heading, plain
from ..findings.names import spoken
from ..findings.places import AGAINST, FOR
from ..findings.spans import Line, Span, cells, clean, fit, hang, spread, wrap
from . import marks
from .lines import code_lines, section, told
from .pick import Pick
from .places import place_column, reference_blocks
from .tables import history_table

if TYPE_CHECKING:
    from mltd.sessions.model.hypothesis import Hypothesis, SuggestedFix

    from .shown import Shown


def hypothesis_detail(shown: Shown, pick: Pick, width: int) -> Iterator[Block]:
    """What we believe, how sure, on what evidence, what we try, and how that changed."""
    hypothesis = shown.session.hypothesis(pick.id)
    if hypothesis is None:
        return
    yield plain(*_head(hypothesis, width, is_next=shown.suggested == pick.id))
    yield from _evidence(hypothesis, pick, width)
    yield from _experiments(shown, hypothesis, width)
    if hypothesis.requests:
        asked = (line for one in hypothesis.requests for line in _item(one, width))
        yield from section("What would decide", asked, width)
    yield from _fixes(hypothesis, pick, width)
    history = history_table(hypothesis.history, width)
    yield from section("How sure, and since when", history, width)


def _head(hypothesis: Hypothesis, width: int, *, is_next: bool) -> Iterator[Line]:
    mark = marks.HYPOTHESES[hypothesis.status.value]
    left: Line = (
        Span(f"{mark.glyph} {mark.word}", mark.meaning),
        Span(f"  {clean(hypothesis.id)}", "heading"),
    )
    tags = [spoken(hypothesis.cause)] if hypothesis.cause else []
    tags.append("yours" if hypothesis.source == "person" else f"by {clean(hypothesis.source)}")
    right: Line = (Span(" · ".join(tags), "quiet"),)
    if is_next:
        right = (Span(f"{marks.NEXT}  ", "key"), *right)
    yield spread(left, right, width)
    for part in wrap(told(hypothesis.statement), width):
        yield (Span(part, "heading"),)
    sure = hypothesis.confidence
    yield fit(confidence_line(sure.value, sure.basis, width), width)
    if hypothesis.explains:
        names = ", ".join(spoken(name) for name in hypothesis.explains)
        yield from hang((Span("explains ", "quiet"),), names, width)


def _evidence(hypothesis: Hypothesis, pick: Pick, width: int) -> Iterator[Block]:
    column = place_column((*hypothesis.evidence, *hypothesis.against), width)
    yield heading("Evidence for", width, "Enter goes there" if hypothesis.evidence else "")
    if not hypothesis.evidence:
        said = "nothing yet: b names something, and without it nothing is confirmed"
        yield plain(*hang((Span("  "),), said, width, "quiet"))
    yield from reference_blocks(hypothesis.evidence, width, pick, sign=FOR, column=column)
    if hypothesis.against:
        yield heading("Evidence against", width)
        yield from reference_blocks(hypothesis.against, width, pick, sign=AGAINST, column=column)


def _experiments(shown: Shown, hypothesis: Hypothesis, width: int) -> Iterator[Block]:
    yield heading("Experiments", width, "Enter goes there")
    found = shown.session.experiments_of(hypothesis.id)
    if not found:
        yield plain(*hang((Span("  "),), "none planned: e plans one", width, "quiet"))
    for experiment in found:
        mark = marks.EXPERIMENTS[experiment.status.value]
        lead: Line = (Span(f" {mark.glyph} ", mark.meaning), Span(f"{experiment.id} ", "quiet"))
        lines = hang(lead, told(experiment.change), width, most=2)
        result = shown.result_of(experiment.id)
        said = f"{mark.word}: {told(result.summary)}" if result is not None else mark.word
        lines += hang((Span(" " * cells(lead)),), said, width, "quiet", most=3)
        target = Pick(kind="experiment", id=experiment.id)
        yield Block(tuple(lines), ("jump", *target.row), target)


def _fixes(hypothesis: Hypothesis, pick: Pick, width: int) -> Iterator[Block]:
    if not hypothesis.fixes:
        return
    yield heading("Suggested fixes", width, "e plans one · y copies the line")
    for rank, fix in enumerate(hypothesis.fixes, start=1):
        target = replace(pick, copied=fix.example or fix.change)
        yield Block(tuple(_fix(rank, fix, width)), ("fix", pick.id, rank), target)


def _fix(rank: int, fix: SuggestedFix, width: int) -> Iterator[Line]:
    lead: Line = (Span(f"{rank} ", "quiet"),)
    tags: Line = (Span("quick", "severity-fine"),) if fix.is_quick else ()
    if not fix.reversible:
        tags = (*tags, Span(" · " * bool(tags) + "cannot be undone", "severity-warning"))
    headed: Line = (*lead, Span(told(fix.change), "heading"))
    if cells(headed) + 2 + cells(tags) <= width:
        yield spread(headed, tags, width)
    else:
        yield from hang(lead, told(fix.change), width, "heading")
        if tags:
            yield fit((Span("  "), *tags), width)
    yield from code_lines(fix.example, width, "  │ ")
    for name, text in (
        ("expect", fix.expected_impact),
        ("verify", fix.verify),
        ("else", fix.if_it_fails),
    ):
        if text:
            yield from hang((Span(f"  {name:<6} ", "quiet"),), told(text), width)


def _item(text: str, width: int) -> list[Line]:
    return hang((Span("  - ", "quiet"),), told(text), width)
