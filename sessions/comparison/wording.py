"""Changes and costs in words; no numpy, so that a screen may use it too."""

from __future__ import annotations

import math

from ..model.result import Cost, MetricChange

_AXES = {"step": "steps", "epoch": "epochs", "tokens": "tokens", "samples": "samples",
         "index": "points"}  # fmt: skip
_SAME_SPEED = 0.01
"""Share by which a time may differ and is still called the same."""


def number(value: float | None) -> str:
    """A measured value as one would say it."""
    if value is None:
        return "none"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def place(value: float) -> str:
    """A place on an axis."""
    whole = value == int(value) if math.isfinite(value) else False
    return f"{value:.0f}" if whole and abs(value) < 1e15 else f"{value:.6g}"


def percent(share: float) -> str:
    """A relative change with its sign."""
    if not math.isfinite(share):
        return "beyond measure"
    amount = 100 * share
    if abs(amount) < 0.05:
        return "0.0%"
    if abs(amount) < 1000:
        return f"{amount:+.1f}%"
    return f"{amount:+,.0f}%" if abs(amount) < 1e6 else f"{amount:+.1e}%"


def plain_percent(share: float) -> str:
    """A share without a sign: 10%, 2.5%."""
    return f"{100 * abs(share):.3g}%"


def interval(low: float | None, high: float | None) -> str:
    """A 95 % interval of a relative change; empty if there is none."""
    if low is None or high is None:
        return ""
    return f"95% interval {percent(low).removesuffix('%')}..{percent(high)}"


def where(change: MetricChange) -> str:
    """The stretch over which a metric is compared: `over steps 900..1000`."""
    if change.window is None:
        return "at the end of each run" if change.axis == "final" else ""
    low, high = change.window
    if low == high:
        one = "point" if change.axis == "index" else change.axis
        return f"at {one} {place(high)}"
    return f"over {_AXES.get(change.axis, change.axis)} {place(low)}..{place(high)}"


def levels(change: MetricChange) -> str:
    """`val/loss 2.31 -> 1.98 (-14.3%, 95% interval -17.0..-11.2%)`."""
    told = f"{change.name} {number(change.before)} -> {number(change.after)}"
    if change.change is None:
        return told
    parts = [percent(change.change), interval(change.low, change.high)]
    return f"{told} ({', '.join(filter(None, parts))})"


def sentence(change: MetricChange) -> str:
    """What became of a metric, and where."""
    return ", ".join(filter(None, (levels(change), where(change))))


def cost_text(cost: Cost) -> str:
    """What the change costs in time, in a sentence; empty if nothing is known."""
    parts = []
    if cost.time_ratio is not None:
        before, after = cost.seconds
        taken = f"({duration(before)} -> {duration(after)} over the same stretch)"
        parts.append(f"{_compared(cost.time_ratio, 'longer', 'less time')} {taken}")
    if cost.throughput_ratio is not None:
        before, after = cost.throughput
        change = percent(cost.throughput_ratio - 1)
        parts.append(f"throughput {number(before)} -> {number(after)} ({change})")
    return "; ".join(parts)


def _compared(ratio: float, more: str, less: str) -> str:
    if abs(ratio - 1) < _SAME_SPEED:
        return "takes as long"
    if ratio >= 2:
        return f"takes {ratio:.3g} times as long"
    return f"takes {plain_percent(ratio - 1)} {more if ratio > 1 else less}"


def duration(seconds: float | None) -> str:
    """A time span with its two largest units: 1 h 12 min."""
    if seconds is None or not math.isfinite(seconds):
        return "?"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    first = next(at for at, (count, _) in enumerate(units) if count)
    shown = [f"{count} {unit}" for count, unit in units[first : first + 2] if count]
    return " ".join(shown)
