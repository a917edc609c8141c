"""Text that a model generated and the training loop printed, on the label's line or below it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..event import Event, EventKind
from .prefix import rank_of, split_label
from .rule import Collected, EventRule, shorten

MOST_LINES = 8
MOST_CHARACTERS = 2000
_WORDLESS = re.compile(r"[\s\d.,+\-eE%/()\[\]]*")
"""A count or a number, not something that a model said."""
_DECORATION = re.compile(r"[\s\-=*_#~─━]*")
_METRICS = re.compile(
    r"(?i)\b(?:loss|lr|step|epoch|iter|acc|ppl)\b\W{0,4}\d|^\[?\d{2,4}[-/:]\d\d|%\||^Traceback "
)
_LIST_OF_NUMBERS = re.compile(r"\s*[\[(]?\s*-?\d+(?:[\s,;|]+-?\d+){5,}\s*[\])]?\s*")


def collect_sample(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    """The sample that a line announces; none if it is only a count."""
    said = match["message"].strip()
    end = index + 1
    if not said:
        found = _below(lines, index, final=final)
        if found is None:
            return None
        said, end = found
    is_text = not _WORDLESS.fullmatch(said) or _LIST_OF_NUMBERS.fullmatch(said) is not None
    if not said or not is_text or _DECORATION.fullmatch(said):
        return Collected((), index + 1)
    said = said[:MOST_CHARACTERS]
    rank = rank_of(lines[index])
    event = Event(
        EventKind.SAMPLE,
        shorten(f"sample: {said}"),
        index + 1,
        text=said,
        last_line=end,
        ranks=() if rank is None else (rank,),
        message=said,
    )
    return Collected((event,), end)


def _below(lines: Sequence[str], index: int, *, final: bool) -> tuple[str, int] | None:
    """Lines under a label that stands alone, to the next blank or ruled line or record."""
    taken: list[str] = []
    edge = min(len(lines), index + 1 + MOST_LINES)
    for position in range(index + 1, edge):
        body = split_label(lines[position]).body.rstrip()
        is_ruled = _DECORATION.fullmatch(body) is not None
        if is_ruled and position == index + 1:
            continue
        if is_ruled or _METRICS.search(body):
            return "\n".join(taken), position if taken else index + 1
        taken.append(body)
    if edge < index + 1 + MOST_LINES and not final:
        return None
    return "\n".join(taken), edge if taken else index + 1
