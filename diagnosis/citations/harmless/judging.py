"""Line by line: is it recognised as harmless, does it run something, or is it unknown?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .code import is_code, is_harmless_code
from .prose import doubt_about_prose, doubt_about_ticks
from .settings import is_setting
from .shell import is_command

_MOST = 20_000
"""Characters that are looked at; nobody copies more with one key."""
_MOST_JOINED = 60
"""Lines that one bracket may span."""
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*$")
_COMMENT = re.compile(r"(?:^|\s)#")
_SUBSTITUTED = re.compile(r"\$\((?!\()[^\n]*|<\([^\n]*")
_OPENS = re.compile(r"[(\[{]")
_CLOSES = re.compile(r"[)\]}]")


class Doubt(NamedTuple):
    """Words that are not known to be harmless."""

    words: str
    is_command: bool


def doubt_about(text: str) -> Doubt | None:
    """The first words that are not recognised as harmless; None if all are."""
    if len(text) > _MOST:
        return Doubt(text[:80], is_command=False)
    if (hidden := _hidden_command(text)) is not None:
        return Doubt(hidden, is_command=True)
    if is_harmless_code(text):
        return None
    for block in _blocks(text):
        if len(block) > 1 and is_harmless_code("\n".join(block)):
            continue
        for line in block:
            if (found := _doubt_about_line(line)) is not None:
                return found
    return None


def _blocks(text: str) -> Iterator[list[str]]:
    """Lines, those together that one bracket spans."""
    block: list[str] = []
    depth = 0
    for line in text.split("\n"):
        if _FENCE.match(line):
            continue
        block.append(line)
        depth += len(_OPENS.findall(line)) - len(_CLOSES.findall(line))
        if depth <= 0 or len(block) >= _MOST_JOINED:
            yield block
            block, depth = [], 0
    if block:
        yield block


def _hidden_command(text: str) -> str | None:
    """What a shell would run in the midst of anything: in quotes, and behind a comment's sign."""
    if found := _SUBSTITUTED.search(text):
        return found[0]
    if (ticked := doubt_about_ticks(text)) is not None:
        return ticked
    for line in text.split("\n"):
        _, comment = _split(line)
        # Not every shell that is typed into knows comments: then it is a list of commands.
        for piece in re.split(r";|\|\|?|&&", comment)[1:]:
            if is_command(piece):
                return piece
    return None


def _split(line: str) -> tuple[str, str]:
    """A line, and its comment."""
    found = _COMMENT.search(line)
    if found is None:
        return line, ""
    before = line[: found.start()]
    if before.count('"') % 2 or before.count("'") % 2:
        return line, ""
    return before, line[found.end() :]


def _parts(text: str) -> tuple[str, ...]:
    """Settings of several kinds stand side by side; but an argument has no life of its own."""
    return (text,) if _OPENS.search(text) else tuple(text.split(", "))


def _doubt_about_line(line: str) -> Doubt | None:
    text = _split(line)[0].strip()
    if not text or is_setting(text) or is_harmless_code(text):
        return None
    if is_code(text):
        return Doubt(text, is_command=False)
    for piece in text.split(";"):
        told = piece.strip()
        if not told or all(is_setting(one) or is_harmless_code(one) for one in _parts(told)):
            continue
        doubtful = told if is_code(told) else doubt_about_prose(told)
        if doubtful is not None:
            return Doubt(doubtful, is_command(doubtful))
    return None
