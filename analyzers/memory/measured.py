"""What the log measured of device and host memory: peaks, series, and the scheduler's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mltd.runs.roles import normalise
from mltd.runs.statements import StatementKind
from mltd.runs.statements.sizes import MOST_BYTES

from ..core.curve import Curve
from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView
from ..resources.measures import curves_of, is_host_memory, is_machine_memory
from .amount import Amount, Origin, exactly
from .counts import statement_evidence

_UNITS = {
    "kb": 1, "kib": 1, "k": 1, "mb": 2, "mib": 2, "m": 2, "gb": 3, "gib": 3, "g": 3, "tb": 4,
    "tib": 4,
}  # fmt: skip
_NOT_IN_USE = frozenset(
    {"free", "available", "limit", "total", "capacity", "delta", "num", "count", "std"}
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One thing that was measured; the amount is None where its unit is not known."""

    name: str
    place: str
    """`device` or `host`."""
    kind: str
    """`allocated`, `reserved`, or `used` where it is not said which."""
    amount: Amount | None
    evidence: Evidence


def measurements(view: RunView, capacity: Amount | None) -> tuple[Measurement, ...]:
    """All of them, peaks of series first."""
    found = [*_series(view, capacity), *_peaks(view), *_job(view)]
    return tuple(found)


def device_peak(found: tuple[Measurement, ...]) -> Measurement | None:
    """The most that this process was seen to use on the device; reserved before allocated."""
    known = [m for m in found if m.place == "device" and m.amount is not None]
    return max(known, key=lambda m: m.amount.middle if m.amount else 0.0, default=None)


def _series(view: RunView, capacity: Amount | None) -> Iterator[Measurement]:
    for curve in curves_of(view, "memory")[:12]:
        words = set(normalise(curve.name).split())
        if is_machine_memory(curve.name) or words & _NOT_IN_USE or not len(curve):
            continue
        values = curve.series.values
        with np.errstate(invalid="ignore"):
            finite = np.flatnonzero(np.isfinite(values) & (values > 0))
        if len(finite) == 0:
            continue
        top = float(values[finite].max())
        unit = _unit(curve)
        evidence = Evidence(EvidenceKind.SERIES, curve.name, f"at most {top:.6g} {unit}".strip())
        kind = next((k for k in ("reserved", "allocated") if k in words), "used")
        place = "host" if is_host_memory(curve.name) else "device"
        amount = _amount(curve.name, top, unit, capacity, evidence)
        yield Measurement(curve.name, place, kind, amount, evidence)


def _unit(curve: Curve) -> str:
    unit = curve.series.unit
    if unit:
        return unit
    words = normalise(curve.name).split()
    return next((word for word in words if word in _UNITS and len(word) > 1), "")


def _amount(
    name: str, top: float, unit: str, capacity: Amount | None, evidence: Evidence
) -> Amount | None:
    if unit == "%" or "%" in name:
        if capacity is None or top > 100:
            return None
        how = f"{top:.4g} % of {capacity.shown}"
        origin = max((Origin.DERIVED, capacity.origin), key=lambda one: one.rank)
        sources = (evidence, *capacity.sources)
        return exactly(top / 100 * capacity.middle, origin, how, sources)
    power = _UNITS.get(unit.casefold())
    if power is None:
        # Bytes need no unit: nothing else counts in hundreds of millions.
        if not (unit.casefold() in ("b", "bytes", "") and top >= 1e8):
            return None
        power = 0
    size = top * 1024.0**power
    if not size < MOST_BYTES:
        return None
    return exactly(size, Origin.MEASURED, f"the highest of {name}", (evidence,))


def _peaks(view: RunView) -> Iterator[Measurement]:
    best: dict[str, Measurement] = {}
    for stated in view.run.statements:
        if stated.kind is not StatementKind.PEAK or not stated.value:
            continue
        evidence = statement_evidence(view.run, stated)
        amount = exactly(stated.value, Origin.MEASURED, "as the log says", (evidence,))
        known = best.get(stated.subject)
        if known is None or known.amount is None or known.amount.middle < stated.value:
            name = f"peak {stated.subject}"
            best[stated.subject] = Measurement(name, "device", stated.subject, amount, evidence)
    yield from best.values()


def _job(view: RunView) -> Iterator[Measurement]:
    job = view.job
    if job is not None and job.max_rss:
        evidence = Evidence(EvidenceKind.JOB, f"job {job.id}", f"MaxRSS {job.max_rss}")
        how = "the largest task, as the scheduler sampled it"
        amount = exactly(float(job.max_rss), Origin.MEASURED, how, (evidence,))
        yield Measurement("MaxRSS", "host", "used", amount, evidence)


def host_limit(view: RunView) -> Amount | None:
    """What the scheduler allows on one node."""
    job = view.job
    if job is None or not job.node_memory:
        return None
    evidence = Evidence(EvidenceKind.JOB, f"job {job.id}", f"memory per node {job.node_memory}")
    size = float(job.node_memory)
    return exactly(size, Origin.MEASURED, "asked for on each node", (evidence,))
