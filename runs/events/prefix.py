"""What launchers and loggers put in front of a message: ranks, timestamps, levels."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANK = re.compile(
    r"""
      \[(?:rank|Rank|RANK)[ :=]{0,2}(?P<rank>\d{1,6})\]:?
    | \[(?:default|trainer|worker)(?P<default>\d{1,6})\]:
    | \[\d{1,6},(?P<mpi>\d{1,6})\]<std(?:err|out)>:
    | [A-Z][a-z]{2}\ [A-Z][a-z]{2}\ [\d\ ]{2}\ [\d:]{8}\ \d{4}
      \[(?P<horovod>\d{1,6})\]<std(?:err|out)>:
    | \[\d{1,6},mpirank:(?P<algo>\d{1,6}),[^\]\s]{1,60}\]<std(?:err|out)>:
    | [Rr]ank\ ?(?P<bare>\d{1,6}):\ (?=\S)
    | (?P<srun>\d{1,6}):\ (?=\S|\ )
    | \((?:worker|rank)[ =]?(?P<worker>\d{1,6})\)
    | \([^()\s]{0,80}\ ?pid=(?P<pid>\d{1,9})(?:,\ ip=[^()]{1,60})?\)\ ?
    | \[[^\[\]\s]{1,60}:rank(?P<named>\d{1,6})\]:?
    """,
    re.VERBOSE,
)
_STAMP = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?\s{1,4}"
)
"""What a container's log puts in front of everything, the label of the rank included."""
_RANK_INSIDE = re.compile(r"\b[Rr]ank[ :=]?(?P<rank>\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line without the label that says which process wrote it."""

    stream: str
    """The label as written, without a time before it; empty where there is none."""
    rank: int | None
    body: str


def split_label(line: str) -> Labelled:
    """Take rank labels off the front of a line, however often they were put there."""
    stamp = _STAMP.match(line)
    start = stamp.end() if stamp and _RANK.match(line, stamp.end()) else 0
    position, rank = start, None
    while found := _RANK.match(line, position):
        group = found.lastgroup
        if group == "srun" and position > 0:
            break
        if group not in ("pid", None) and rank is None:
            rank = int(found[group])
        position = found.end()
    return Labelled(line[start:position], rank, line[position:])


def rank_of(line: str) -> int | None:
    """The rank a line belongs to: from its label, else from the words `Rank 3`."""
    labelled = split_label(line)
    if labelled.rank is not None:
        return labelled.rank
    found = _RANK_INSIDE.search(line, 0, 400)
    return int(found["rank"]) if found else None


_LOG_HEADER = re.compile(
    r"""
      \[?[IWEF]\d{3,4}\ [\d:.]{5,20}\ +(?:\d+\ )?[^\]\s]{1,300}\]\s*
    | \[?\d{2,4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d[\d:.,]*\]?\s*[-|:]?\s*
    | \[?(?:INFO|DEBUG|WARNING|ERROR|CRITICAL)\b[^\]\s]{0,60}\]?\s*(?:[-|:]|>>)?\s*
    | \d{1,4}:\d\d:\d\d\s*-\s+
    | [\w.]{1,80}:[\w<>]{1,80}:\d{1,6}\s-\s
    | \[[\w.:]{1,80}\]\s*(?:-\s+)?
    | [\w.:]{1,80}\s*[-|]\s*(?=(?:INFO|DEBUG|WARNING|ERROR|CRITICAL)\b)
    | (?:[-|]|>>)\s+
    """,
    re.VERBOSE,
)


def strip_header(body: str) -> str:
    """A message without the timestamp, level and logger in front of it."""
    position = 0
    for _ in range(6):
        found = _LOG_HEADER.match(body, position)
        if found is None or found.end() >= len(body):
            break
        position = found.end()
    return body[position:]


_CODE = re.compile(
    r"""
    ^\s*(?:
        def\s|class\s|import\s|from\s[\w.]+\simport\b|return\b|raise\s|assert\s|async\s|await\s
      | (?:if|elif|for|while|with|except|else|try|finally)\b.{0,300}:\s*(?:\#.{0,200})?$
      | (?:self|logger|logging|log|warnings|sys|os|torch)(?:\.\w+){1,6}\s*[(=]|print0?\s*\(
      | @\w|\"\"\"|\'\'\'|//|>>>\s
    )
    | \b(?:print0?|warn|warning|error|info|debug|exception|critical|write|format|echo)
      \s*\(\s*[rfb]?["']
    | ^\s*\w[\w.\[\]]{0,100}\s*=\s*[rfb]?["'(\[{]
    """,
    re.VERBOSE,
)


_INDENTED_COMMENT = re.compile(r"(?:^|[-|:\]])\s{3,40}\#\s")


def is_code(line: str) -> bool:
    """Whether a line is source code that somebody logged, not something that happened."""
    if _CODE.search(line) or _INDENTED_COMMENT.search(line):
        return True
    message = strip_header(line)
    return len(message) < len(line) and _CODE.search(message) is not None
