"""What stands in front of the message: rank labels, timestamps, levels, logger names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANK = re.compile(
    r"""
      \[(?:default)?(?:rank|Rank|RANK)[ :_]?(?P<bracketed>\d+)\]:?\s*
    | (?:rank|Rank|RANK)[ _:]?(?P<worded>\d+)\s*(?:\||:|-|\])\s*
    | \[\d+,(?P<mpi>\d+)\]<std(?:out|err)>:\s*
    | \((?:worker|rank|trainer|RayTrainWorker|train_fn|pid=\d+,\ rank)[ =](?P<paren>\d+)\)\s*:?\s*
    | \[(?:GPU|gpu|cuda:|device\ )\s?(?P<gpu>\d+)\]:?\s*
    | \[(?:default|local)(?P<local>\d+)\]:?\s*
    """,
    re.VERBOSE,
)
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SUCCESS|[DIWEF])"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_STAMP = re.compile(
    rf"""
      (?P<iso>\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}[T ]{_TIME})(?:Z|\ ?[+-]\d{{2}}:?\d{{2}})?
    | (?P<short>\d{{2}}/\d{{2}}/\d{{2,4}},?\ {_TIME}(?:\ [AP]M)?)
    | (?P<month>\d{{2}}[/-]\d{{2}}\ {_TIME})
    | (?P<glog>[IWEF]\d{{4}}\ {_TIME})\s+\d+\ [^\]\s]+\]
    | (?P<ctime>(?:\w{{3}}\ )?{_MONTH}\ +\d{{1,2}}\ {_TIME}(?:\ \d{{4}})?)
    | (?P<clock>{_TIME})(?![\d:])
    """,
    re.VERBOSE,
)
_OTHER = re.compile(
    rf"""
      (?:INFO|WARNING|ERROR|DEBUG):[\w.]+:
    | \([a-zA-Z_][\w.]*:\d+\)
    | \[?{_LEVEL}\]?(?=[\s\]:|>-]|$)(?:\s*\[\d+\])?
    | \[[A-Za-z_][\w.$/-]*(?::\d+)?(?::\w+)?\](?=\[|\s*-\s|:\s)   # [module.name] of a logger
    | \[[^\]\s]+\.(?:py|cc|cpp|cu):\d+(?::\w+)?\]
    | [a-zA-Z_][\w.]*\.(?:py|cc|cpp|cu|py:\w+):\d+(?::\w+)?\]?
    | [a-zA-Z_][\w]*(?:\.[a-zA-Z_]\w*)+:\w+:\d+(?=\s-)            # loguru module:function:line
    | (?P<logger>(?:root|[a-zA-Z_]\w*(?:\.\w+)*))(?=\ (?:-\ )?{_LEVEL}\b|\ -\ {_LEVEL}|:\ ?\[0m)
    | \d+(?=\ {_LEVEL}\b)                                         # a pid before the level
    | [:|>\-\]\[]+(?=\s|$|\[|\d)
    """,
    re.VERBOSE,
)
_LEADING_TAG = re.compile(
    r"\[?[A-Za-z][\w.]{0,20}(?:\ [A-Z])?\]?\s+(?=\d{4}[-/]\d{2}[-/]\d{2}[T ]\d)"
)
_FIELD_BEFORE_LEVEL = re.compile(rf"(?:[\w.:/-]{{1,40}}\s+){{1,3}}(?={_LEVEL}[\s:])")
_BETWEEN = re.compile(r"[\s|]*(?:-\s+)?[\s]*")


@dataclass(frozen=True, slots=True)
class Prefix:
    """How far the prefix reaches, and what it said."""

    end: int
    rank: int | None = None
    rank_span: tuple[int, int] | None = None
    stamp: str = ""
    """Which kind of timestamp: iso, short, month, glog, ctime, clock or none."""
    stamp_span: tuple[int, int] = (0, 0)
    level: str = ""
    tag: str = ""
    """Text of logger-like brackets, which may name a split ("valid")."""


def read_prefix(line: str) -> Prefix:
    """Consume prefix parts from the left until something else begins."""
    position = _skip_blank(line, 0)
    rank: int | None = None
    rank_span: tuple[int, int] | None = None
    stamp, stamp_span, level, tags = "", (0, 0), "", []
    opened = False
    for _ in range(12):
        start = position
        if (found := _RANK.match(line, position)) and found.end() > position:
            group = found.lastgroup
            assert group is not None
            if rank is None:
                rank, rank_span = int(found[group]), found.span(group)
            position = found.end()
        elif found := _STAMP.match(line, position + (line[position : position + 1] == "[")):
            opened = opened or line[position : position + 1] == "["
            group = next(g for g, text in found.groupdict().items() if text is not None)
            if not stamp:
                stamp, stamp_span = group, found.span(group)
            position = found.end()
            if opened and position < len(line):
                closing = line.find("]", position, position + 80)
                if closing >= 0:
                    tags.append(line[position:closing])
                    position = closing + 1
        elif not stamp and (found := _LEADING_TAG.match(line, position)):
            position = found.end()
            opened = found[0].count("[") > found[0].count("]")
        elif stamp and not level and (found := _FIELD_BEFORE_LEVEL.match(line, position)):
            tags.append(found[0].strip())
            position = found.end()
        elif (stamp or rank is not None or start == 0 or level) and (
            found := _OTHER.match(line, position)
        ):
            text = found[0].strip("[]")
            if named := re.match(rf"({_LEVEL})(?=:\w|$)", text):
                level = level or named[1]
            elif text.strip(":|>-"):
                tags.append(text)
            position = found.end()
        position = _skip_blank(line, position)
        if position == start:
            break
    if not (stamp or level or rank is not None):
        return Prefix(_skip_blank(line, 0))
    return Prefix(position, rank, rank_span, stamp, stamp_span, level, " ".join(tags))


def _skip_blank(line: str, position: int) -> int:
    found = _BETWEEN.match(line, position)
    return found.end() if found else position
