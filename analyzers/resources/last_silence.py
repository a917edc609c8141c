"""Silence before the end: how long a job had said nothing when somebody or a limit ended it.

A job that hangs is ended by its time limit or by whoever notices. Then the end is the effect, and
the hours of silence before it are what has to be explained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.job_word import last_written
from mltd.runs.run import SourceFile

from ..core.finding import Evidence
from ..core.job_event import JobEvent
from ..core.view import RunView
from ..distributed.outside import evidence_of
from ..distributed.verdicts import Statement, verdict

LEAST_MOMENTS = 12
"""Different time stamps before which nothing is known of the usual gap."""
ROWS = 65_536
"""Records at the end of a log whose time stamps are looked at."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_LEAST_LIFE = 600.0
"""Seconds of a log before which its usual pauses have not been seen."""
_ZONE = 1800.0
"""Seconds; clocks of different time zones are whole half hours apart."""
_WIDEST_ZONES = 26 * 3600.0
_WITH_YEAR = 366 * 86_400.0
"""Stamps without a date or a year count from 1970: they say nothing about the day."""
_LONGEST_JOB = 60 * 86_400.0
_BUFFER = 8192
"""Bytes of output that a killed program may take with it."""
_BUFFERS = 1.5


@dataclass(frozen=True, slots=True)
class LastSilence:
    """The stretch from a log's last time stamp to the moment at which its job was ended."""

    source: SourceFile
    seconds: float
    usual: float
    ended: Evidence
    """What says when that was."""
    may_be_buffered: bool
    """The program may have gone on, and taken its last words with it."""


def silence_before_end(view: RunView) -> LastSilence | None:
    """How long the log had been silent when the job was ended from outside; None if unknown."""
    statement = verdict(view)
    if statement is None or statement.is_over or not view.run.files:
        return None
    source = max(view.run.files, key=lambda file: len(file.coordinates))
    moments = _stamps_of(source)
    if moments is None:
        return None
    gaps = np.diff(moments)
    if moments[-1] - moments[0] < _LEAST_LIFE:
        return None
    if (gaps < 0).any() or (gaps > 0).sum() < LEAST_MOMENTS - 1:
        return None
    usual = usual_gap(gaps)
    seconds = _until_end(view, statement, float(moments[-1]), usual)
    if seconds is None or seconds <= 0:
        return None
    grown = source.bytes / max(float(moments[-1] - moments[0]), 1e-9)
    return LastSilence(
        source,
        seconds,
        usual,
        evidence_of(view, statement),
        may_be_buffered=view.facts.is_buffered or seconds * grown < _BUFFERS * _BUFFER,
    )


def _stamps_of(source: SourceFile) -> Floats | None:
    """The time stamps of a log's last records; None if there are too few of them."""
    column = source.coordinates.axes.get("time")
    if column is None:
        return None
    times = column.view()[-ROWS:]
    times = times[np.isfinite(times) & (np.abs(times) < 1e13)]
    return times if len(times) >= LEAST_MOMENTS else None


def usual_gap(gaps: Floats) -> float:
    """The longest gap that is still usual between two records."""
    return max(float(np.quantile(gaps, 0.99)), float(np.max(gaps)) / 3.0, 1e-9)


def _until_end(view: RunView, statement: Statement, last: float, usual: float) -> float | None:
    """Seconds from the log's last stamp to the end; None where clocks cannot be compared."""
    placed = statement.placed
    if isinstance(placed, JobEvent):
        written, ended = last_written(view.run), placed.job.end
        return None if written is None or ended is None else ended - written
    found = _MOMENT.search(placed.text[:400])
    if found is None or last < _WITH_YEAR:
        return None
    seconds = datetime.fromisoformat(found[0]).replace(tzinfo=UTC).timestamp() - last
    off = min(seconds % _ZONE, _ZONE - seconds % _ZONE)
    if seconds > _LONGEST_JOB:
        return None
    if abs(seconds) < _WIDEST_ZONES and off <= max(2.0 * usual, 60.0):
        return None  # as if no time had passed between two clocks of different zones
    return seconds
