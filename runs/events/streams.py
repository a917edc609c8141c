"""Tracebacks of several processes in one file, told apart by the labels of their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .prefix import split_label
from .stack import HEADER, parse_frame
from .traceback import TracebackReader

MOST_LINES = 3000
MOST_CHARACTERS = 1_000_000
_MOST_FOREIGN = 50
"""Lines of other origin in a row after which nothing more of a traceback is expected."""


@dataclass(slots=True)
class Block:
    """The tracebacks that begin or go on between two lines."""

    readers: list[TracebackReader]
    foreign: list[int] = field(default_factory=list)
    """Indices of lines in between that belong to none of them."""
    is_cut: bool = False
    """The lines ended before the tracebacks did."""

    @property
    def next_index(self) -> int:
        """Index of the first line after all of them."""
        return max(reader.last for reader in self.readers) + 1


def read_block(
    lines: Sequence[str], index: int, *, has_header: bool = True, head: str = ""
) -> Block:
    """Read from a header (or, without one, a stray frame) to the end of what it began.

    `head` is what stands between the label and an exception that has no header.
    """
    label = split_label(lines[index])
    follow = lines[index + 1] if index + 1 < len(lines) else ""
    shape = _shared_prefix(label.body, follow, label.stream) if has_header else None
    if head:
        shape = _shape_of(head)
    reader = _open_reader(lines[index], index, shape, has_header=has_header)
    block = Block([reader])
    if label.stream:
        _read_labelled(block, lines, index, label.stream, reader)
    else:
        _read_plain(block, lines, index, shape, reader)
    return block


def _open_reader(
    line: str, index: int, shape: re.Pattern[str] | None, *, has_header: bool = True
) -> TracebackReader:
    label = split_label(line)
    body = label.body
    if shape is not None and (found := shape.match(body)):
        body = body[found.end() :]
    header = HEADER.search(body)
    before = body[: header.start()] if header else body[: len(body) - len(body.lstrip(" "))]
    indent = len(before) if not before.strip() else 0
    if header is None and parse_frame(body):
        # A label ends with a blank; frames that lost their indentation have only that.
        indent = indent - 2 if indent >= 2 else indent
    reader = TracebackReader(index, indent=indent, rank=label.rank)
    if has_header:
        reader.start(body if header is None else body[header.start() :])
    else:
        reader.feed(body, index)
    return reader


def _shared_prefix(body: str, follow: str, stream: str) -> re.Pattern[str] | None:
    """A timestamp or the like in front of the header that the next line has, too."""
    header = HEADER.search(body)
    head = body[: header.start()] if header else ""
    if not head.strip() or len(head) > 300:
        return None
    shape, below = _shape_of(head), split_label(follow)
    return shape if below.stream == stream and shape.match(below.body) else None


def _shape_of(head: str) -> re.Pattern[str]:
    """What lines have in front that differ from another only in numbers there."""
    return re.compile(r"\d+".join(re.escape(part) for part in re.split(r"\d+", head)))


def _read_plain(
    block: Block,
    lines: Sequence[str],
    index: int,
    shape: re.Pattern[str] | None,
    reader: TracebackReader,
) -> None:
    size = 0
    for position in range(index + 1, len(lines)):
        line = lines[position]
        size += len(line)
        if position - index >= MOST_LINES or size > MOST_CHARACTERS or reader.is_closed:
            return
        if shape is not None:
            found = shape.match(line)
            if found is None:
                return
            line = line[found.end() :]
        if not reader.feed(line, position):
            return
    block.is_cut = not reader.is_closed


def _read_labelled(
    block: Block, lines: Sequence[str], index: int, stream: str, reader: TracebackReader
) -> None:
    running = {stream: reader}
    size = strangers = 0
    for position in range(index + 1, len(lines)):
        line = lines[position]
        size += len(line)
        if position - index >= MOST_LINES or size > MOST_CHARACTERS or not running:
            return
        label = split_label(line)
        current = running.get(label.stream)
        if current is not None and not current.is_closed and current.feed(label.body, position):
            strangers = 0
            continue
        running.pop(label.stream, None)
        if running and label.stream and HEADER.search(label.body):
            running[label.stream] = _open_reader(line, position, None)
            block.readers.append(running[label.stream])
            strangers = 0
            continue
        block.foreign.append(position)
        strangers += 1
        if strangers > _MOST_FOREIGN:
            return
    block.is_cut = any(not one.is_closed for one in running.values())
