"""Blocks of settings under a headline: dotted lists, `key: value` lines, tables, YAML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FormatError
from ..events.prefix import split_label, strip_header
from .literals import CutOffError, UnreadableError, ValueReader
from .plain import read_scalar
from .yaml_source import read_yaml

MOST_LINES = 2000
_FIRST_LINES = 32
"""Lines that are looked at first; most blocks are no longer."""
_MOST_WIDTH = 2000
_MOST_YAML = 200_000
"""Characters; a dump is no larger, and parsing takes a second per megabyte or so."""
_ANNOUNCEMENT = re.compile(
    r"""
    ^[\W_]*+(?:
        (?:[\w'-]++\s++){0,4}
        (?:config(?:uration)?s?|arguments|args|parameters|params|hparams|hyper-?parameters|options
          |settings|exp\ value)
        [\W_]*+$
      | Initialized\ logger[\W_]*$
      | Running\ training[\W_]*$
      | Initializing\ solver\ from\ parameters:\s*$
      | (?:model|trainer|optimizer|training|data|dataset|hydra|train):\s*$
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_ANNOUNCED = re.compile(r"(?i)\b(?:number of|total|trainable|end of|num|unused|no|saving|#)\b")
_BARE_YAML = re.compile(r"^(?:model|trainer|optimizer|training|data|dataset|hydra|train):\s*$")
_END = re.compile(r"(?i)^\W*end of ")
_RULER = re.compile(r"^\W*$")
_DOTS = re.compile(r"^\s*(?P<key>[A-Za-z_][\w.-]{0,100}?)(?:\s*\.{2,}\s|\s{2,})(?P<value>\S.*)$")
_FIELD = re.compile(
    r"""^\s*(?:[-*]\s)?["']?(?P<key>[A-Za-z_][\w .,()&/-]{0,100}?)["']?\s*[:=]\s+"""
    r"""(?P<value>.*)$"""
)
_YAML_LINE = re.compile(r"""^\s*(?:-\s.*|-$|["']?[\w./@$-]{1,100}["']?\s*:(?:\s.*)?$)""")
_ASSIGNMENT = re.compile(r"^(?P<key>[A-Za-z_]\w{0,100}) = ")
_CELLS = re.compile(r"^\s*[│┃|](?P<key>[^│┃|]{1,100})[│┃|](?P<value>[^│┃|]*)[│┃|]?\s*$")
_LOSS = re.compile(r"(?i)\bloss\b")

Block = tuple[dict[str, object], int]


@dataclass(frozen=True, slots=True)
class Cut:
    """The lines end before the block does; `so_far` is what they hold of it."""

    so_far: Block | None


def is_announcement(line: str) -> bool:
    """Whether a line is the headline of a block of settings."""
    message = strip_header(split_label(line).body.strip()) or line
    if len(message) > 200 or _NOT_ANNOUNCED.search(message):
        return False
    return _ANNOUNCEMENT.match(message) is not None


def read_block(lines: Sequence[str], index: int) -> Block | Cut | None:
    """The block under the headline at `index`, if there is one."""
    body = split_label(lines[index]).body
    start = index if _BARE_YAML.match(body) else index + 1
    count = _FIRST_LINES
    while True:
        # Few lines first: a headline may stand above every one of thousands of small blocks.
        has_more = count < MOST_LINES and start + count < len(lines)
        block = _read_some(lines, start, count, has_more=has_more)
        if not has_more or not isinstance(block, Cut):
            return block
        count = min(4 * count, MOST_LINES)


def _read_some(
    lines: Sequence[str], start: int, count: int, *, has_more: bool
) -> Block | Cut | None:
    """The block that begins at `start`, as far as a number of lines tells."""
    bodies = [
        split_label(line[:_MOST_WIDTH]).body.rstrip() for line in lines[start : start + count]
    ]
    skipped = 0
    while skipped < min(3, len(bodies)) and _is_empty(bodies[skipped]):
        skipped += 1
    bodies = bodies[skipped:]
    if not bodies:
        return Cut(None)
    found, taken, is_whole = _read(bodies, has_more=has_more)
    block = (found, start + skipped + taken) if len(found) >= 2 else None
    return block if is_whole else Cut(block)


def _is_empty(body: str) -> bool:
    rest = strip_header(body)
    return _RULER.match(rest) is not None or rest.endswith("] ") or body.rstrip().endswith("]")


def _read(bodies: Sequence[str], *, has_more: bool) -> tuple[dict[str, object], int, bool]:
    """Settings, how many lines they take, and whether a line that ends them was seen."""
    first = bodies[0]
    if _ASSIGNMENT.match(first):
        return _read_assignments(bodies)
    if _CELLS.match(first) or first[:1] in "╒┌╔+":
        return _read_cells(bodies)
    texts, is_whole = _same_kind(bodies)
    if _DOTS.match(texts[0]) and not _FIELD.match(texts[0]):
        return _read_dots(texts, is_whole)
    if len(texts) > 1 and all(_YAML_LINE.match(text) for text in texts[:2]):
        nested = _read_yaml(texts, is_whole, has_more=has_more)
        if nested is not None:
            return nested
    return _read_fields(texts, is_whole)


def _same_kind(bodies: Sequence[str]) -> tuple[list[str], bool]:
    """The first message and those like it: all with a log header, or all without."""
    first = strip_header(bodies[0])
    width = len(bodies[0]) - len(first)
    if not width:
        return list(bodies), False
    texts = [first]
    is_indented = len(bodies) > 1 and bodies[1][:width].strip() == ""
    for body in bodies[1:]:
        if is_indented != (body[:width].strip() == "") or len(body) <= width:
            return texts, True
        texts.append(body[width:] if is_indented else strip_header(body))
    return texts, False


def _read_dots(texts: Sequence[str], is_whole: bool) -> tuple[dict[str, object], int, bool]:
    found: dict[str, object] = {}
    strangers = taken = 0
    for number, text in enumerate(texts):
        if _END.match(text):
            return found, number + 1, True
        if match := _DOTS.match(text):
            found[match["key"]] = _value(match["value"])
            strangers, taken = 0, number + 1
        else:
            strangers += 1
        if strangers > 3:
            return found, taken, True
    return found, taken, is_whole


def _read_fields(texts: Sequence[str], is_whole: bool) -> tuple[dict[str, object], int, bool]:
    found: dict[str, object] = {}
    for number, text in enumerate(texts):
        match = _FIELD.match(text)
        if match is None or _LOSS.search(match["key"]):
            return found, number, True
        found[match["key"].strip()] = _value(match["value"].rstrip().removesuffix(","))
    return found, len(texts), is_whole


def _read_cells(bodies: Sequence[str]) -> tuple[dict[str, object], int, bool]:
    found: dict[str, object] = {}
    for number, body in enumerate(bodies):
        if match := _CELLS.match(body):
            key = match["key"].strip()
            if key.lower() not in ("", "key", "keys", "name", "parameter"):
                found[key] = _value(match["value"])
        elif not _RULER.match(body) or not body.strip():
            return found, number, True
    return found, len(bodies), False


def _read_yaml(
    texts: Sequence[str], is_whole: bool, *, has_more: bool
) -> tuple[dict[str, object], int, bool] | None:
    indent = len(texts[0]) - len(texts[0].lstrip(" "))
    taken = 0
    for text in texts:
        if text[:indent].strip() or not _YAML_LINE.match(text) or _LOSS.search(text[:40]):
            is_whole = True
            break
        taken += 1
    if has_more and not is_whole:
        return {}, 0, False  # YAML that is cut may be none
    source = "\n".join(text[indent:] for text in texts[:taken])
    if len(source) > _MOST_YAML:
        return None
    try:
        found = read_yaml(source, "the dump")
    except FormatError:
        return None
    if not isinstance(found, dict):
        return None
    return {str(key): _unquote(value) for key, value in found.items()}, taken, is_whole


def _unquote(value: object) -> object:
    return read_scalar(value) if isinstance(value, str) else value


def _read_assignments(bodies: Sequence[str]) -> tuple[dict[str, object], int, bool]:
    found: dict[str, object] = {}
    number = 0
    while number < len(bodies):
        match = _ASSIGNMENT.match(bodies[number])
        if match is None:
            return found, number, True
        length = 1
        while number + length < len(bodies) and bodies[number + length][:1] in (" ", ")", "]", "}"):
            length += 1
        text = "\n".join(bodies[number : number + length]) + "\n"
        try:
            found[match["key"]] = ValueReader(text, match.end()).value()
        except CutOffError:
            if number + length >= len(bodies):
                return found, number, False
        except UnreadableError:
            found[match["key"]] = text[match.end() :].strip()[:500]
        number += length
    return found, number, False


def _value(text: str) -> object:
    text = text.strip()
    if text[:1] in "[({'\"" and text:
        try:
            reader = ValueReader(text + "\n")
            value = reader.value()
        except UnreadableError:
            return text
        if not reader.text[reader.position :].strip():
            return _unquote(value)
        return text
    return read_scalar(text)
