"""What a probe recorded inside the model, layer by layer, in the order in which data flows.

A probe says which layer each column measures, so nothing here is guessed from names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.formats.probe_events import Origin, origin_of
from mltd.runs.series import Series
from mltd.runs.statements import Statement, StatementKind
from mltd.runs.statements.statement import FROZEN, LEFT_OUT, TRAINED, UNREACHED

from .curve import Curve
from .finding import Evidence, EvidenceKind
from .view import PlacedEvent, RunView


@dataclass(frozen=True, slots=True)
class LayerCurve:
    """One layer's series."""

    layer: str
    """The layer's name, or the words of a metric's name that say which layer it is."""
    curve: Curve


@dataclass(frozen=True, slots=True)
class Recording:
    """One model in one run."""

    view: RunView
    file: int
    series: Mapping[str, list[Series]]
    """What is measured (`grad_norm`, `act_dead`, ...) to one series for each layer."""
    stated: Mapping[str, Statement] = field(default_factory=dict)
    """What the newest header says about each layer."""

    def layers(self, kind: str) -> list[LayerCurve]:
        """A measurement of each layer that has it, first layer first."""
        found = (LayerCurve(s.layer, self.view.curve_of(s)) for s in self.series.get(kind, ()))
        return list(found)

    def of_layer(self, kind: str, layer: str) -> Curve | None:
        """A measurement of one layer."""
        found = (s for s in self.series.get(kind, ()) if s.layer == layer)
        return next((self.view.curve_of(s) for s in found), None)

    def total(self, kind: str) -> Curve | None:
        """A measurement of the whole model."""
        found = (s for s in self.view.series if s.file == self.file and s.name == kind and len(s))
        return next((self.view.curve_of(s) for s in found), None)

    def size(self, layer: str) -> float:
        """The parameters of a layer, 0 if it is not known."""
        stated = self.stated.get(layer)
        return stated.value or 0.0 if stated is not None else 0.0

    @property
    def left_out(self) -> list[str]:
        """Layers that get a gradient and are in no optimizer."""
        return self._with(LEFT_OUT)

    @property
    def unreached(self) -> list[str]:
        """Layers that could learn, get no gradient and are in no optimizer."""
        return self._with(UNREACHED)

    @property
    def trained(self) -> list[str]:
        """Layers that an optimizer holds."""
        return self._with(TRAINED)

    @property
    def frozen(self) -> list[str]:
        """Layers that are told not to learn."""
        return self._with(FROZEN)

    def _with(self, state: str) -> list[str]:
        return [layer for layer, stated in self.stated.items() if stated.text == state]

    def said_of(self, layer: str) -> Evidence:
        """What the header says about a layer, as evidence."""
        stated = self.stated[layer]
        name = self.view.run.files[self.file].path.rpartition("/")[2]
        return Evidence(EvidenceKind.LOG, f"{name}:{stated.line}", f"{layer}: {stated.text}"[:200])


def recordings(view: RunView) -> list[Recording]:
    """All models that were recorded, as the first rank saw them."""
    by_file: dict[int, dict[str, list[Series]]] = {}
    for series in view.layer_series:
        if series.rank in (None, 0) and len(series):
            kind = series.name.partition("/")[0]
            by_file.setdefault(series.file, {}).setdefault(kind, []).append(series)
    found = []
    for file, by_kind in sorted(by_file.items()):
        stated = _stated(view, file)
        order = {layer: place for place, layer in enumerate(stated)}
        for members in by_kind.values():
            # A layer that got its first gradient late was met late; it still stands where it is.
            if all(series.layer in order for series in members):
                members.sort(key=lambda series: order[series.layer])
        found.append(Recording(view, file, by_kind, stated))
    return found


def newest_recordings(view: RunView) -> list[Recording]:
    """Of each model the recording that was written last: a training begun anew makes another."""
    kept: dict[object, Recording] = {}
    for one in sorted(recordings(view), key=_last_written):
        model = tuple((layer, stated.value) for layer, stated in one.stated.items())
        kept[model or one.file] = one
    return sorted(kept.values(), key=lambda one: one.file)


