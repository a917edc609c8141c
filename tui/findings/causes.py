"""Root causes: what explains a finding, with what speaks for and against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .bars import confidence_line
from .blocks import Block, Target, heading, plain
from .names import spoken
from .places import AGAINST, FOR, evidence_blocks, ref_column
from .spans import Line, Span, cells, fit, hang, spread

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import RootCause
    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.core.verdict import Diagnosis


def cause_blocks(
    diagnosis: Diagnosis, causes: Sequence[RootCause], finding: Finding, width: int
) -> Iterator[Block]:
    """Every cause that explains the finding, the best first; then what cannot be told apart."""
    yield heading("Likely causes", width, "h adds one as a hypothesis")
    column = ref_column([p for c in causes for p in (*c.evidence, *c.against)], width)
    for rank, cause in enumerate(causes, start=1):
        head = tuple(_head(rank, cause, finding, width))
        yield Block(head, ("cause", cause.id), Target(cause=cause))
        for sign, pieces in ((FOR, cause.evidence), (AGAINST, cause.against)):
            yield from evidence_blocks(
                pieces, width, cause.id, sign=sign, cause=cause, column=column
            )
    shown = {cause.id: cause for cause in causes}
    for first, rival in diagnosis.ties:
        if first in shown and rival in shown:
            yield plain(*_tie(shown[first], shown[rival], width))


def _head(rank: int, cause: RootCause, finding: Finding, width: int) -> Iterator[Line]:
    left: Line = (Span(f"{rank} ", "quiet"), Span(spoken(cause.id), "heading"))
    sure = confidence_line(cause.confidence, cause.basis, width - 2)
    if cells(left) + 2 + cells(sure) <= width:
        yield spread(left, sure, width)
    else:
        yield fit(left, width)
        yield (Span("  "), *sure)
    yield from hang((Span("  "),), cause.issue, width)
    others = [spoken(name) for name in cause.explains if name != finding.id]
    if others:
        yield from hang((Span("  "),), f"explains also {', '.join(others)}", width, "quiet")


def _tie(first: RootCause, rival: RootCause, width: int) -> list[Line]:
    separating = next((cause.requests[0] for cause in (first, rival) if cause.requests), "")
    text = f"{spoken(first.id)} cannot be told apart from {spoken(rival.id)}; " + (
        f"what separates them: {separating}"
        if separating
        else "nothing in these files separates them"
    )
    return hang((Span("≈ ", "severity-warning"),), text, width)
