"""Prevention items, decisions and notes in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings.blocks import Block, plain
from ..findings.spans import Line, Span, clean, spread
from . import marks
from .check_detail import keys_line, title_line
from .lines import label, moment, paragraphs, section

if TYPE_CHECKING:
    from .pick import Pick
    from .shown import Shown


def record_detail(shown: Shown, pick: Pick, width: int) -> Iterator[Block]:
    """What was written down, when, and why."""
    session = shown.session
    match pick.kind:
        case "prevention":
            for item in session.prevention:
                if item.id != pick.id:
                    continue
                mark = marks.CHECKS["done" if item.is_done else "open"]
                yield plain(title_line(mark, f"{item.id} prevention", (), width))
                yield plain(*paragraphs(item.text, width))
                owner = clean(item.owner) or "nobody yet: Enter names somebody"
                meaning = "" if item.owner else "stale"
                facts = label("kind", item.kind.value, width, column=6)
                facts += label("owner", owner, width, meaning, column=6)
                yield plain((), *facts)
                done = "space opens it again" if item.is_done else "space marks it as done"
                yield keys_line(done, width)
        case "decision":
            for decision in session.decisions:
                if decision.id == pick.id:
                    yield plain(_dated("◆ decision", moment(decision.at), width))
                    yield plain(*paragraphs(decision.text, width))
                    yield from section("Because", paragraphs(decision.because, width), width)
        case "note":
            for note in session.notes:
                if note.id == pick.id:
                    yield plain(_dated("• note", moment(note.at), width))
                    yield plain(*paragraphs(note.text, width))


def _dated(title: str, at: str, width: int) -> Line:
    return spread((Span(title, "heading"),), (Span(at, "quiet"),), width)
