"""The lines of a run's logs that may hold facts: read-only, and never more than a little of each.

A `Run` keeps no text. What a program says about itself stands at the beginning of its log, and
what it says about its end stands around its failures: only these are read again.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mltd.runs.errors import MltdError
from mltd.runs.event import Event
from mltd.runs.run import Run, SourceFile
from mltd.runs.sources.inputs import open_bytes
from mltd.runs.sources.line_text import shown_text
from mltd.runs.sources.open_file import OpenFile
from mltd.runs.sources.text_copy import HEAD_BYTES as ENOUGH_TO_TELL
from mltd.runs.sources.text_copy import needs_copy
from mltd.runs.sources.utf8_transcoder import Utf8Transcoder

HEAD_BYTES = 512 << 10
"""Of all logs together; programs introduce themselves early."""
HEAD_LINES = 4000
MOST_FILES = 6
LONGEST_LINE = 2000
"""Characters that are looked at; what is longer is a dump, and read as configuration."""
MOST_CANDIDATES = 400
"""Lines per question; what is said more often than that is no introduction."""
RECORD_BYTES = 32 << 10
"""Of a file of records, which hold metrics rather than introductions."""
BEFORE_BYTES = 8 << 10
AFTER_BYTES = 24 << 10
_TEXT_FORMATS = ("text", "jsonl")
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line of a log as text that is safe to show."""

    file: str
    """Name of the file, as evidence refers to it."""
    number: int
    """Counted from 1."""
    text: str


def name_of(source: SourceFile) -> str:
    """What evidence calls a file."""
    return source.path.rpartition("/")[2] or source.path


def text_files(run: Run) -> list[SourceFile]:
    """The files of a run that people could read, at most a few."""
    return [source for source in run.files if source.format in _TEXT_FORMATS][:MOST_FILES]


class Head:
    """The first lines of a log, to be asked for those that hold certain words."""

    def __init__(self, source: SourceFile, data: bytes) -> None:
        self.source = source
        self._data = data
        self._lowered = data.lower()
        self._ends = _line_ends(data)

    def first(self, count: int) -> list[Line]:
        """The first lines, whatever they say."""
        return [self._line(number) for number in range(min(count, len(self._ends)))]

    def with_any(self, needles: Iterable[bytes]) -> list[Line]:
        """Lines that hold one of these lower-case texts, in order."""
        numbers: set[int] = set()
        for needle in needles:
            place = self._lowered.find(needle)
            while place >= 0:
                number = bisect_left(self._ends, place)
                if number >= len(self._ends):
                    break
                numbers.add(number)
                place = self._lowered.find(needle, self._ends[number] + 1)
        return [self._line(number) for number in sorted(numbers)[:MOST_CANDIDATES]]

    def _line(self, number: int) -> Line:
        start = self._ends[number - 1] + 1 if number else 0
        return _line(self.source, number + 1, self._data[start : self._ends[number]])


def heads(run: Run) -> list[Head]:
    """The beginning of every text file, decompressed, complete lines alone."""
    sources = text_files(run)
    share = HEAD_BYTES // max(1, len(sources))
    found = []
    for source in sources:
        size = share if source.format == "text" else min(share, RECORD_BYTES)
        if data := _first_bytes(source, size):
            found.append(Head(source, data))
    return found


def _first_bytes(source: SourceFile, size: int) -> bytes:
    try:
        with open_bytes(source.path, source.root) as stream:
            raw = stream.read(size)
    except (OSError, ValueError, MltdError):
        # Gone, not ours to read, or never a file: then it says nothing more.
        return b""
    text = Utf8Transcoder().feed(raw, final=True)
    if len(raw) == size:
        text = text[: text.rfind(b"\n") + 1]
    return text.lstrip(b"\0")


def _line_ends(data: bytes) -> list[int]:
    ends: list[int] = []
    place = data.find(b"\n")
    while place >= 0 and len(ends) < HEAD_LINES:
        ends.append(place)
        place = data.find(b"\n", place + 1)
    if place < 0 and (not ends or ends[-1] < len(data) - 1):
        ends.append(len(data))
    return ends


def lines_around(
    source: SourceFile, event: Event, before: int = BEFORE_BYTES, after: int = AFTER_BYTES
) -> list[Line]:
    """Some lines before an event and some from it on; none if the file cannot be read in place."""
    if event.offset < 0 or source.format not in _TEXT_FORMATS:
        return []
    try:
        file = OpenFile.at(source.path, source.root)
    except (OSError, ValueError):
        return []
    try:
        start = os.pread(file.descriptor, ENOUGH_TO_TELL, 0)
        if needs_copy(start):
            return []
        offset = event.offset + len(_BOM) * start.startswith(_BOM)
        low = max(0, offset - before)
        block = os.pread(file.descriptor, offset - low + after, low)
    except OSError:
        return []
    finally:
        file.close()
    earlier, later = block[: offset - low], block[offset - low :]
    if len(later) >= after and b"\n" in later:
        later = later[: later.rfind(b"\n")]
    return list(_numbered(source, event.line, earlier, later, is_cut=low > 0))


def _numbered(
    source: SourceFile, line: int, before: bytes, after: bytes, *, is_cut: bool
) -> Iterator[Line]:
    if before and not before.endswith(b"\n"):
        # The file is not the one that was read: its lines are not where they were.
        return
    earlier = before.split(b"\n")[is_cut:-1]
    first = line - len(earlier)
    for number, data in enumerate([*earlier, *after.split(b"\n")], start=first):
        if number >= 1 and data:
            yield _line(source, number, data)


def _line(source: SourceFile, number: int, data: bytes) -> Line:
    if len(data) > 8 * LONGEST_LINE:
        # A bar's last states, or the beginning of a dump.
        data = data[-LONGEST_LINE:] if b"\r" in data[-LONGEST_LINE:] else data[: 8 * LONGEST_LINE]
    text = shown_text(data.removesuffix(b"\r")).text
    return Line(name_of(source), number, text[:LONGEST_LINE])


def quote_of(line: Line, start: int = 0, end: int = 0, most: int = 160) -> str:
    """A line as evidence: whole if it is short, else the part around what was found."""
    if len(line.text.strip()) <= most:
        return line.text.strip()
    start = max(0, min(start, len(line.text)) - max(0, most - (end - start)) // 2)
    return line.text[start : start + most].strip()


def by_file(lines: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
    """Lines grouped by the file that they are from, in order."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.file, []).append(line)
    yield from found.items()
