"""A run as plain text: what `check` and `demo` print where there is no screen."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mltd.runs.event import Event, EventKind
from mltd.runs.run import Run
from mltd.runs.series import Series
from mltd.runs.summary import run_state

from .answer_text import AnswerText
from .escaping import printable
from .series_families import Family, fold
from .wording import count

if TYPE_CHECKING:
    from mltd.analyzers.diagnosis import Diagnosis
    from mltd.runs.schedulers.job import Job

_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.-~=*#@"
_MARKS = {
    "exception": "✖",
    "error": "✖",
    "oom": "✖",
    "nccl": "✖",
    "signal": "✖",
    "scheduler": "■",
    "warning": "▲",
    "overflow": "▲",
    "nan": "▲",
    "checkpoint": "●",
    "evaluation": "○",
    "sample": "○",
    "restart": "↻",
    "stage": "◆",
    "finished": "✔",
}
TREND_WIDTH = 24
LEAST_TREND = 8
NUMBERS_WIDTH = 52
"""Columns of a metric's row that its name and trend do not get."""
WIDE = 112
"""Columns laid out for where there is no terminal."""
LEAST_WIDTH = 40
"""Narrower terminals cut the lines."""
MAX_SERIES = 40
MAX_EVENTS = 20
TITLE_WIDTH = 140
OLD_ANSWER = 60.0
"""Seconds after which it is worth saying how old the scheduler's answer is."""
_ROUTINE = (EventKind.CHECKPOINT, EventKind.EVALUATION, EventKind.SAMPLE)
"""Kinds that say the run is fine; they are summed up in a line each."""
_MILD = frozenset(
    {
        EventKind.WARNING,
        EventKind.OVERFLOW,
        EventKind.RESTART,
        EventKind.STAGE,
        EventKind.FINISHED,
    }
)


def trend(series: Series, width: int = TREND_WIDTH, *, unicode: bool = True) -> str:
    """The course of a series in a few characters; `!` where it is not finite."""
    values = series.values
    bars = _BARS if unicode else _ASCII_BARS
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return "!" * min(width, len(values))
    low, high = np.percentile(finite, [2, 98])
    drawn = []
    for bucket in np.array_split(values, min(width, len(values))):
        if not np.isfinite(bucket).all():
            drawn.append("!")
            continue
        share = 0.5 if high <= low else (float(bucket.mean()) - low) / (high - low)
        drawn.append(bars[int(np.clip(share, 0, 1) * (len(bars) - 1) + 0.5)])
    return "".join(drawn)


def short(value: float) -> str:
    """A number in at most nine characters."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def render_run(
    run: Run, diagnosis: Diagnosis | None = None, *, unicode: bool = True, columns: int = 0
) -> Iterator[str]:
    """Lines about a run: state, files, answer, metrics, events; cut to a terminal's columns."""
    for line in _render(run, diagnosis, unicode=unicode, columns=columns):
        is_cut = 0 < columns < len(line)
        yield line[: columns - 1] + ("…" if unicode else "~") if is_cut else line


def _render(run: Run, diagnosis: Diagnosis | None, *, unicode: bool, columns: int) -> Iterator[str]:
    state, reason = run_state(run)
    yield f"{printable(run.name)}: {state.value}"
    yield from textwrap.wrap(
        printable(reason), columns or WIDE, initial_indent="  ", subsequent_indent="  "
    )
    if run.job is not None:
        yield from textwrap.wrap(
            f"job: {_job_line(run.job)}",
            columns or WIDE,
            initial_indent="  ",
            subsequent_indent="    ",
        )
    for source in run.files:
        note = f"  [{printable(source.notice)}]" if source.notice else ""
        if source.coordinates.stride > 1:
            note += f"  [1 row in {source.coordinates.stride:,} kept in memory]"
        again = f", {source.generations} generations" if source.generations > 1 else ""
        yield (
            f"  {printable(source.path)}  {source.format}, {count(source.lines, 'line')}, "
            f"{count(source.bytes, 'byte')}{again}{note}"
        )
    if diagnosis is not None:
        yield ""
        yield from AnswerText(
            diagnosis,
            columns=max(LEAST_WIDTH, columns or WIDE),
            unicode=unicode,
            state=state.value,
        ).lines()
        yield ""
    yield from _render_series(run, unicode=unicode, columns=columns or WIDE)
    yield from _render_events(run, unicode=unicode)
    if run.config:
        names = ", ".join(printable(str(name)) for name in list(run.config)[:8])
        more = f", and {len(run.config) - 8} more" if len(run.config) > 8 else ""
        yield f"  settings: {names}{more}"


