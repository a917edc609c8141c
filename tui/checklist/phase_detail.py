"""A phase in full: what is still open in it, and what belongs to it as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mltd.sessions.model.checklist import CHECKS, Phase

from ..findings.blocks import Block, heading, plain
from ..findings.spans import Line, Span, clean, hang, spread
from ..quantities import full_count
from . import marks
from .head import progress, progress_bar
from .lines import label, moment, paragraphs, section, told
from .pick import Pick
from .rows import WHO, reason_of

if TYPE_CHECKING:
    from mltd.sessions.model.constraints import TimelineEntry

    from .shown import Shown

AIMS = {
    Phase.INTAKE: "Collect what the incident left behind, and what should have happened.",
    Phase.REPRODUCTION: "Make it fail again, smaller and sooner, and find out what it takes.",
    Phase.HYPOTHESES: "Say what might explain it, and fix beforehand what would show it.",
    Phase.FIX: "Make the smallest change that helps, and show that nothing else suffers.",
    Phase.HANDOFF: "Leave behind what somebody else needs, and what rings the next time.",
}


def phase_detail(shown: Shown, pick: Pick, width: int) -> Iterator[Block]:
    """How far it is, what is open, and what it has to show."""
    phase = Phase(pick.id)
    settled, count = progress(shown.session, phase)
    left: Line = (Span(f"{phase.number} {phase.heading}", "heading"),)
    right: Line = (*progress_bar(settled, count), Span(f" {settled}/{count}", "quiet"))
    yield plain(spread(left, right, width), *paragraphs(AIMS[phase], width))
    if phase is shown.session.phase:
        yield plain((Span("the current phase", "severity-info"),))
    yield from _items(shown, phase, width)
    if phase is Phase.INTAKE:
        yield from section("Runs", _runs(shown, width), width)
        entries = shown.session.constraints.timeline
        told_lines = (line for entry in entries for line in _entry(entry, width))
        yield from section("Timeline", told_lines, width)
    elif phase is Phase.HANDOFF:
        owner = clean(shown.session.owner)
        said = paragraphs(owner or "nobody yet", width, "" if owner else "stale")
        yield from section("Answers for the incident", said, width)


def _items(shown: Shown, phase: Phase, width: int) -> Iterator[Block]:
    """What is still to be done; then what was waived, since somebody will ask."""
    checks = [check for check in CHECKS if check.phase is phase]
    given = shown.session.marks
    open_ones = [c for c in checks if c.id not in given or given[c.id].state.value != "done"]
    if not open_ones:
        yield plain((), (Span("✔ everything is done here", "severity-fine"),))
        return
    yield heading("Not done", width, "Enter goes there")
    for check in open_ones:
        mine = given.get(check.id)
        mark = marks.CHECKS[mine.state.value if mine else "open"]
        is_next = shown.suggested == check.id
        lead: Line = (Span(f" {mark.glyph} ", mark.meaning),)
        lines = hang(lead, check.title, width, "heading" if is_next else "")
        said = shown.missing.get(check.id, "")
        if mine is not None and mine.state.value != "open":
            why = f": {reason_of(mine)}" if reason_of(mine) else ""
            said = f"{mark.word} by {WHO.get(mine.by, clean(mine.by))}{why}"
        lines += hang((Span("   "),), told(said), width, "quiet") if said else []
        target = Pick(kind="check", id=check.id)
        yield Block(tuple(lines), ("jump", *target.row), target)


def _runs(shown: Shown, width: int) -> Iterator[Line]:
    for run in shown.session.runs:
        said = f"{clean(run.label)}  {clean(run.location)}"
        yield from label(f"{run.id} {run.part.value}", said, width, column=13)


def _entry(entry: TimelineEntry, width: int) -> list[Line]:
    when = moment(entry.at) if entry.at is not None else ""
    if entry.step is not None:
        when = f"{when}  step {full_count(entry.step)}".strip()
    return hang((Span(f"{when}  " if when else "", "quiet"),), told(entry.text), width)
