"""Quotations that are not at their places, looked for in the rest of their files.

To search a long file takes seconds, so all quotations of a file are looked for in one pass, by
the rarest word of each; only those whose words stand everywhere get a pass of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..artifacts.errors import ArtifactError
from .checked import CheckedCitation
from .desk import Desk, Unreadable
from .lines import LONGEST_LINE, LineLook, Sought, too_long

if TYPE_CHECKING:
    from ..artifacts.artifact import BookLine, Hits

_LONGEST_SEARCH = 8.0
"""Seconds; the process that searches may use ten of a processor."""
_MOST_HITS = 20
"""For one quotation."""
_CONTEXT = 12
_LONGEST_PATTERN = 900
_TOO_MANY = "too many lines of the file are like it to look at each"
Found: TypeAlias = Iterator[CheckedCitation]


def seek(looks: Sequence[LineLook], desk: Desk, is_over: Callable[[], bool]) -> Found:
    """The verdict on each, as soon as it is known; those that stand first are looked for first."""
    files: dict[str, list[LineLook]] = {}
    for look in looks:
        files.setdefault(look.artifact, []).append(look)
    alone: list[LineLook] = []
    for number, together in enumerate(files.values()):
        if len(together) == 1:
            alone += together
        else:
            # One share more than there are files: for those that are looked for alone.
            yield from _together(together, desk, is_over, len(files) - number + 1, alone)
    alone.sort(key=looks.index)
    yield from _alone(alone, desk, is_over)


def _together(
    looks: list[LineLook],
    desk: Desk,
    is_over: Callable[[], bool],
    shares: int,
    alone: list[LineLook],
) -> Found:
    """Those of one file that need no pass of their own; the others are left to `alone`."""
    alone += [look for look in looks if not look.word]
    waiting = [look for look in looks if look.word]
    while waiting and not is_over():
        words = _some_words(waiting)
        now = [look for look in waiting if look.word in words]
        waiting = [look for look in waiting if look.word not in words]
        hits = _search(now[0].artifact, "|".join(words), len(words), desk, shares)
        if isinstance(hits, Sought):
            yield from (look.unfound(hits) for look in now)
            continue
        own = {word: _with_context(word, hits.lines) for word in words}
        sought = _sought(hits)
        is_told = hits.total <= sum(line.is_match for line in hits.lines)
        again: list[LineLook] = []
        for look in now:
            if found := look.among(own[look.word]):
                yield found
            elif is_told or sought.problem:
                yield look.unfound(sought)
            elif _count(look.word, hits.lines) < _MOST_HITS:
                # Words that stand everywhere were in its way.
                again.append(look)
            else:
                alone.append(look)
        (alone if len(again) == len(now) else waiting).extend(again)


def _alone(looks: Sequence[LineLook], desk: Desk, is_over: Callable[[], bool]) -> Found:
    """A pass for each pattern; quotations that differ in numbers alone often share one."""
    left = {(look.artifact, anchor) for look in looks for anchor in look.anchors}
    shares = len(left)
    known: dict[tuple[str, str], Hits | Sought] = {}
    for look in looks:
        if is_over():
            return
        found, sought = None, Sought()
        for anchor in look.anchors:
            place = (look.artifact, anchor)
            if place not in known:
                known[place] = _search(*place, 1, desk, shares)
                shares -= 1
            hits = known[place]
            if isinstance(hits, Sought):
                sought = hits
            elif (found := look.among(hits.lines)) is not None:
                break
            else:
                sought = _sought(hits)
                if not sought.problem and hits.total > _MOST_HITS:
                    sought = sought._replace(problem=_TOO_MANY)
        yield found or look.unfound(sought)


def _search(artifact: str, pattern: str, count: int, desk: Desk, shares: int) -> Hits | Sought:
    """What a pass through a file finds, or why there was none."""
    try:
        # Slightly less than its share, for what it takes to look at the result.
        seconds = min(_LONGEST_SEARCH, 0.9 * desk.seconds(math.inf) / max(1, shares))
        return desk.book.search(
            artifact,
            pattern,
            most=_MOST_HITS * count,
            context=_CONTEXT,
            longest=LONGEST_LINE,
            seconds=seconds,
        )
    except ArtifactError as problem:
        return Sought(f"{Sought().problem}: {problem}")
    except Unreadable:
        return Sought()


def _sought(hits: Hits) -> Sought:
    if hits.is_late:
        return Sought(f"the rest of the file was searched only up to line {hits.searched:,}")
    if hits.problem:
        return Sought(hits.problem)
    return Sought(too_long(hits.lines), hits.searched)


def _some_words(looks: Sequence[LineLook]) -> list[str]:
    """As many as one pattern can hold."""
    words: list[str] = []
    length = 0
    for word in dict.fromkeys(look.word for look in looks):
        length += len(word) + 1
        if words and length > _LONGEST_PATTERN:
            break
        words.append(word)
    return words


def _with_context(word: str, lines: Sequence[BookLine]) -> list[BookLine]:
    """The first lines that hold a word, and those around them."""
    numbers = [line.number for line in lines if _holds(line, word)][:_MOST_HITS]
    near = {n for number in numbers for n in range(number - _CONTEXT, number + _CONTEXT + 1)}
    return [line for line in lines if line.number in near]


def _count(word: str, lines: Sequence[BookLine]) -> int:
    return sum(_holds(line, word) for line in lines)


def _holds(line: BookLine, word: str) -> bool:
    # As the search does it where no word has a capital.
    return line.is_match and word.casefold() in line.text.casefold()
