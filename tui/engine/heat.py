"""Norms and shares per layer over steps, in as many columns as the screen has."""

from __future__ import annotations

import re
from array import array

import numpy as np
import numpy.typing as npt

from mltd.analyzers.core.glance import Glance, points_of
from mltd.analyzers.core.recording import LayerCurve
from mltd.analyzers.gradients.layers import gradient_layers, recording_with_most, weight_layers
from mltd.runs.harvest import Floats, Ints
from mltd.runs.run import Run

from .curve_protocol import Heat, HeatRequest

QUANTITIES = ("grad_norm", "weight_norm", "update_ratio", "act_dead", "act_saturated")
_MANY_TIMES = 64
"""A stretch with so many times more points than columns surely has a step for each column."""


def has_layers(run: Run) -> bool:
    """True if the run logs norms per layer."""
    return bool(gradient_layers(Glance(run)))


def make_heat(request: HeatRequest, run: Run) -> Heat:
    """The answer to a request; without any layer if the run logs no norms per layer."""
    measured = _measured(Glance(run))
    if not measured or request.columns < 1:
        return Heat(request.ticket)
    quantity = request.quantity if request.quantity in measured else next(iter(measured))
    layers = measured[quantity]
    axis = layers[0].curve.axis_name
    points = [points_of(layer.curve.series, axis) for layer in layers]
    low, high = _range(request, points)
    if not low <= high:
        return Heat(request.ticket, axis=axis, quantity=quantity, quantities=tuple(measured))
    middles, edges = _columns([x for x, _ in points], low, high, request.columns)
    cells: list[array[float]] = []
    bad: list[tuple[int, int]] = []
    for number, (x, y) in enumerate(points):
        norms, is_bad = _fill(x, y, edges)
        cells.append(array("d", norms.tobytes()))
        bad.extend((number, column) for column in np.flatnonzero(is_bad).tolist())
    return Heat(
        request.ticket,
        layers=tuple(layer_name(layer) for layer in layers),
        columns=array("d", middles.tobytes()),
        cells=tuple(cells),
        bad=tuple(bad),
        axis=axis,
        quantity=quantity,
        quantities=tuple(measured),
    )


def _measured(view: Glance) -> dict[str, list[LayerCurve]]:
    """Everything that the run has of each layer; gradients alone make a map worth having."""
    found = {"grad_norm": gradient_layers(view)}
    if not found["grad_norm"]:
        return {}
    found["weight_norm"] = weight_layers(view)
    recording = recording_with_most(view, "grad_norm")
    if recording is not None:
        found |= {kind: recording.layers(kind) for kind in QUANTITIES[2:]}
        # Of frozen layers the weights are recorded once: a row with one cell.
        learning = [one for one in found["weight_norm"] if len(one.curve.series) > 1]
        found["weight_norm"] = learning
    return {kind: layers for kind, layers in found.items() if layers}


def layer_name(layer: LayerCurve) -> str:
    """The part of a metric's name that says which layer it is, spelled as logged."""
    if (known := layer.curve.series.layer) != "":
        return f"layer {known}" if known.isdigit() else known
    words = ".*?".join(re.escape(word) for word in layer.layer.split())
    # As late as possible: in `grad_2.0_norm/0.weight` the layer is the second 0.
    found = re.match(rf".*(?<![^\W_])({words})(?![^\W_])", layer.curve.name, re.IGNORECASE)
    return found.group(1) if found else layer.layer


def _range(request: HeatRequest, points: list[tuple[Floats, Floats]]) -> tuple[float, float]:
    filled = [x for x, _ in points if len(x)]
    if not filled:
        return 0.0, -1.0
    low, high = min(float(x[0]) for x in filled), max(float(x[-1]) for x in filled)
    return (
        low if request.low is None else max(low, request.low),
        high if request.high is None else min(high, request.high),
    )


def _columns(places: list[Floats], low: float, high: float, wanted: int) -> tuple[Floats, Floats]:
    """Middles and edges of columns: one for each step where there is room, else equally wide."""
    steps = max((_steps_between(x, low, high, wanted) for x in places), key=len)
    if 0 < len(steps) <= wanted:
        between = steps[:-1] / 2 + steps[1:] / 2
        return steps, np.concatenate([[low], between, [high]])
    edges = np.linspace(low, high, wanted + 1)
    return edges[:-1] / 2 + edges[1:] / 2, edges


def _steps_between(x: Floats, low: float, high: float, wanted: int) -> Floats:
    """The different steps of a stretch; of very many, some that are too many for the columns."""
    inside = x[np.searchsorted(x, low) : np.searchsorted(x, high, side="right")]
    if len(inside) > _MANY_TIMES * wanted:
        inside = inside[:: len(inside) // (2 * wanted)]
    return inside[np.concatenate([[True], np.diff(inside) > 0])] if len(inside) else inside


def _fill(x: Floats, y: Floats, edges: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Mean of the finite norms of each column, and whether there are others."""
    bounds = np.searchsorted(x, edges, side="left")
    bounds[-1] = np.searchsorted(x, edges[-1], side="right")
    first = bounds[0]
    inside, bounds = y[first : bounds[-1]], bounds - first
    points = np.diff(bounds)
    finite = np.isfinite(inside)
    if finite.all():
        count, sums = points.astype(np.float64), _sum_between(inside, bounds)
    else:
        count = _sum_between(finite.astype(np.float64), bounds)
        sums = _sum_between(np.where(finite, inside, 0.0), bounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(count > 0, sums / count, np.nan)
    # Only the sum of huge norms is infinite; their mean is not.
    return np.where(np.isinf(means), np.finfo(np.float64).max, means), points > count


def _sum_between(values: Floats, bounds: Ints) -> Floats:
    """Sums of the stretches between neighbouring bounds; 0 for empty ones."""
    with np.errstate(over="ignore"):
        # A sentinel, because an empty stretch may begin behind the last value.
        sums = np.add.reduceat(np.append(values, 0.0), bounds)[:-1]
    return np.where(np.diff(bounds) > 0, sums, 0.0)
