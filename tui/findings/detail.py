"""One finding in full: what, since when, how sure, where it shows, why, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .bars import confidence_line
from .blocks import Block, heading, plain
from .causes import cause_blocks
from .names import GLYPHS, axis_word, spoken, when
from .places import evidence_blocks
from .remedies import causes_of, fix_blocks
from .rows import quiet_lines
from .spans import BLANK, Line, Span, clean, fit, hang, spread, wrap
from .verdict import looked_at

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.core.verdict import Diagnosis


def detail(
    diagnosis: Diagnosis,
    finding: Finding,
    width: int,
    *,
    names: Sequence[str] = (),
) -> list[Block]:
    """All there is to say about a finding, in the order in which it is asked."""
    blocks = [plain(*_head(finding, axis_word(diagnosis), width))]
    blocks.append(heading("Evidence", width, "Enter goes there"))
    blocks += evidence_blocks(finding.evidence, width, "finding", finding=finding)
    causes = causes_of(diagnosis, finding)
    if causes:
        blocks += cause_blocks(diagnosis, causes, finding, width)
        blocks += fix_blocks(causes, width)
    else:
        said = "No cause explains this one." if finding.is_alarm else "No action by itself."
        blocks.append(plain(BLANK, (Span(said, "quiet"),)))
    if names and not diagnosis.has_alarm:
        blocks.append(plain(BLANK, *looked_at(names, width)))
    return [*blocks, *closing(diagnosis, width)]


def nothing_found(diagnosis: Diagnosis, width: int, names: Sequence[str]) -> list[Block]:
    """What stands in place of a finding where there is none."""
    lines = quiet_lines(diagnosis, width, names) or [(Span("no finding to show", "quiet"),)]
    return [plain(*lines), *_problems(diagnosis, width)]


def closing(diagnosis: Diagnosis, width: int) -> Iterator[Block]:
    """What would help to know more, and what went wrong on the way."""
    if diagnosis.requests:
        is_sure = diagnosis.status != "needs_more_data"
        yield heading("More could be said with" if is_sure else "To be surer, provide", width)
        for request in diagnosis.requests:
            yield plain(*hang((Span("  - ", "quiet"),), request, width))
    yield from _problems(diagnosis, width)


def _problems(diagnosis: Diagnosis, width: int) -> Iterator[Block]:
    if diagnosis.problems:
        yield heading("Not examined", width)
        for problem in diagnosis.problems:
            yield plain(*hang((Span("  - ", "quiet"),), problem, width, "quiet", most=3))


def _head(finding: Finding, axis: str, width: int) -> list[Line]:
    severity = finding.severity.value
    left: Line = (
        Span(f"{GLYPHS[severity]} {severity}", f"severity-{severity}"),
        Span(f"  {spoken(finding.id)}", "heading"),
    )
    since = clean(when(finding, axis))
    lines: list[Line] = []
    lines.append(spread(left, (Span(since, "quiet"),) if since else (), width))
    lines += [(Span(part),) for part in wrap(finding.title, width)]
    lines.append(confidence_line(finding.confidence, finding.basis, width))
    return [fit(line, width) for line in lines]
