"""What stands in the pane before anything was asked, and the way to ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings.blocks import Block, plain
from ..findings.spans import BLANK, Line, Span, clean, hang, wrap
from .point import Point
from .talk import Stage

if TYPE_CHECKING:
    from .talk import Talk

_WHAT = (
    "Claude gets the evidence that is here, may look further into the files of this session "
    "(it can change nothing), and says what it holds for the cause and what it would do. "
    "Every citation is looked up before you see it: what is not there is struck through, and a "
    "cause without one that holds cannot be sure."
)
_CONSENT = "Nothing is sent before you have seen it and agreed."
_KEYS = (
    ("c", "asks, after showing what would be sent"),
    ("a", "asks on, once there is an answer"),
    ("esc", "stops it at once; what came stays"),
    ("enter", "goes to the place that is cited"),
    ("h", "keeps a cause of Claude's as a hypothesis"),
    ("y", "copies a fix"),
)
MOST_COLUMNS = 84


def welcome(width: int, *, can_ask: bool) -> Iterator[Block]:
    """What this is, that nothing is sent unasked, and the keys."""
    width = min(width, MOST_COLUMNS)
    lines: list[Line] = hang((), "A second opinion by Claude", width, "heading")
    lines += [(Span(part),) for part in wrap(_WHAT, width)]
    lines += [(Span(part, "severity-fine"),) for part in wrap(_CONSENT, width)]
    yield plain(*lines)
    if not can_ask:
        return
    yield from start_blocks("Ask Claude: Enter, or c", width)
    keys: list[Line] = [BLANK]
    for key, does in _KEYS:
        keys += hang((Span(f"  {key:<5}  ", "key"),), does, width, "quiet")
    yield plain(*keys)


def notice_block(notice: str, width: int) -> Block:
    """Why Claude cannot be asked here; an indented line is a command."""
    width = min(width, MOST_COLUMNS)
    lines: list[Line] = []
    for number, line in enumerate(notice.strip("\n").splitlines()):
        if number == 0:
            lines += hang((Span("● ", "severity-info"),), line, width, "severity-info")
        elif line.startswith("  "):
            lines += hang((Span("    "),), line, width, "log-metric")
        else:
            lines += hang((Span("  "),), line, width)
    return plain(*lines, BLANK)


def start_blocks(text: str, width: int) -> Iterator[Block]:
    """The line on which Enter asks."""
    yield plain(BLANK)
    lines = hang((Span("▸ ", "key"),), text, width, "key")
    yield Block(tuple(lines), "start", Point(is_start=True))


def stage_blocks(talk: Talk, width: int) -> Iterator[Block]:
    """How far it has come before anything was sent."""
    match talk.stage:
        case Stage.PACKING:
            said = "The evidence is being got ready; nothing is sent yet. Esc leaves it."
            yield plain(*hang((Span("… ", "quiet"),), said, width, "quiet"))
        case Stage.PACKED if not talk.turns:
            said = "The evidence is ready, and waits for your consent."
            yield plain(*hang((Span("… ", "quiet"),), said, width, "quiet"))
        case Stage.REFUSED:
            lead: Line = (Span("✖ ", "severity-critical"),)
            lines = hang(lead, clean(talk.problem), width, "severity-critical")
            if talk.hint:
                lines += hang((Span("  hint  ", "quiet"),), talk.hint, width)
            yield plain(*lines)
        case Stage.DECLINED:
            yield plain(*hang((Span("● ", "severity-info"),), "Nothing was sent.", width))
        case _:
            pass
