"""Which series measure time, waiting, throughput and memory, by role and by their own words."""

from __future__ import annotations

from mltd.runs.roles import normalise, shipped
from mltd.runs.series import Series

from ..core.curve import Curve
from ..core.view import RunView

_STEP = frozenset({"step", "iter", "iteration", "batch", "it", "epoch", "update"})
_SPAN = frozenset({"time", "ms", "msec", "sec", "secs", "seconds", "s", "duration"})
_DATA = frozenset({"data", "dataloader", "loader", "dataload", "fetch"})
_WAIT = _SPAN | {"wait", "loading", "load"}
_MEMORY = frozenset({"mem", "memory", "rss", "ram", "vram", "uss"})
_SECONDS = frozenset({"s", "sec", "second", "secs", "seconds"})
_OTHER_SPLITS = frozenset({"val", "valid", "validation", "eval", "evaluation", "test"})
_WHOLE_MACHINE = frozenset({"system", "node", "available", "total", "disk", "swap", "buffers"})
_MILLISECONDS = frozenset({"ms", "msec", "millis"})


def curves_of(view: RunView, measure: str) -> list[Curve]:
    """All curves of a measure (step_time, data_time, throughput, memory), the primary one first."""
    known = [curve for curve in view.curves(measure) if measure_of(curve.series) == measure]
    found = {id(curve.series) for curve in known}
    for series in view.series:
        if len(series) and id(series) not in found and measure_of(series) == measure:
            known.append(view.curve_of(series))
    return known


def measure_of(series: Series) -> str:
    """What a series measures, empty if nothing that matters here."""
    words = set(normalise(series.name.removesuffix(" (progress)")).split())
    if words & _OTHER_SPLITS:
        return ""
    # "perf/data_time" has the role of a step's time, as any other name that ends so.
    if series.role in (None, "step_time") and words & _DATA and words & _WAIT:
        return "data_time"
    if series.role in ("step_time", "data_time", "throughput", "memory"):
        return series.role
    if series.role is not None:
        return ""
    if "per" in words and words & _SECONDS and not words & _STEP:
        return "throughput"
    if words & _STEP and words & _SPAN:
        return "step_time"
    return "memory" if words & _MEMORY else ""


def is_machine_memory(name: str) -> bool:
    """True for memory of the whole machine, which others use as well."""
    words = set(normalise(name).split())
    return bool(words & _WHOLE_MACHINE) and not words & {"proc", "process", "rss", "rssmb"}


def is_host_memory(name: str) -> bool:
    """True for memory of the host, false for that of a device."""
    words = normalise(name)
    is_host = any(word in words for word in ("rss", "cpu", "host", "ram", "uss"))
    return is_host and "vram" not in words


def seconds_of(series: Series) -> float:
    """Factor to seconds, by the unit or by the name; 1 where neither says anything."""
    known = shipped().units.get(series.unit)
    if known is not None and known[0] == "s":
        return known[1]
    return 1e-3 if set(normalise(series.name).split()) & _MILLISECONDS else 1.0
