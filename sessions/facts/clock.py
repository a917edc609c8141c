"""Moments: what a line's timestamp says, and when the run was at a step.

Logs tell the time of their own clock without its zone. It is kept as if it were UTC, here as
everywhere; a stamp without a year is no moment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np

from mltd.runs.coordinates import Coordinates
from mltd.runs.series import Series
from mltd.runs.text.prefix import read_prefix
from mltd.runs.text.stamps import parse_stamps

from .lines import Line

_FIRST, _LAST = datetime(1995, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CTIME = re.compile(r"(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<time>\S+) (?P<year>\d{4})")
_NEAR = 100
"""Records on each side that are asked whether time passes."""
_LEAST_TICKS = 3
_HEAD = 160
"""Characters in which a stamp stands, if there is one."""


def moment(seconds: float) -> datetime | None:
    """Seconds since the epoch as a moment; None if they count from somewhere else."""
    if not math.isfinite(seconds) or not _FIRST.timestamp() <= seconds < _LAST.timestamp():
        return None
    return datetime.fromtimestamp(math.floor(seconds), UTC)


def stamp_of(text: str) -> datetime | None:
    """The moment at which a line says that it was written."""
    head = text[:_HEAD]
    prefix = read_prefix(head)
    start, end = prefix.stamp_span
    stamp = head[start:end]
    if prefix.stamp == "ctime":
        return _from_ctime(stamp)
    if prefix.stamp not in ("iso", "short") or not stamp.isascii() or stamp.endswith("M"):
        return None
    characters = np.frombuffer(stamp.encode(), dtype=np.uint8)[None, :]
    found = moment(float(parse_stamps(prefix.stamp, characters)[0]))
    return found if found is not None and _says(stamp, found) else None


def _says(stamp: str, found: datetime) -> bool:
    """False for the 45th of the 13th month, which arithmetic turns into some other day."""
    numbers = [int(digits) for digits in re.findall(r"\d+", stamp)]
    parts = (found.month, found.day, found.hour, found.minute, found.second)
    return all(part in numbers for part in parts)


def _from_ctime(stamp: str) -> datetime | None:
    found = _CTIME.search(stamp)
    if found is None or found["month"] not in _MONTHS:
        return None
    month = _MONTHS.index(found["month"]) + 1
    date = f"{found['year']}-{month:02}-{int(found['day']):02}"
    try:
        read = datetime.fromisoformat(f"{date}T{found['time'].zfill(8)}+00:00")
    except ValueError:
        return None
    return moment(read.timestamp())


def last_stamp(lines: Iterable[Line]) -> datetime | None:
    """The moment of the last line that has one."""
    found = None
    for line in lines:
        found = stamp_of(line.text) or found
    return found


def first_stamp(lines: Iterable[Line]) -> datetime | None:
    """The moment of the first line that has one."""
    return next((found for line in lines if (found := stamp_of(line.text)) is not None), None)


def moment_at(series: Series, point: int) -> datetime | None:
    """When a point of a series was logged, if its file tells the time as it goes."""
    if not 0 <= point < len(series):
        return None
    return moment_of_row(series.coordinates, int(series.rows[point]))


def moment_of_row(rows: Coordinates, row: int) -> datetime | None:
    """When a record was logged: a time that stands still around it was carried there from afar."""
    column = rows.axes.get("time")
    if column is None or not 0 <= row < len(rows):
        return None
    near = column.view()[max(0, row - _NEAR) : row + _NEAR + 1]
    ticks = len(np.unique(near[np.isfinite(near)]))
    if ticks < min(_LEAST_TICKS, max(2, len(near))):
        return None
    return moment(float(column.view()[row]))


def point_at(series: Series, x: float) -> int | None:
    """The newest pass's first point at or behind a place on the series' own axis."""
    places = series.axis(series.axis_name)
    reached = np.flatnonzero(places >= x)
    if len(reached) == 0:
        return None
    # A resumed run passes a step again: what counts is its last passage.
    below = np.flatnonzero(places < x)
    last_below = int(below[-1]) if len(below) else -1
    behind = reached[reached > last_below]
    return int(behind[0]) if len(behind) else int(reached[-1])
