"""The list: phases, their items, and what belongs to each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mltd.sessions.model.checklist import CHECKS, CheckItem, CheckMark, Phase
from mltd.sessions.model.constraints import Topic

from ..cells import fitted
from ..findings.blocks import Block, plain
from ..findings.spans import Line, Span, cells, clean, clip, spread
from . import marks
from .cards import hypothesis_cards
from .head import progress, progress_bar
from .lines import aside, short_moment, told
from .marks import NEXT
from .pick import Pick

if TYPE_CHECKING:
    from .shown import Shown

UNFOLDED, FOLDED = "▾", "▸"
WHO = {"app": "app", "person": "you"}
NARROW = 50
TOPIC_COLUMN = 22
"""Cells of the longest topic."""


def tree(
    shown: Shown, folded: set[str], width: int, *, is_rich: bool = False, is_spoken: bool = False
) -> list[Block]:
    """The whole triage, one block per row that can be pointed at."""
    following = shown.next_row(folded)
    blocks: list[Block] = []
    for phase in Phase:
        blocks.append(_phase(shown, phase, width, following, is_folded=phase.value in folded))
        if phase.value in folded:
            continue
        blocks += _checks(shown, phase, width, following)
        if phase is Phase.INTAKE:
            blocks += _facts(shown, width, following)
        elif phase is Phase.HYPOTHESES:
            blocks += hypothesis_cards(
                shown, width, following, is_rich=is_rich, is_spoken=is_spoken
            )
        elif phase is Phase.HANDOFF:
            blocks += _prevention(shown, width, following)
    return [*blocks, *_records(shown, width)]


def _phase(shown: Shown, phase: Phase, width: int, following: object, *, is_folded: bool) -> Block:
    settled, count = progress(shown.session, phase)
    is_now = phase is shown.session.phase
    left: Line = (
        Span(f"{FOLDED if is_folded else UNFOLDED} ", "quiet"),
        Span(f"{phase.number} {phase.heading}", "heading"),
    )
    meaning = "severity-fine" if settled == count else "quiet"
    counted: Line = (Span(f" {settled}/{count}", meaning),)
    bar: Line = progress_bar(settled, count)
    right: Line = (*bar, *counted)
    if cells(left) + 2 + cells(right) > width:
        right = counted
    if is_now and cells(left) + 7 + cells(right) <= width:
        left = (*left, Span("  now", "severity-info"))
    pick = Pick(kind="phase", id=phase.value)
    if pick.row == following:
        right = (Span(f"{NEXT}  ", "key"), *right)
    return Block((spread(left, right, width),), pick.row, pick)


def _checks(shown: Shown, phase: Phase, width: int, following: object) -> Iterator[Block]:
    for check in CHECKS:
        if check.phase is not phase:
            continue
        pick = Pick(kind="check", id=check.id, phase=phase.value)
        line = _check(shown, check, width, is_next=pick.row == following)
        yield Block((line,), pick.row, pick)


def _check(shown: Shown, check: CheckItem, width: int, *, is_next: bool) -> Line:
    given = shown.session.marks.get(check.id)
    mark = marks.CHECKS[given.state.value if given else "open"]
    meaning = "heading" if is_next else "quiet" if mark.is_over else ""
    left: Line = (Span(f"  {mark.glyph} ", mark.meaning), Span(check.title, meaning))
    end: Line = (Span(f"  {NEXT}", "key"),) if is_next else ()
    said = shown.missing.get(check.id, "")
    if given is not None and given.state.value != "open":
        said = reason_of(given)
        who = WHO.get(given.by, clean(given.by)) if given.state.value == "done" else mark.word
        end = (*end, Span(f"  {who}", "quiet"))
    return _with_end(left, told(said), end, width)


def reason_of(mark: CheckMark) -> str:
    """On what evidence, or why."""
    return mark.reason or ", ".join(piece.ref for piece in mark.evidence)


def _with_end(left: Line, said: str, end: Line, width: int) -> Line:
    """A row with a remark that takes what room there is before its end."""
    room = width - cells(end)
    return (*spread(aside(left, (Span(said, "quiet"),) if said else (), room), (), room), *end)


def _facts(shown: Shown, width: int, following: object) -> Iterator[Block]:
    facts = shown.session.constraints.facts
    known = sum(fact.is_complete for fact in facts.values())
    yield _label("circumstances", f"{known} of {len(Topic)} known", width)
    for topic in Topic:
        fact = facts.get(topic)
        pick = Pick(kind="fact", id=topic.value, phase=Phase.INTAKE.value)
        mark = marks.CHECKS["done" if fact is not None and fact.is_complete else "open"]
        name = fitted(topic.heading, min(TOPIC_COLUMN, max(8, width * 2 // 5)))
        is_next = pick.row == following
        lead: Line = (
            Span(f"  {mark.glyph} ", mark.meaning),
            Span(name + " ", "heading" if is_next else "quiet"),
        )
        end: Line = (Span(f"  {NEXT}", "key"),) if is_next else ()
        if fact is None:
            line = _with_end((*lead, Span("?", "severity-warning")), topic.question, end, width)
        else:
            source = clean(fact.source) if width < NARROW else f"from {clean(fact.source)}"
            source = source if fact.is_prefilled else WHO["person"]
            end = (*end, Span(f"  {source}", "quiet"))
            value = clip(told(fact.value), max(1, width - cells(lead) - cells(end)))
            line = _with_end((*lead, Span(value)), "", end, width)
        yield Block((line,), pick.row, pick)


def _prevention(shown: Shown, width: int, following: object) -> Iterator[Block]:
    items = shown.session.prevention
    if not items:
        yield plain(aside((Span("    no prevention item yet: p adds one", "quiet"),), (), width))
        return
    yield _label("prevention", "", width)
    for item in items:
        pick = Pick(kind="prevention", id=item.id, phase=Phase.HANDOFF.value)
        mark = marks.CHECKS["done" if item.is_done else "open"]
        is_next = pick.row == following
        left: Line = (
            Span(f"  {mark.glyph} ", mark.meaning),
            Span(f"{item.id} ", "quiet"),
            Span(told(item.text), "heading" if is_next else "quiet" if item.is_done else ""),
        )
        owner = Span(clean(item.owner), "quiet") if item.owner else Span("no owner", "stale")
        end: Line = (Span(f"  {item.kind.value} · ", "quiet"), owner)
        if is_next:
            end = (Span(f"  {NEXT}", "key"), *end)
        yield Block((spread(left, end, width),), pick.row, pick)


def _records(shown: Shown, width: int) -> Iterator[Block]:
    """Decisions and notes, the oldest first."""
    session = shown.session
    if session.decisions:
        yield plain((Span("  Decisions", "heading"),))
    for decision in session.decisions:
        pick = Pick(kind="decision", id=decision.id)
        left: Line = (Span("  ◆ ", "key"), Span(told(decision.text)))
        end: Line = (Span(short_moment(decision.at), "quiet"),)
        yield Block((spread(left, end, width),), pick.row, pick)
    if session.notes:
        yield plain((Span("  Notes", "heading"),))
    for note in session.notes:
        pick = Pick(kind="note", id=note.id)
        left = (Span("  • ", "quiet"), Span(told(note.text)))
        end = (Span(short_moment(note.at), "quiet"),)
        yield Block((spread(left, end, width),), pick.row, pick)


def _label(name: str, remark: str, width: int) -> Block:
    right: Line = (Span(remark, "quiet"),) if remark else ()
    return plain(aside((Span(f"    {name}", "quiet"),), right, width))
