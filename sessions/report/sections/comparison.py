"""Before and after: the verdict on an experiment, its criteria, every metric, and the cost."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.result import BeforeAfter, Cost, MetricChange, Outcome
from .. import numbers
from ..markdown import table
from ..subject import Subject

_MOST_CHANGES = 12
_SIGNS = {Outcome.PASSED: "met", Outcome.FAILED: "not met", Outcome.INCONCLUSIVE: "undecided"}


def result_blocks(subject: Subject, result: BeforeAfter) -> Iterator[str]:
    """The whole result of an experiment."""
    pen = subject.pen
    remark = f" ({result.preliminary})" if result.is_preliminary else ""
    yield f"**Verdict: {result.outcome.value}**{remark}. {pen.text(result.summary)}"
    if result.needed:
        yield f"It takes {numbers.counted(result.needed, 'more point')} of the target to decide."
    if result.criteria:
        yield table(
            ("criterion", "outcome", "numbers"),
            [
                (
                    pen.cell(one.criterion) + (" (guard)" if one.is_guard else ""),
                    _SIGNS[one.outcome],
                    pen.cell(one.said),
                )
                for one in result.criteria
            ],
        )
    if result.changes:
        yield (
            f"Before is {pen.text(subject.run_label(result.before))}, after is "
            f"{pen.text(subject.run_label(result.after))}:"
        )
        yield table(
            ("metric", "before", "after", "change", "95% interval", "effect size", "parts at"),
            [_change(subject, change) for change in result.changes[:_MOST_CHANGES]],
            "<>>>>>>",
        )
        if len(result.changes) > _MOST_CHANGES:
            more = numbers.counted(len(result.changes) - _MOST_CHANGES, "metric")
            yield f"and {more} more."
        yield from _remarks(subject, result.changes[:_MOST_CHANGES])
    cost = _cost(result.cost)
    if cost:
        yield f"Cost: {cost}."


def _change(subject: Subject, change: MetricChange) -> tuple[str, ...]:
    interval = numbers.UNKNOWN
    if change.low is not None and change.high is not None:
        interval = f"{numbers.percent(change.low)} to {numbers.percent(change.high)}"
    effect = numbers.UNKNOWN if change.effect is None else f"{change.effect:+.2f}"
    parts_at = numbers.UNKNOWN
    if change.parts_at is not None:
        parts_at = f"{subject.pen.cell(change.axis)} {numbers.place(change.parts_at)}"
    better, interval_of = change.improvement, change.improvement_interval
    is_shown = interval_of is None or not interval_of[0] <= 0 <= interval_of[1]
    sign = "" if not better or not is_shown else " (better)" if better > 0 else " (worse)"
    return (
        subject.pen.code_cell(change.name, 60),
        numbers.value(change.before),
        numbers.value(change.after),
        f"{numbers.percent(change.change)}{sign}",
        interval,
        effect,
        parts_at,
    )


def _remarks(subject: Subject, changes: tuple[MetricChange, ...]) -> Iterator[str]:
    """Over which window the first was measured, and which ones have too few points."""
    first = changes[0]
    if first.window is not None:
        low, high = first.window
        over = f"{subject.pen.text(first.axis)} {numbers.place(low)} to {numbers.place(high)}"
        before, after = first.points
        yield f"Window: {over}, {before:,} finite points before and {after:,} after."
    short = [change for change in changes if change.needed]
    if short:
        said = ", ".join(
            f"{subject.pen.code(change.name, 60)} ({change.needed:,} more)" for change in short
        )
        yield f"Too few points for an interval: {said}."


def _cost(cost: Cost) -> str:
    said = []
    if None not in cost.seconds:
        before, after = cost.seconds
        ratio = f" ({cost.time_ratio:.2f}x)" if cost.time_ratio is not None else ""
        said.append(
            f"wall time {numbers.seconds(before)} before, {numbers.seconds(after)} after{ratio}"
        )
    if None not in cost.throughput:
        before, after = cost.throughput
        ratio = f" ({cost.throughput_ratio:.2f}x)" if cost.throughput_ratio is not None else ""
        said.append(
            f"throughput {numbers.value(before)} before, {numbers.value(after)} after{ratio}"
        )
    return "; ".join(said)
