"""Which lines of a block of bytes match, as fast as their content and the pattern allow.

What is matched is what is shown: colours and the earlier states of progress bars do not count.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

from .line_level import ERROR, KEYWORDS, begins_traceback, is_frame, level_of, rank_pattern
from .line_text import shown_text

LONGEST_SEARCHED = 64 << 10
_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]*")
_WITHIN_LINES = re.compile(r"(?:[^\\(\[]|\\[dwSbB.^$*+?{}\[\]|()\\/\-]|\((?!\?)|\[(?!\^))*")
"""Patterns that cannot reach over the end of a line: no negated classes, no `\\s`, no groups
with options."""
_POSSESSIVE = re.compile(r"[*+?}]\+")


class PatternError(ValueError):
    """A pattern that is no regular expression; says why in a sentence."""


class TooSlow(Exception):
    """The pattern needs too long for the line it is tried on."""


class Conditions(NamedTuple):
    """What a line must have to be found; an empty text or a negative rank asks for nothing."""

    find: str = ""
    show: str = ""
    hide: str = ""
    level: str = ""
    rank: int = -1


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression; capitals make it case-sensitive."""
    flags = re.NOFLAG if has_capitals(pattern) else re.IGNORECASE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise PatternError(f"not a regex: {reason}") from None


def has_capitals(pattern: str) -> bool:
    """True if a pattern has an upper-case letter that is not part of an escape."""
    bare = re.sub(r"\\.", "", pattern)
    return bare != bare.lower()


def is_plain(pattern: str) -> bool:
    """True if a pattern means nothing but its own text."""
    return _PLAIN.fullmatch(pattern) is not None


class LineMatcher:
    """Finds the lines that meet the conditions; remembers where a traceback goes on."""

    def __init__(self, conditions: Conditions) -> None:
        self._finds = [compile_pattern(text) for text in (conditions.find, conditions.show) if text]
        self._hides = [compile_pattern(text) for text in (conditions.hide,) if text]
        self._level = conditions.level
        if conditions.rank >= 0:
            self._finds.append(rank_pattern(conditions.rank))
        self._search_block = _block_search(conditions)
        self._in_traceback = False
        self.slow_lines = 0
        """Lines that were given up because the pattern took too long."""

    def begin(self, before: bytes) -> None:
        """Get ready for lines that follow these: they may end within a traceback."""
        self._in_traceback = False
        if self._level:
            for data in before.split(b"\n")[1:-1]:
                self._has_level(shown_text(data).text)

    def matching_lines(self, data: bytes, *, rearm: Callable[[], None] = lambda: None) -> list[int]:
        """Where matching lines begin, in whole lines; `rearm` is called after each slow one."""
        is_clean = data.isascii() and b"\x1b" not in data and b"\r" not in data
        if is_clean and self._search_block is not None:
            try:
                return self._search_block(data)
            except TooSlow:
                rearm()
        lines = data.removesuffix(b"\n").split(b"\n") if data else []
        return self._try_each(lines, rearm)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the first pattern matches within a shown line."""
        return [match.span() for match in self._finds[0].finditer(text) if match[0]]

    def _try_each(self, lines: list[bytes], rearm: Callable[[], None]) -> list[int]:
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        hits: list[int] = []
        index = 0
        while index < len(lines):
            try:
                while index < len(lines):
                    if self._matches(lines[index]):
                        hits.append(starts[index])
                    index += 1
            except TooSlow:
                self.slow_lines += 1
                index += 1
                rearm()
        return hits

    def _matches(self, data: bytes) -> bool:
        is_wanted = not self._level or b"Trace" in data or self._in_traceback or _may_have(data)
        if not is_wanted:
            return False
        text = shown_text(data[-LONGEST_SEARCHED:] if b"\r" in data else data[:LONGEST_SEARCHED])
        if self._level and not self._has_level(text.text):
            return False
        if any(pattern.search(text.text) for pattern in self._hides):
            return False
        return all(pattern.search(text.text) for pattern in self._finds)

    def _has_level(self, text: str) -> bool:
        """True if the line is bad enough, or one of a traceback."""
        if begins_traceback(text):
            self._in_traceback = True
        elif self._in_traceback:
            self._in_traceback = is_frame(text)
            return True
        level = level_of(text)
        return level == ERROR or level == self._level


def _may_have(data: bytes) -> bool:
    lowered = data.lower()
    return any(keyword in lowered for keyword in KEYWORDS)


def _block_search(conditions: Conditions) -> Callable[[bytes], list[int]] | None:
    """A search through many clean lines at once, if there is one pattern that allows it."""
    pattern = conditions.find or conditions.show
    if conditions != Conditions(find=pattern) and conditions != Conditions(show=pattern):
        return None
    if not pattern or not pattern.isascii() or not pattern.isprintable():
        return None
    if is_plain(pattern):
        return lambda data: _find_plain(data, pattern)
    if not _WITHIN_LINES.fullmatch(pattern) or _POSSESSIVE.search(pattern):
        return None
    flags = compile_pattern(pattern).flags & re.IGNORECASE | re.MULTILINE
    compiled = re.compile(pattern.encode(), flags)
    return lambda data: _find_lines(data, compiled)


def _find_plain(data: bytes, pattern: str) -> list[int]:
    needle = pattern.encode()
    if not has_capitals(pattern):
        data = data.lower()
    hits: list[int] = []
    position = data.find(needle)
    while position >= 0:
        hits.append(data.rfind(b"\n", 0, position) + 1)
        end = data.find(b"\n", position)
        position = data.find(needle, end) if end >= 0 else -1
    return hits


def _find_lines(data: bytes, pattern: re.Pattern[bytes]) -> list[int]:
    hits: list[int] = []
    position = 0
    while position < len(data) and (match := pattern.search(data, position)):
        if match.start() == len(data):
            break
        hits.append(data.rfind(b"\n", 0, match.start()) + 1)
        # An empty match may stand before the newline itself.
        position = data.find(b"\n", match.start()) + 1
        if not position:
            break
    return hits
