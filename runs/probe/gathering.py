"""One step that is recorded: what is taken before it, after it, and the record made of both."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .norms import count_bad, dense, norms, to_floats
from .updates import Updates
from .writer import number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from .layers import LayerList


@dataclass(slots=True)
class Measured:
    """Norms by layer, as numbers."""

    gradients: dict[int, float] = field(default_factory=dict)
    weights: dict[int, float] = field(default_factory=dict)
    updates: dict[int, float] = field(default_factory=dict)
    without_gradient: list[int] = field(default_factory=list)
    """Layers that want a gradient and have none."""


@dataclass(slots=True)
class Gathering:
    """Everything that is taken of one step; nothing is transferred before the end."""

    layers: LayerList
    is_first: bool = False
    taken: set[int] = field(default_factory=set)
    """Identities of the optimizers whose weights were taken."""
    _gradients: dict[int, list[tuple[Tensor, Tensor]]] = field(default_factory=dict)
    _weights: dict[int, list[tuple[Tensor, Tensor]]] = field(default_factory=dict)
    _updates: list[Updates] = field(default_factory=list)
    _scales: dict[int, float] = field(default_factory=dict)
    _wanting: set[int] = field(default_factory=set)

    def take_weights(self, optimizer: Optimizer) -> None:
        """Norms and samples of the weights that the optimizer is about to change."""
        self.taken.add(id(optimizer))
        own = {id(p) for group in optimizer.param_groups for p in group["params"]}
        owned: list[tuple[int, Tensor]] = []
        others: list[tuple[int, Tensor]] = []
        for place, layer in self.layers.measured():
            for tensor in layer.tensors():
                if id(tensor) in own and tensor.requires_grad:
                    owned.append((place, tensor))
                elif self.is_first or layer.trainable:
                    others.append((place, tensor))
        known = set(self._weights)
        pairs = [pair for pair in [*owned, *others] if pair[0] not in known]
        if pairs:
            for (place, tensor), norm in zip(pairs, norms([t for _, t in pairs]), strict=True):
                self._weights.setdefault(place, []).append((tensor, norm))
        updates = Updates()
        updates.keep(owned)
        self._updates.append(updates)

    def take_gradients(self, optimizer: Optimizer | None, scale: float = 1.0) -> None:
        """Norms of the gradients of an optimizer's parameters, or of all of them."""
        own = None
        if optimizer is not None:
            own = {id(p) for group in optimizer.param_groups for p in group["params"]}
        pairs: list[tuple[int, Tensor]] = []
        for place, layer in self.layers.measured():
            for tensor in layer.tensors():
                if not tensor.requires_grad or (own is not None and id(tensor) not in own):
                    continue
                if tensor.grad is None:
                    self._wanting.add(place)
                else:
                    pairs.append((place, dense(tensor.grad)))
                    self._scales[place] = scale
        for place in {place for place, _ in pairs}:
            self._gradients.pop(place, None)
        for (place, gradient), norm in zip(pairs, norms([g for _, g in pairs]), strict=True):
            self._gradients.setdefault(place, []).append((gradient, norm))

    def take_updates(self) -> None:
        """How far the weights have moved, after the step of the optimizer taken last."""
        if self._updates:
            self._updates[-1].measure()

    def measure(self) -> Measured:
        """Transfer everything at once, and add up by layer."""
        tensors = [n for pairs in self._gradients.values() for _, n in pairs]
        count = len(tensors)
        tensors += [n for pairs in self._weights.values() for _, n in pairs]
        between = len(tensors)
        tensors += [n for updates in self._updates for n in updates.moved]
        values = to_floats(tensors)
        found = Measured(without_gradient=sorted(self._wanting - set(self._gradients)))
        found.gradients = _by_layer(self._gradients, values[:count])
        for place, scale in self._scales.items():
            if place in found.gradients and scale != 1.0:
                found.gradients[place] /= scale
        found.weights = _by_layer(self._weights, values[count:between])
        rest = values[between:]
        for updates in self._updates:
            moved, rest = rest[: len(updates.moved)], rest[len(updates.moved) :]
            if updates.moved:
                found.updates.update(updates.by_layer(moved))
        return found


def _by_layer(
    groups: dict[int, list[tuple[Tensor, Tensor]]], values: list[float]
) -> dict[int, float]:
    found: dict[int, float] = {}
    taken = 0
    for place, pairs in groups.items():
        part = values[taken : taken + len(pairs)]
        taken += len(pairs)
        total = math.sqrt(sum(v * v for v in part)) if all(map(math.isfinite, part)) else math.nan
        if not math.isfinite(total):
            total = _again(pairs)
        found[place] = total
    return found


def _again(pairs: list[tuple[Tensor, Tensor]]) -> float:
    """A norm that did not fit: infinite only if an element is, NaN only if one is."""
    nans = infs = 0
    for tensor, _ in pairs:
        some = count_bad(tensor)
        nans, infs = nans + some[0], infs + some[1]
    if nans or infs:
        return math.nan if nans else math.inf
    return math.sqrt(sum(float(t.detach().double().norm()) ** 2 for t, _ in pairs))


def step_record(
    step: int,
    measured: Measured,
    activations: dict[str, dict[str, float]],
    layers: LayerList,
    modules: list[str],
) -> dict[str, object]:
    """The record of a step: arrays in the order of the header's names, null where unknown."""
    record: dict[str, object] = {"kind": "step", "step": step, "time": round(time.time(), 3)}
    ratios = {
        place: moved / size
        for place, moved in measured.updates.items()
        if (size := measured.weights.get(place, 0.0)) != 0.0
    }
    # Weights of frozen layers are in the first record alone.
    trained = [w for place, w in measured.weights.items() if layers.layers[place].trainable]
    record["total"] = {
        "grad_norm": number(_length(measured.gradients.values())),
        "weight_norm": number(_length(trained)),
        "update_ratio": number(_total_ratio(measured)),
    }
    for name, by_layer in (
        ("grad_norm", measured.gradients),
        ("weight_norm", measured.weights),
        ("update_ratio", ratios),
    ):
        if by_layer:
            record[name] = [number(by_layer.get(place)) for place in layers.order]
    if measured.without_gradient:
        wanting = set(measured.without_gradient)
        record["no_grad"] = [n for n, place in enumerate(layers.order) if place in wanting]
    for what in ("mean", "std", "unit_std", "zero", "dead", "saturated"):
        column = [activations.get(name, {}).get(what) for name in modules]
        if any(value is not None for value in column):
            record[f"act_{what}"] = [number(value, 4) for value in column]
    return record


def _length(parts: Iterable[float]) -> float | None:
    values = list(parts)
    return math.sqrt(sum(v * v for v in values)) if values else None


def _total_ratio(measured: Measured) -> float | None:
    moved = _length(measured.updates.values())
    size = _length(w for place, w in measured.weights.items() if place in measured.updates)
    return moved / size if moved is not None and size else None
