"""What stands above the list: the incident, how far its triage is, whether it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mltd.sessions.model.checklist import CHECKS, Phase

from ..findings.bars import EMPTY, FULL
from ..findings.spans import Line, Span, cells, clean, spread
from .lines import aside
from .saving import Saving, loud, short

if TYPE_CHECKING:
    from mltd.sessions.model.session import Session

ONE_LINE_ROWS = 12
"""Rows of a pane below which the head has one line only."""
RULED_ROWS = 30
"""Rows from which on a rule is worth one."""


def head(session: Session, saving: Saving, width: int, height: int) -> list[Line]:
    """Title and saving, then the five phases."""
    title: Line = (Span(clean(session.title), "heading"),)
    if session.is_archived:
        title = (*title, Span("  archived", "stale"))
    state = short(saving)
    if cells(title) + 2 + cells(state) > width:
        state = tuple(Span(span.text.partition(":")[0], span.meaning) for span in state)
    lines = [spread(title, state, width)]
    if height >= ONE_LINE_ROWS:
        lines.append(_phases(session, width))
    lines += loud(saving, width)
    if height >= RULED_ROWS:
        lines.append((Span("─" * width, "chart-faint"),))
    return lines[: max(1, height // 2)]


def progress(session: Session, phase: Phase) -> tuple[int, int]:
    """How many items of a phase are dealt with, and how many there are."""
    items = [check.id for check in CHECKS if check.phase is phase]
    marks = (session.marks.get(item) for item in items)
    settled = sum(mark is not None and mark.state in ("done", "waived") for mark in marks)
    return settled, len(items)


def progress_bar(settled: int, count: int) -> Line:
    """A cell per item."""
    return Span(FULL * settled, "severity-fine"), Span(EMPTY * (count - settled), "quiet")


def _phases(session: Session, width: int) -> Line:
    steps: list[Span] = []
    for phase in Phase:
        is_now = phase is session.phase
        steps.append(Span(f"  {phase.number} ", "heading" if is_now else "quiet"))
        steps += progress_bar(*progress(session, phase))
    now = session.phase
    left: Line = (Span(f"phase {now.number} of {len(Phase)}", "quiet"),)
    named: Line = (*left, Span(f": {now.heading}", ""))
    if cells(named) + 2 + cells(steps) <= width:
        left = named
    return aside(left, tuple(steps), width)
