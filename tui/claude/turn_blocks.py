"""One question with everything that came of it, laid out."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from typing import TYPE_CHECKING

from ..findings.blocks import Block, plain
from ..findings.spans import Line, Span, clean, hang
from .gutter import label, spoken_lines
from .opinion import opinion_blocks
from .process import folded_process, process_blocks
from .turn import State

if TYPE_CHECKING:
    from .turn import Turn

_UNDER_WAY = {
    State.ASKED: "was asked; nothing has come yet",
    State.CHECKING: "has answered; its citations are looked up now",
    State.STOPPING: "is being stopped; what came until now stays",
}


_UNDONE = "answered; that was undone in the checklist (6), where U brings it back"


def turn_blocks(
    turn: Turn, number: int, about: str, model: str, width: int, unfolded: Collection[Hashable]
) -> Iterator[Block]:
    """The question, how the answer came about, the answer, and how it ended."""
    key = ("turn", number)
    if number:
        yield plain(())
    yield Block(tuple(_question(turn, about, width)), (key, "question"))
    if turn.is_undone:
        yield plain(*spoken_lines("Claude", _UNDONE, width, "quiet"))
        return
    if turn.page is not None:
        if turn.items:
            fold = (key, "process")
            yield folded_process(turn, width, fold, fold not in unfolded)
            if fold in unfolded:
                yield from process_blocks(turn, width, key, unfolded)
        yield plain(())
        yield from opinion_blocks(turn.page, turn.model or model, width, key)
    else:
        yield from process_blocks(turn, width, key, unfolded)
    yield from _ending(turn, width)


def _question(turn: Turn, about: str, width: int) -> list[Line]:
    asked = turn.question or f"a second opinion on {about}, please"
    if turn.at is not None:
        asked = f"({turn.at.astimezone():%Y-%m-%d %H:%M}) {asked}"
    return hang((label("You", width, "key"),), asked, width, "heading")


def _ending(turn: Turn, width: int) -> Iterator[Block]:
    if turn.problem:
        meaning = "stale" if turn.state is State.LOST else "severity-critical"
        lead: Line = (label("", width), Span("✖ ", meaning))
        lines = hang(lead, _sentence(turn.problem), width, meaning)
        if turn.hint:
            lines += spoken_lines("hint", turn.hint, width)
        yield plain(*lines)
    elif turn.state is State.CANCELLED:
        said = "You stopped it." if not turn.items else "You stopped it; what came stands above."
        yield plain(*spoken_lines("", said, width, "stale"))
    elif turn.is_pending:
        yield plain(*spoken_lines("Claude", "what was kept is read…", width, "quiet"))
    elif turn.state in _UNDER_WAY and (turn.state is not State.ASKED or not turn.items):
        yield plain(*spoken_lines("Claude", _under_way(turn), width, "quiet"))


def _under_way(turn: Turn) -> str:
    told, far = _UNDER_WAY[turn.state], turn.checking
    if turn.state is not State.CHECKING or far is None:
        return told
    return f"{told}: {far.done} of {far.total}"


def _sentence(text: str) -> str:
    text = clean(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."
