"""Excerpts: the lines of a log around those that are evidence, read from the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mltd.runs.errors import MltdError
from mltd.runs.event import EventKind
from mltd.runs.run import Run, SourceFile
from mltd.runs.sources.inputs import Utf8Transcoder, open_bytes

from .material import Excerpt, ExcerptLine
from .neutral import neutral
from .pieces import Piece, reasons
from .references import line_of

CONTEXT = 3
MOST_EXCERPTS = 8
MOST_LINES = 40
"""Of one excerpt; a longer traceback is cut in the middle."""
_LONGEST_LINE = 1 << 14
_FURTHEST_BYTES = 8 << 30
"""Lines behind this are not looked for: reading that far takes minutes."""
_READABLE = frozenset({"text", "jsonl", "csv"})
_BLOCKS = (EventKind.EXCEPTION, EventKind.OOM, EventKind.NCCL, EventKind.SIGNAL, EventKind.ERROR)
_KEY = re.compile(rb"-----(BEGIN|END) [A-Z ]*PRIVATE KEY-----")


@dataclass(slots=True)
class _Window:
    first: int
    last: int
    rank: int
    """How early its first piece of evidence is named."""
    evidence: set[int] = field(default_factory=set)
    why: list[str] = field(default_factory=list)


def excerpts_of(run: Run, pieces: Sequence[Piece]) -> tuple[tuple[Excerpt, ...], tuple[str, ...]]:
    """The excerpts in the order of the evidence, and what could not be read, in a sentence each."""
    found: list[tuple[int, Excerpt]] = []
    problems: list[str] = []
    for source, windows in _windows(run, pieces):
        name = source.path.rpartition("/")[2] or source.path
        try:
            lines = _read(source, windows)
        except (MltdError, OSError) as problem:
            problems.append(f"{name} could not be read again: {problem}")
            continue
        found += [(window.rank, _excerpt(name, window, lines)) for window in windows]
    ordered = sorted(found, key=lambda one: one[0])
    return tuple(excerpt for _, excerpt in ordered if excerpt.lines), tuple(problems)


def _windows(run: Run, pieces: Sequence[Piece]) -> Iterator[tuple[SourceFile, list[_Window]]]:
    """Stretches of lines per file, overlapping ones merged."""
    wanted: dict[int, list[_Window]] = {}
    for rank, piece in enumerate(pieces):
        line = line_of(piece.ref) if piece.kind in ("log", "job") else None
        source = _source(run, line.name) if line is not None else None
        if line is None or source is None or run.files[source].format not in _READABLE:
            continue
        first, last = _block(run, run.files[source], line.number)
        new = _Window(first, last, rank, {line.number}, reasons(piece))
        mine = wanted.setdefault(source, [])
        near = [one for one in mine if first <= one.last + 1 and last >= one.first - 1]
        if not near and sum(map(len, wanted.values())) >= MOST_EXCERPTS:
            continue
        wanted[source] = [*(one for one in mine if one not in near), _merged([*near, new])]
    for number, windows in wanted.items():
        yield run.files[number], windows


def _merged(windows: list[_Window]) -> _Window:
    """One window over all of them, as early as the earliest."""
    ordered = sorted(windows, key=lambda window: window.rank)
    return _Window(
        min(window.first for window in windows),
        max(window.last for window in windows),
        ordered[0].rank,
        {line for window in windows for line in window.evidence},
        list(dict.fromkeys(why for window in ordered for why in window.why)),
    )


def _source(run: Run, name: str) -> int | None:
    paths = [source.path for source in run.files]
    if name in paths:
        return paths.index(name)
    names = [path.rpartition("/")[2] for path in paths]
    return names.index(name) if names.count(name) == 1 else None


def _block(run: Run, source: SourceFile, line: int) -> tuple[int, int]:
    """The lines to show for one: its neighbours, or the whole traceback that it is in."""
    first, last = max(1, line - CONTEXT), line + CONTEXT
    for owner, event in run.events:
        is_inside = owner is source and event.line <= line <= max(event.line, event.last_line)
        if is_inside and event.kind in _BLOCKS:
            first, last = min(first, event.line), max(last, event.last_line + 1)
    return first, last


def _read(source: SourceFile, windows: Sequence[_Window]) -> dict[int, str]:
    """The lines of some windows by their number."""
    lines: dict[int, str] = {}
    wanted = {n for window in windows for n in range(window.first, window.last + 1)}
    end, is_key = max(wanted, default=0), False
    for number, raw in enumerate(_raw_lines(source), start=1):
        marker = _KEY.search(raw)
        is_key = is_key if marker is None else marker[1] == b"BEGIN"
        if number in wanted:
            # A window may begin in the middle of a key, where nothing tells that it is one.
            lines[number] = "[private key]" if is_key or marker else _shown(raw)
        if number >= end:
            break
    return lines


def _raw_lines(source: SourceFile) -> Iterator[bytes]:
    transcoder = Utf8Transcoder()
    rest, read = b"", 0
    with open_bytes(source.path, source.root) as stream:
        while read < _FURTHEST_BYTES:
            data = stream.read(1 << 20)
            read += len(data)
            rest += transcoder.feed(data, final=not data)
            *complete, rest = rest.split(b"\n")
            yield from complete
            if not data:
                break
    if rest:
        yield rest


def _shown(raw: bytes) -> str:
    """The line as a terminal showed it at last: a progress bar overwrites itself."""
    last = raw.rstrip(b"\r").rpartition(b"\r")[2]
    return neutral(last[:_LONGEST_LINE].decode("utf-8", "replace")).replace("\n", " ")


def _excerpt(name: str, window: _Window, lines: dict[int, str]) -> Excerpt:
    numbers = [n for n in range(window.first, window.last + 1) if n in lines]
    if len(numbers) > MOST_LINES:
        kept = {*numbers[: MOST_LINES // 3], *numbers[-(MOST_LINES - MOST_LINES // 3) :]}
        kept |= window.evidence
        numbers = [n for n in numbers if n in kept]
    shown = tuple(ExcerptLine(n, lines[n], n in window.evidence) for n in numbers)
    return Excerpt(name, shown, ", ".join(window.why[:4]))
