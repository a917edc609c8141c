"""Small tables: a metric before and after, and the history of a belief."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..cells import fitted, fitted_right
from ..findings.bars import SHORT_BAR, bar
from ..findings.spans import Line, Span, cells, clean, fit, hang, middle
from ..quantities import full_count, short_value
from .lines import short_moment, told

if TYPE_CHECKING:
    from mltd.sessions.model.confidence import ConfidenceChange
    from mltd.sessions.model.result import Cost, MetricChange

NUMBER = 9
CHANGE = 8
INTERVAL = 18
REMARK = 8
LEAST_NAME, WIDEST_NAME = 10, 28
MOST_METRICS = 24
"""Rows of a table; what a run logs beside these is in the comparison screen."""
NEAR = 0.02
"""Relative change within which two levels are the same, as on the screen of a comparison."""
WIDE_HISTORY = 56


def percent(share: float | None) -> str:
    """A relative change with its sign; an en dash if there is none."""
    if share is None or math.isnan(share):
        return "–"
    if math.isinf(share):
        return "∞" if share > 0 else "-∞"
    size = abs(share) * 100
    number = f"{size:.0f}" if size >= 99.95 else f"{size:.1f}"
    sign = "" if float(number) == 0 else "+" if share > 0 else "-"
    return f"{sign}{number}%" if size < 1e6 else f"{sign}{size:.0e}%"


def change_table(changes: Sequence[MetricChange], width: int) -> Iterator[Line]:
    """Metric, before, after, change, its interval, and whether that is better."""
    if not changes:
        return
    names = [clean(change.name) for change in changes[:MOST_METRICS]]
    longest = max(cells((Span(name),)) for name in (*names, "metric"))
    is_wide = width >= LEAST_NAME + 2 * NUMBER + CHANGE + INTERVAL + REMARK
    has_interval = is_wide and any(change.low is not None for change in changes)
    rest = 2 * NUMBER + CHANGE + REMARK + INTERVAL * has_interval
    column = max(6, min(longest + 1, WIDEST_NAME, width - rest))
    titles = ("before", "after", "change", *(("95% interval",) if has_interval else ()))
    sizes = (NUMBER, NUMBER, CHANGE, *((INTERVAL,) if has_interval else ()))
    header = "".join(fitted_right(t, s) for t, s in zip(titles, sizes, strict=True))
    yield fit((Span(fitted("metric", column) + header, "quiet"),), width)
    for name, change in zip(names, changes, strict=False):
        word, meaning = _judged(change)
        numbers = [_level(change.before), _level(change.after)]
        line: Line = (
            Span(fitted(middle(name, column - 1), column)),
            Span("".join(fitted_right(number, NUMBER) for number in numbers)),
            Span(fitted_right(percent(change.change), CHANGE), meaning),
            *((Span(fitted_right(_interval(change), INTERVAL), "quiet"),) if has_interval else ()),
            Span(f" {word}", meaning or "quiet"),
        )
        yield fit(line, width)
        if not has_interval and change.low is not None:
            yield fit((Span(f"  95%: {_interval(change)}", "quiet"),), width)
        if change.needed:
            more = f"{change.needed} more points would decide it"
            yield fit((Span(f"  {more}", "severity-warning"),), width)
    if len(changes) > MOST_METRICS:
        yield (Span(f"and {len(changes) - MOST_METRICS} more", "quiet"),)


def _level(value: float | None) -> str:
    return "–" if value is None else short_value(value)


def _interval(change: MetricChange) -> str:
    if change.low is None or change.high is None:
        return ""
    return f"{percent(change.low)} … {percent(change.high)}"


def _judged(change: MetricChange) -> tuple[str, str]:
    """Better or worse where one of them is, and only if the interval says so."""
    between = change.improvement_interval
    if between is None:
        return "", ""
    if between[0] > 0:
        return "better", "severity-fine"
    if between[1] < 0:
        return "worse", "severity-critical"
    is_near = between[0] >= -NEAR and between[1] <= NEAR
    return ("same" if is_near else "unclear"), ""


def parting(changes: Sequence[MetricChange]) -> str:
    """Where the runs begin to differ for good."""
    first = next((change for change in changes if change.parts_at is not None), None)
    if first is None or first.parts_at is None:
        return ""
    return f"{clean(first.name)} parts at {first.axis} {full_count(first.parts_at)}"


def cost_of(cost: Cost) -> str:
    """What the change costs in time, as factors."""
    said = []
    if cost.time_ratio is not None:
        said.append(f"{cost.time_ratio:.2f}x the time")
    if cost.throughput_ratio is not None:
        said.append(f"{cost.throughput_ratio:.2f}x the throughput")
    return ", ".join(said)


def history_table(history: Sequence[ConfidenceChange], width: int) -> Iterator[Line]:
    """How sure, since when, who said so, and why; the newest first."""
    for step in reversed(history):
        sure = step.confidence
        lead: Line = (
            Span(f"{short_moment(step.at)}  ", "quiet"),
            *bar(sure.value, sure.ceiling, SHORT_BAR, has_mark=False),
            Span(f" {sure.value:.2f}  "),
        )
        source = "" if step.source == "person" else f"{clean(step.source)}: "
        said = f"{source}{told(step.reason)} ({sure.basis.value})"
        if width >= WIDE_HISTORY:
            yield from hang(lead, said, width, "quiet")
        else:
            yield fit(lead, width)
            yield from hang((Span("  "),), said, width, "quiet")
