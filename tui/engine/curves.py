"""Curves as the screen asks for them: any part of any axis, in a handful of numbers."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.envelope import Buckets, Envelope, Envelopes
from mltd.runs.run import Run

from .axis_places import AxisPlaces
from .curve_protocol import Curve, CurvePass, CurveRequest, Curves, Mark
from .marks import find_marks, most_important
from .rate_jumps import RateJumps
from .series_list import find_series, primary_series

MOST_BUCKETS = 4096
"""No screen has more columns than this."""


class CurveBook:
    """Remembers what it has learnt about series, so that each answer costs the same."""

    def __init__(self) -> None:
        self.envelopes = Envelopes()
        self._rates: dict[int, RateJumps] = {}

    def forget(self, run: int) -> None:
        """Let go of a run that is no longer followed."""
        self.envelopes.forget(run)
        self._rates.pop(run, None)

    def answer(
        self, request: CurveRequest, runs: Mapping[int, Run], diagnoses: Mapping[int, Diagnosis]
    ) -> Curves:
        """The wished curves in the wished order, without those that there are not."""
        found = self._find(request, runs)
        extents = [one.extent(request.axis) for _, _, one in found]
        covered = [extent for extent in extents if extent is not None]
        if not covered:
            return Curves(request.ticket, request.axis, None)
        extent = min(low for low, _ in covered), max(high for _, high in covered)
        low, high = _finite(request.low), _finite(request.high)
        left, right = extent[0] if low is None else low, extent[1] if high is None else high
        number = max(1, min(request.buckets, MOST_BUCKETS))
        curves = [
            _curve(run, key, envelope, envelope.buckets(request.axis, left, right, number))
            for run, key, envelope in found
        ]
        marks = self._marks(request.axis, found, runs, diagnoses, (low, high))
        return Curves(request.ticket, request.axis, extent, tuple(curves), most_important(marks))

    def _find(
        self, request: CurveRequest, runs: Mapping[int, Run]
    ) -> list[tuple[int, str, Envelope]]:
        found = []
        for number, key in request.series:
            run = runs.get(number)
            series = None if run is None else find_series(run, key)
            if series is not None:
                found.append((number, key, self.envelopes.of(number, series)))
        return found

    def _marks(
        self,
        axis: str,
        found: list[tuple[int, str, Envelope]],
        runs: Mapping[int, Run],
        diagnoses: Mapping[int, Diagnosis],
        part: tuple[float | None, float | None],
    ) -> list[Mark]:
        """The marks of every run, at places of its first curve."""
        first: dict[int, Envelope] = {}
        for number, _, envelope in found:
            first.setdefault(number, envelope)
        marks: list[Mark] = []
        for number, reference in first.items():
            run = runs[number]
            places = AxisPlaces(number, run, axis, reference, self.envelopes)
            mine = find_marks(places, diagnoses.get(number), self._rates_of(number, run), *part)
            if len(first) > 1:
                mine = [mark._replace(label=f"{run.name}: {mark.label}") for mark in mine]
            marks += mine
        return marks

    def _rates_of(self, number: int, run: Run) -> RateJumps | None:
        series = primary_series([one for one in run.with_role("lr") if len(one)]).get("lr")
        if series is None:
            return None
        rates = self._rates.get(number)
        if rates is None or rates.series is not series:
            rates = self._rates[number] = RateJumps(series)
        rates.update()
        return rates


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def _curve(number: int, key: str, envelope: Envelope, passes: list[Buckets]) -> Curve:
    return Curve(
        run=number,
        key=key,
        name=envelope.series.name,
        role=envelope.series.role,
        passes=tuple(map(_pass, passes)),
        points=sum(int(one.count.sum()) for one in passes),
    )


def _pass(buckets: Buckets) -> CurvePass:
    return CurvePass(
        x=_doubles(buckets.x),
        low=_doubles(buckets.low),
        high=_doubles(buckets.high),
        mean=_doubles(buckets.mean),
        count=array("q", buckets.count.astype(np.int64).tobytes()),
        bad=array("q", buckets.bad.astype(np.int64).tobytes()),
    )


def _doubles(values: npt.NDArray[np.float64]) -> array[float]:
    return array("d", values.tobytes())
