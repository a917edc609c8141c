"""How an answer came about: thoughts, looks, words and waits, a line or a few for each."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from typing import TYPE_CHECKING

from ..findings.blocks import Block, plain
from ..findings.spans import Line, Span, cells, clean, clip, fit, middle
from ..wording import count
from .gutter import label, spoken_lines
from .point import Point
from .turn import Look, Notice, Words

if TYPE_CHECKING:
    from .turn import Turn

LAST_THOUGHTS = 3
"""Rows of a thought that are seen while it is thought."""
FOLDED, UNFOLDED = "▸", "▾"


def process_blocks(
    turn: Turn, width: int, key: Hashable, unfolded: Collection[Hashable]
) -> Iterator[Block]:
    """Everything that happened, in order; what was thought is folded once it is over."""
    for number, item in enumerate(turn.items):
        is_last = number == len(turn.items) - 1
        match item:
            case Words(is_thought=True):
                is_thinking = is_last and not turn.state.is_over
                yield from _thought(item, width, (key, "thought", number), unfolded, is_thinking)
            case Words() if item.flow.has_words:
                lead = label("Claude", width, "heading")
                yield Block(tuple(item.flow.lines(width, lead)), (key, "words", number))
            case Look():
                yield plain(_look(item, width, is_over=turn.state.is_over))
            case Notice():
                yield plain(*spoken_lines(item.label, item.text, width, "stale"))
            case _:
                pass


def folded_process(turn: Turn, width: int, key: Hashable, is_folded: bool) -> Block:
    """One line for all of it, where an opinion says more."""
    lead = label("", width)
    thoughts = [i.flow for i in turn.items if isinstance(i, Words) and i.is_thought]
    said = [i.flow for i in turn.items if isinstance(i, Words) and not i.is_thought]
    parts = [
        (sum(len(flow.lines(width, lead)) for flow in thoughts), "thought for", "line"),
        (len(turn.looks), "looked", "time"),
        (
            sum(len(flow.lines(width, label("Claude", width, "heading"))) for flow in said),
            "said",
            "line",
        ),
    ]
    told = ", ".join(f"{verb} {count(number, noun)}" for number, verb, noun in parts if number)
    return _fold(told, width, key, is_folded, "Claude")


def _thought(
    item: Words, width: int, key: Hashable, unfolded: Collection[Hashable], is_thinking: bool
) -> Iterator[Block]:
    if not item.flow.has_words:
        return
    lines = item.flow.lines(width, label("", width))
    if is_thinking:
        first = spoken_lines("thinks", f"for {count(len(lines), 'line')} so far", width, "quiet")
        yield plain(*first, *lines[-LAST_THOUGHTS:])
        return
    is_folded = key not in unfolded
    yield _fold(f"thought for {count(len(lines), 'line')}", width, key, is_folded, "thinks")
    if not is_folded:
        yield plain(*lines)


def _fold(text: str, width: int, key: Hashable, is_folded: bool, who: str) -> Block:
    mark = FOLDED if is_folded else UNFOLDED
    hint = "Enter unfolds" if is_folded else "Enter folds"
    line: Line = (label(who, width), Span(f"{mark} {text}", "quiet"))
    hinted: Line = (*line, Span(f" ({hint})", "quiet"))
    return Block((hinted if cells(hinted) <= width else fit(line, width),), key, Point(fold=key))


def _look(look: Look, width: int, *, is_over: bool) -> Line:
    lead = label("looks", width)
    name, what = clean(look.name), clean(look.what)
    if look.is_done:
        result = ("refused: " if look.is_error else "") + clean(look.result)
    else:
        result = "no answer came" if is_over else "…"
    meaning = "severity-warning" if look.is_error else "quiet"
    room = max(8, width - cells((lead,)) - 4)
    result = clip(result, max(room // 2, room - cells((Span(f"{name} {what}"),))))
    name = clip(name, room // 2)
    what = middle(what, max(0, room - cells((Span(result),)) - cells((Span(name),))))
    asked: Line = (
        (Span(name, "log-metric"), Span(f" {what}")) if what else (Span(name, "log-metric"),)
    )
    return fit((lead, *asked, Span(" → " if result else "", "quiet"), Span(result, meaning)), width)