def _last_written(recording: Recording) -> float:
    moments = [series.axis("time")[-1] for own in recording.series.values() for series in own]
    finite = [float(moment) for moment in moments if np.isfinite(moment)]
    return max(finite, default=0.0)


def _stated(view: RunView, file: int) -> dict[str, Statement]:
    """The layers of the newest header, in its order: a resumed training writes another one."""
    said = [s for s in view.run.statements if s.file == file and s.kind is StatementKind.LAYER]
    newest = max((statement.line for statement in said), default=0)
    return {statement.subject: statement for statement in said if statement.line == newest}


@dataclass(frozen=True, slots=True)
class FirstBad:
    """The first place inside a model where values were not finite."""

    origin: Origin
    placed: PlacedEvent
    saw_outputs: bool = True
    """False on a step of which only gradients are known."""
    is_loss_finite: bool = False
    """True if the log shows a number for the loss of that very step."""

    @property
    def step(self) -> float | None:
        """When that was."""
        since = self.origin.since
        return float(since) if since is not None else self.placed.event.step

    @property
    def where(self) -> str:
        """The place in words."""
        layer = self.origin.layer
        if self.origin.kind == "loss" and self.is_loss_finite:
            # Clipping multiplies all of them by one number: a single NaN is everywhere then.
            return "in all gradients at once, after a finite loss (clipping spreads it to all)"
        if self.origin.kind == "loss" and not self.saw_outputs:
            return "in all gradients at once (outputs were not recorded then)"
        if self.origin.behind and self.origin.kind == "gradient":
            # Known are the gradients of both outputs: what is between them includes the layer.
            return f"in the gradient of layer {layer} or between it and layer {self.origin.behind}"
        if self.origin.behind:
            return f"between layer {self.origin.behind} and layer {layer}"
        return {
            "input": f"in the data, before the first layer ({layer})",
            "activation": f"in the output of layer {layer}",
            "buffer": f"in the input of layer {layer}",
            "weight": f"in the weights of layer {layer}",
            "gradient": f"in the gradient of layer {layer}",
        }.get(self.origin.kind, "in the loss, behind the last layer")

    @property
    def evidence(self) -> Evidence:
        """The record that says so."""
        return self.placed.evidence()


def _saw_outputs(view: RunView, placed: PlacedEvent) -> bool:
    file = next(n for n, source in enumerate(view.run.files) if source is placed.source)
    outputs = (s for s in view.layer_series if s.file == file and s.name.startswith("act_mean/"))
    return any(bool(np.any(s.axis("step") == placed.event.step)) for s in outputs)


def place_of(curve: Curve, step: float) -> int:
    """The place of a recorded step in a curve of a log, whose loop may count from 0."""
    counts_from_0 = len(curve) > 1 and curve.axis_name == "step" and curve.x[0] == 0
    counts_from_0 = counts_from_0 and curve.spacing == 1
    return int(np.searchsorted(curve.x, step - 1 if counts_from_0 else step))


def _is_loss_finite(view: RunView, step: float | None) -> bool:
    """True if each step's loss is logged, and that of a step is a number."""
    loss = view.curve("train/loss")
    if loss is None or step is None or loss.axis_name != "step" or loss.spacing != 1:
        return False
    at = place_of(loss, step)
    return at < len(loss) and bool(np.isfinite(loss.y[at]))


def first_bad(view: RunView, by: float | None = None, slack: float = 0.0) -> FirstBad | None:
    """Where the first value that is not finite was seen; None unless a probe saw one by a step.

    A little later is still the same (`slack`), since counters of loops begin at 0 or at 1; only
    weights that are lost a step later are a consequence.
    """
    for placed in view.events_of(EventKind.NAN):
        origin = origin_of(placed.event.message) if placed.source.format == "probe" else None
        if origin is None:
            continue
        found = FirstBad(origin, placed, _saw_outputs(view, placed))
        found = replace(found, is_loss_finite=_is_loss_finite(view, found.step))
        late = 0.0 if origin.kind == "weight" else slack
        return found if by is None or found.step is None or found.step <= by + late else None
    return None
