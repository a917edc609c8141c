"""Weights, gradients, master weights and optimizer state of one device, from count times bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.finding import Evidence
from .amount import Amount, Origin, Part
from .counts import Count
from .keys import Known
from .optimizers import StateCost, state_cost
from .precision import Precision
from .sharding import Sharding, World
from .weights import WeightFacts

STATE_IDS = ("parameters", "gradients", "master", "optimizer", "average")
"""Parts that are there whatever the batch is."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How the model is trained, as far as it is known."""

    count: Count | None
    precision: Precision
    cost: StateCost | None
    sharding: Sharding
    world: World
    weight_bytes: float
    """Bytes of a weight that is not trained, which may be quantised."""
    quantised: Evidence | None = None

    @property
    def own(self) -> tuple[float, float]:
        """All and trained parameters of one device, before sharding."""
        if self.count is None:
            return 0.0, 0.0
        ways = 1 if self.count.is_per_device else self.world.model
        return self.count.total / ways, self.count.trainable / ways


def setup_of(
    known: Known,
    count: Count | None,
    precision: Precision,
    sharding: Sharding,
    world: World,
    weights: WeightFacts | None,
) -> Setup:
    """Put together what decides on the size of the states."""
    width = precision.state
    kind = weights.optimizer_kind if weights is not None else ""
    cost = state_cost(known, width, kind, weights.evidence if weights is not None else None)
    small, source = precision.weight, None
    for meaning, size in (("4 bit", 0.5), ("8 bit", 1.0)):
        found = known.switch(meaning)
        if found is not None and found[0]:
            small, source = size, found[1]
            break
    return Setup(count, precision, cost, sharding, world, small, source)


def state_parts(setup: Setup, known: Known, weights: WeightFacts | None) -> Iterator[Part]:
    """The parts that do not depend on the batch, one after another."""
    if setup.count is None:
        needed = ("number of parameters",)
        yield Part("parameters", "parameters", None, needed)
        yield Part("gradients", "gradients", None, needed)
        yield Part("optimizer", "optimizer state", None, needed)
        return
    total, trained = setup.own
    frozen = max(0.0, total - trained)
    precision = setup.precision
    if setup.quantised is not None and frozen > 0:
        size = frozen * setup.weight_bytes + trained * precision.weight
        how = (
            f"{_count(frozen)} x {setup.weight_bytes:g} bytes (quantised) + "
            f"{_count(trained)} x {precision.weight:g}"
        )
        yield _part(setup, "parameters", "parameters", size, how, (setup.quantised,))
    else:
        how = f"{_count(total)} x {precision.weight:g} bytes ({precision.label})"
        yield _part(setup, "parameters", "parameters", total * precision.weight, how)
    how = f"{_count(trained)} trained x {precision.gradient:g} bytes"
    yield _part(setup, "gradients", "gradients", trained * precision.gradient, how)
    if precision.master:
        how = f"{_count(trained)} x {precision.master:g} bytes in fp32"
        yield _part(setup, "master", "master weights", trained * precision.master, how)
    yield _optimizer(setup, trained, weights)
    averaged = known.switch("ema")
    if averaged is not None and averaged[0]:
        how = f"{_count(total)} x {precision.state:g} bytes"
        size = total * precision.state
        yield _part(setup, "average", "averaged copy", size, how, (averaged[1],))


def _optimizer(setup: Setup, trained: float, weights: WeightFacts | None) -> Part:
    name = "optimizer state"
    saved = weights.optimizer_bytes if weights is not None else None
    if weights is not None and saved is not None and saved > 0:
        how = f"as saved in {weights.name}"
        return _divided(
            setup, "optimizer", name, saved, saved, how, Origin.MEASURED, (weights.evidence,)
        )
    cost = setup.cost
    if cost is None:
        return Part("optimizer", name, None, ("optimizer",))
    how = f"{cost.name}: {_count(trained)} x {_range(cost)} bytes ({cost.how})"
    low, high = trained * cost.low, trained * cost.high
    return _divided(setup, "optimizer", name, low, high, how, cost.origin, cost.sources)


def _part(
    setup: Setup, identity: str, name: str, size: float, how: str, more: tuple[Evidence, ...] = ()
) -> Part:
    return _divided(setup, identity, name, size, size, how, Origin.DERIVED, more)


def _divided(
    setup: Setup,
    identity: str,
    name: str,
    low: float,
    high: float,
    how: str,
    origin: Origin,
    more: tuple[Evidence, ...],
) -> Part:
    """One device's share of a part."""
    sharding, count = setup.sharding, setup.count
    assert count is not None
    sources = [*count.sources, *setup.precision.sources, *more]
    if identity != "optimizer" or origin is not Origin.MEASURED:
        origins = (origin, setup.precision.origin, count.origin, Origin.DERIVED)
        origin = max(origins, key=lambda one: one.rank)
    kind = {"master": "optimizer", "average": "parameters"}.get(identity, identity)
    is_away = sharding.is_state_offloaded if kind == "optimizer" else sharding.are_weights_offloaded
    if is_away and kind != "gradients":
        how = f"kept in host memory ({how})"
        return Part(identity, name, Amount(0.0, 0.0, origin, how, tuple(sources)))
    ways = sharding.ways(kind, setup.world.data)
    if ways is None:
        return Part(identity, name, None, ("number of devices",))
    if ways > 1:
        low, high, how = low / ways, high / ways, f"{how} / {ways} ({sharding.label})"
        sources += [*sharding.sources, *setup.world.sources]
        if setup.world.origin.rank > origin.rank:
            origin = setup.world.origin
    if setup.world.model > 1 and not count.is_per_device:
        # Layers are rarely cut into equal shares.
        how, origin = f"{how}, {setup.world.model} devices share the model", Origin.ESTIMATED
        sources += setup.world.sources
    return Part(identity, name, Amount(low, high, origin, how, tuple(dict.fromkeys(sources))))


def _range(cost: StateCost) -> str:
    return f"{cost.low:g}" if cost.low == cost.high else f"{cost.low:g} to {cost.high:g}"


def _count(number: float) -> str:
    for unit, size in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:,.4g}{unit}"
    return f"{number:g}"