def _job_line(job: Job) -> str:
    """What the scheduler says: the facts, the time left, and its age if it is no longer new."""
    from mltd.runs.schedulers.quoting import clock

    said = job.quote.removeprefix("job ")
    left = job.time_left
    if left is not None and math.isfinite(left):
        said += f", {clock(left)} left"
    age = time.time() - job.asked if job.asked is not None else 0.0
    return f"{said} (said {clock(age)} ago)" if age > OLD_ANSWER else said


def _render_series(run: Run, *, unicode: bool, columns: int) -> Iterator[str]:
    shown = [s for s in run.series if not (s.role or "").startswith("axis/")]
    if not shown:
        yield "  no metrics found"
        return
    shown, families = fold(sorted(shown, key=lambda s: s.role is None))
    names = [one.name for one in shown[:MAX_SERIES]] + [family.name for family in families]
    longest = max(map(len, ["metric", *names]))
    width = min(longest, max(16, columns - NUMBERS_WIDTH - TREND_WIDTH))
    trend_width = max(LEAST_TREND, min(TREND_WIDTH, columns - NUMBERS_WIDTH - width))
    yield f"  {'metric':<{width}}  {'role':<12} {'points':>9}  {'first':>9}  {'last':>9}  trend"
    for series in shown[:MAX_SERIES]:
        name = printable(series.name)
        name = name if len(name) <= width else name[: width - 1] + ("…" if unicode else "~")
        bad = int((~np.isfinite(series.values)).sum())
        remark = f"  {bad:,} not finite" if bad else ""
        if NUMBERS_WIDTH + width + LEAST_TREND + len(remark) > columns:
            remark = f" {bad:,}!" if bad else ""
        room = max(LEAST_TREND, min(trend_width, columns - NUMBERS_WIDTH - width - len(remark)))
        yield (
            f"  {name:<{width}}  {series.role or '-':<12.12} {series.logged:>9,}  "
            f"{short(float(series.values[0])):>9}  {short(float(series.values[-1])):>9}  "
            f"{trend(series, room, unicode=unicode)}{remark}"
        )
    if len(shown) > MAX_SERIES:
        yield f"  and {len(shown) - MAX_SERIES} more metrics (all of them: --json)"
    for family in families:
        yield _family_row(family, width, unicode=unicode)


def _family_row(family: Family, width: int, *, unicode: bool) -> str:
    """One measurement of many layers: how far its values reach."""
    name = printable(family.name)
    name = name if len(name) <= width else name[: width - 1] + ("…" if unicode else "~")
    low, high = (short(value) for value in family.extremes)
    remark = f"  {family.bad:,} not finite" if family.bad else ""
    return f"  {name:<{width}}  {'-':<12} {family.points:>9,}  {low:>9} .. {high}{remark}"


def _render_events(run: Run, *, unicode: bool) -> Iterator[str]:
    events = run.events
    routine = [pair for pair in events if pair[1].kind in _ROUTINE]
    telling = [pair for pair in events if pair[1].kind not in _ROUTINE]
    telling.sort(key=lambda pair: pair[1].kind in _MILD)
    for source, event in telling[:MAX_EVENTS]:
        mark = _MARKS.get(event.kind.value, "-") if unicode else "*"
        times = f" x{event.count}" if event.count > 1 else ""
        name = printable(source.path.rsplit("/", 1)[-1]) + " " if len(run.files) > 1 else ""
        title = printable(event.title)[:TITLE_WIDTH]
        yield f"  {mark} {event.kind.value}{times}  {name}{_place(event)}: {title}"
    if len(telling) > MAX_EVENTS:
        yield f"  and {len(telling) - MAX_EVENTS} more events (all of them: --json)"
    for kind in _ROUTINE:
        same = [event for _, event in routine if event.kind is kind]
        if same:
            mark = _MARKS[kind.value] if unicode else "*"
            last = max(same, key=lambda event: event.line)
            count = sum(event.count for event in same)
            title = printable(last.title)[:TITLE_WIDTH]
            yield f"  {mark} {kind.value} x{count}, the last at {_place(last)}: {title}"


def _place(event: Event) -> str:
    step = f" step {event.step:g}" if event.step is not None else ""
    return f"line {event.line:,}{step}"
