"""The ranked list: a row per finding, and what stands below it where there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..quantities import short_count
from .bars import WIDE_BAR, bar
from .blocks import Block, Target
from .names import GLYPHS, axis_word, spoken, when
from .remedies import causes_of, fixes_of
from .spans import BLANK, Line, Span, cells, clean, fit, hang, spread, wrap
from .verdict import looked_at

if TYPE_CHECKING:
    from collections.abc import Hashable

    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.core.verdict import Diagnosis

CARD_TITLE_LINES = 3
NARROW, MEDIUM = 36, 60
"""Columns below which a bar says it without its number, or without its ceiling."""
TALL = 24
"""Rows from which causes are said in a sentence."""
NO_METRICS = (
    "Give the file that holds the numbers: anything that prints a name and a value on a line "
    "is read, such as `step 10 loss 0.42`, JSON lines or CSV."
)


def row(finding: Finding, width: int, axis: str = "step", *, is_one_of_many: bool = False) -> Line:
    """Severity, name and confidence of a finding in one line."""
    meaning = f"severity-{finding.severity.value}"
    name = Span(f" {spoken(finding.id)}", "" if finding.is_alarm else "quiet")
    left: Line = (Span(GLYPHS[finding.severity.value], meaning), name)
    right = _confidence(finding.confidence, finding.basis.ceiling, width)
    since = when(finding, axis)
    if is_one_of_many and width < MEDIUM and finding.first_step is not None:
        left = (*left, Span(f" {short_count(finding.first_step)}", "quiet"))
    if since and width >= MEDIUM and cells(left) + len(since) + 4 + cells(right) <= width:
        right = (Span(f"{since}  ", "quiet"), *right)
    return spread(left, right, width)


def cards(
    findings: Sequence[tuple[Hashable, Finding]], width: int, axis: str, *, title_lines: int = 0
) -> list[Block]:
    """The list; with `title_lines` each row is followed by its title."""
    blocks = []
    kinds = Counter(finding.id for _, finding in findings)
    for key, finding in findings:
        lines = [row(finding, width, axis, is_one_of_many=kinds[finding.id] > 1)]
        if title_lines:
            meaning = "" if finding.is_alarm else "quiet"
            lines += hang((Span("  "),), finding.title, width, meaning, most=title_lines)
        blocks.append(Block(tuple(lines), key, Target(finding=finding)))
    return blocks


def summary(
    diagnosis: Diagnosis, finding: Finding | None, width: int, height: int, names: Sequence[str]
) -> list[Line]:
    """The selected finding in a few lines: what, since when, how sure, what to try first."""
    if finding is None:
        return quiet_lines(diagnosis, width, names)[:height]
    since = when(finding, axis_word(diagnosis))
    facts = f"{finding.confidence:.2f} by {finding.basis.value}, {since}".rstrip(", ")
    if len(facts) > width:
        facts = f"{finding.confidence:.2f} {since}"
    title_lines = max(1, min(4, height - (1 if height <= 4 else 2)))
    lines: list[Line] = [(Span(part),) for part in wrap(finding.title, width, title_lines)]
    lines.append(fit((Span(facts, "quiet"),), width))
    for lead, text, meaning in _attempts(diagnosis, finding):
        room = height - len(lines)
        if room > 0:
            lines += hang((lead,), text, width, meaning, most=min(2, room))
    return lines[:height]


def _attempts(diagnosis: Diagnosis, finding: Finding) -> Iterator[tuple[Span, str, str]]:
    """What to try, with what to expect of the first: lead, text and meaning."""
    for number, (_, fix) in enumerate(fixes_of(causes_of(diagnosis, finding))):
        label = Span("or  ", "quiet") if number else Span("try ", "severity-fine")
        yield label, clean(fix.change).replace(" -> ", " → "), ""
        if not number:
            yield Span("    "), fix.expected_impact, "quiet"


def quiet_lines(diagnosis: Diagnosis, width: int, names: Sequence[str]) -> list[Line]:
    """What there is to say where nothing was found."""
    lines = looked_at(names, width)
    if diagnosis.status == "no_metrics":
        lines += [(Span(part),) for part in wrap(NO_METRICS, width)]
    if diagnosis.requests:
        lines.append((Span("More could be said with", "quiet"),))
        for request in diagnosis.requests:
            lines += hang((Span("- ", "quiet"),), request, width)
    return lines


def overview(diagnosis: Diagnosis, width: int, height: int, names: Sequence[str]) -> list[Line]:
    """What holds for the run as a whole: all causes, all fixes, what was looked at."""
    lines: list[Line] = []
    if diagnosis.root_causes:
        lines += [BLANK, (Span("Causes", "heading"),)]
    for rank, cause in enumerate(diagnosis.root_causes, start=1):
        left = (Span(f"{rank} ", "quiet"), Span(spoken(cause.id)))
        right = _confidence(cause.confidence, cause.basis.ceiling, width)
        lines.append(spread(left, right, width))
        if height >= TALL:
            lines += hang((Span("  "),), cause.issue, width, "quiet", most=2)
    if diagnosis.fixes:
        lines += [BLANK, (Span("What to do", "heading"),)]
    for rank, fix in enumerate(diagnosis.fixes, start=1):
        change = clean(fix.change).replace(" -> ", " → ")
        lines += hang((Span(f"{rank} ", "quiet"),), change, width, most=2)
    if names:
        lines += [BLANK, *looked_at(names, width)]
    if len(lines) > height:
        lines = [*lines[: height - 1], (Span("…", "quiet"),)] if height > 1 else []
    return lines


def _confidence(confidence: float, ceiling: float, width: int) -> Line:
    if width < NARROW:
        return bar(confidence, ceiling, 5, has_mark=False)
    number = Span(f" {confidence:.2f}", "quiet")
    if width < MEDIUM:
        return (*bar(confidence, ceiling, 6, has_mark=False), number)
    return (*bar(confidence, ceiling, WIDE_BAR), number)
