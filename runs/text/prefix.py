"""What stands in front of the message: rank labels, timestamps, levels, logger names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .labels import LABEL
from .reading import Span

_RANK = re.compile(
    r"""
      \[(?:default)?(?:rank|Rank|RANK)[ :_]?(?P<bracketed>\d{1,9})\]:?\s*    # [rank3]:
    | (?:rank|Rank|RANK)[ _:]?(?P<worded>\d{1,9})\s*(?:\||:|-|\])\s*         # Rank 2 |
    | \[\d+,(?P<mpi>\d{1,9})\]<std(?:out|err)>:\s*                           # [1,5]<stdout>:
    | \[\d+,mpirank:(?P<algo>\d{1,9}),[^\]\s]{1,60}\]<std(?:out|err)>:\s*    # [1,mpirank:5,algo-1]
    | \([^()\s=]{1,80}\ pid=\d{1,9}(?:,\ ip=[^()\s]{1,60})?\)\s*             # (TaskRunner pid=1223)
    | \((?:worker|rank|trainer|RayTrainWorker|train_fn|pid=\d+,\ rank)   # (RayTrainWorker 4)
      [ =](?P<paren>\d{1,9})\)\s*:?\s*
    | \[(?:GPU|gpu|cuda:|device\ )\s?(?P<gpu>\d{1,9})\]:?\s*                 # [GPU7]
    | \[(?:default|local)(?P<local>\d{1,9})\]:?\s*                           # [default0]:
    | \[[A-Za-z][\w.-]{0,60}:(?P<hosted>\d{1,4})/\d{1,4}\]\s+(?=\d{4}-)       # [gpu01:0/4] 2022-
    """,
    re.VERBOSE,
)
_RANK_OF_WORLD = re.compile(
    r"\((?P<rank>\d{1,4})/\d{1,4}\)\s+(?=(?:Epoch|Step|Iter\w*|Batch)\s+\d|[A-Z][a-z]+ing\s)"
)
"""`(0/4) Epoch 1, batch 50`, behind a timestamp."""
_RANK_BEHIND_PLACE = re.compile(r"\((?P<rank>\d{1,4})/\d{1,4}\)\s+(?=\S)")
"""`(0/4) Device: cuda:0`, behind the place in the source that says it."""
_PLACE = re.compile(r"[\w./-]+\.py:\d+")
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SUCCESS|[DIWEF])"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_STAMP = re.compile(
    rf"""
      (?P<iso>\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}[T ]{_TIME})      # 2024-01-31 10:00:00,123
      (?:Z|\ ?[+-]\d{{2}}:?\d{{2}})?
    | (?P<short>\d{{2}}/\d{{2}}/\d{{2,4}},?\ {_TIME}(?:\ [AP]M)?)  # 01/31/24 10:00:00
    | (?P<month>\d{{2}}[/-]\d{{2}}\ {_TIME})                       # 01/31 10:00:00
    | (?P<glog>[IWEF]\d{{4}}\ {_TIME})\s+\d+\ [^\]\s]+\]           # I0131 10:00:00.4  5405 x.cpp:9]
    | (?P<ctime>(?:\w{{3}}\ )?{_MONTH}\ +\d{{1,2}}\ {_TIME}(?:\ \d{{4}})?)
    | (?P<clock>{_TIME})(?![\d:])
    """,
    re.VERBOSE,
)
_LOGGER_PART = re.compile(
    rf"""
      (?:INFO|WARNING|ERROR|DEBUG):[\w.]+:                        # INFO:tensorflow:
    | \([a-zA-Z_][\w.]*:\d+\)                                     # (module:42)
    | \([a-zA-Z_][\w.]*\)(?=\s+{_LEVEL}\b)                         # (espnet.train) INFO
    | \[{_LEVEL}(?:\|[\w.=:-]{{1,40}}){{1,8}}\]:?                  # [INFO|DP=0|PP=1|node-3]:
    | (?!\[[A-Z]\s+\d)                                           # [E 3/20] is an epoch
      \[?{_LEVEL}\]?(?=[\s\]:|>-]|$)(?:\s*\[\d+\])?               # INFO, [WARN] [7]
    | \[[A-Za-z_][\w.$/-]*(?::\d+)?(?::\w+)?\](?=\[|\s*-\s|:\s)   # [module.name] of a logger
    | \[[^\]\s]+\.(?:py|cc|cpp|cu):\d+(?::\w+)?\]                 # [train.py:42:main]
    | [a-zA-Z_][\w.]*\.(?:py|cc|cpp|cu|py:\w+):\d+(?::\w+)?\]?    # solver.cpp:359]
    | [a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)*:[\w<>]+:\d+(?=\s-)             # loguru module:function:line
    | (?P<logger>(?:root|[a-zA-Z_]\w*(?:\.\w+)*))(?=\ (?:-\ )?{_LEVEL}\b|\ -\ {_LEVEL}|:\ ?\[0m)
    | \d+(?=\ {_LEVEL}\b)                                         # a pid before the level
    | (?!\[\d+\]\s)[:|>\-\]\[]+(?=\s|$|\[|\d)                      # what separates the parts
    """,
    re.VERBOSE,
)
_LEVEL_NAME = re.compile(rf"(?P<level>{_LEVEL})(?=:\w|$)")
_TAG_BEFORE_DATE = re.compile(
    r"(?:\[[A-Za-z][\w.-]{0,60}\]|\[?[A-Za-z][\w.]{0,20}(?:\ [A-Z])?\]?)\s+"
    r"(?=\d{4}[-/]\d{2}[-/]\d{2}[T ]\d)"
)
"""`[trainer] `, `[INFO `, in front of a date."""
_FIELDS_BEFORE_LEVEL = re.compile(rf"(?:[\w.:/-]{{1,40}}\s+){{1,3}}(?={_LEVEL}[\s:])")
"""`host train.py:42 `, between a timestamp and a level."""
_BETWEEN = re.compile(r"[\s|]*(?:-\s+)?[\s]*")
_MAX_PARTS = 12
_MAX_BRACKETED_TAIL = 80
"""Characters between a timestamp and the bracket that closes around it."""


@dataclass(slots=True)
class Prefix:
    """How far the prefix reaches, and what it said."""

    end: int
    rank: int | None = None
    rank_span: Span | None = None
    stamp: str = ""
    """Which kind of timestamp: iso, short, month, glog, ctime, clock or none."""
    stamp_span: Span = (0, 0)
    level: str = ""
    has_label: bool = False
    """Something says which process wrote the line, be it a rank or not."""
    tag: str = ""
    """Text of logger-like brackets, which may name a split ("valid")."""


def read_prefix(line: str, *, is_labelled: bool = False) -> Prefix:
    """Consume prefix parts from the left until something else begins.

    In a log whose lines are labelled the number in front of them is that of the process.
    """
    return _PrefixReader(line).read(is_labelled=is_labelled)


class _PrefixReader:
    """Goes through a line part by part and collects what the parts say."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._found = Prefix(0)
        self._tags: list[str] = []
        self._is_bracket_open = False
        """A `[` before the timestamp waits for its other half."""

    def read(self, *, is_labelled: bool) -> Prefix:
        """Read all parts."""
        found = self._found
        if is_labelled and (label := LABEL.match(self._line)):
            self._take_rank(label)
        self._skip_blank()
        line_start = found.end
        for _ in range(_MAX_PARTS):
            start = found.end
            self._take_part()
            self._skip_blank()
            if found.end == start:
                break
        if not self._has_begun():
            return Prefix(line_start)
        found.tag = " ".join(self._tags)
        return found

    def _has_begun(self) -> bool:
        return bool(self._found.stamp or self._found.level) or self._found.has_label

    def _skip_blank(self) -> None:
        if blank := _BETWEEN.match(self._line, self._found.end):
            self._found.end = blank.end()

    def _take_part(self) -> None:
        """Go behind the next part, if there is one."""
        line, found = self._line, self._found
        opens = line.startswith("[", found.end)
        part = _RANK.match(line, found.end)
        if part is None and found.stamp and found.rank is None:
            is_placed = bool(self._tags) and _PLACE.fullmatch(self._tags[-1]) is not None
            part = (_RANK_BEHIND_PLACE if is_placed else _RANK_OF_WORLD).match(line, found.end)
        if part is not None:
            self._take_rank(part)
        elif part := _STAMP.match(line, found.end + opens):
            self._is_bracket_open |= opens
            self._take_stamp(part)
        elif not found.stamp and (part := _TAG_BEFORE_DATE.match(line, found.end)):
            self._is_bracket_open = part[0].count("[") > part[0].count("]")
            found.end = part.end()
        elif (
            found.stamp
            and not found.level
            and (part := _FIELDS_BEFORE_LEVEL.match(line, found.end))
        ):
            self._tags.append(part[0].strip())
            found.end = part.end()
        elif (found.end == 0 or self._has_begun()) and (
            part := _LOGGER_PART.match(line, found.end)
        ):
            self._take_logger_part(part)

    def _take_rank(self, part: re.Match[str]) -> None:
        found = self._found
        found.end, found.has_label = part.end(), True
        if found.rank is None and part.lastgroup is not None:
            found.rank, found.rank_span = int(part[part.lastgroup]), part.span(part.lastgroup)

    def _take_stamp(self, part: re.Match[str]) -> None:
        found = self._found
        found.end = part.end()
        if not found.stamp and part.lastgroup is not None:
            found.stamp, found.stamp_span = part.lastgroup, part.span(part.lastgroup)
        if not self._is_bracket_open:
            return
        closing = self._line.find("]", found.end, found.end + _MAX_BRACKETED_TAIL)
        if closing >= 0:
            self._tags.append(self._line[found.end : closing])
            found.end = closing + 1

    def _take_logger_part(self, part: re.Match[str]) -> None:
        found = self._found
        found.end = part.end()
        text = part[0].strip("[]")
        if named := _LEVEL_NAME.match(text):
            found.level = found.level or named["level"]
        elif text.strip(":|>-"):
            self._tags.append(text)
