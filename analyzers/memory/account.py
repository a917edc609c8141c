"""The memory account of a training: what fills the device, how that is known, what would help."""

from __future__ import annotations

from dataclasses import dataclass

from mltd.runs.run import Run

from ..core.settings_lookup import Settings
from ..core.view import RunView
from .activations import activation_part, activations_of
from .agreement import agreement
from .amount import Amount, Origin, Part, total_of
from .counts import Count, count_parameters
from .devices import Device, device_of
from .keys import Known
from .measured import Measurement, host_limit, measurements
from .oom import Oom, oom_of
from .precision import precision_of
from .remedies import Ground, Remedy, remedies
from .shape import shape_of
from .sharding import sharding_of, world_of
from .states import STATE_IDS, Setup, setup_of, state_parts
from .sums import bounded_of, context_of, need_of, rest_of, sum_of_states, whole_of
from .weights import WeightFacts

_LATE = frozenset({"backward pass", "optimizer step"})
"""Phases in which a step has reached its peak."""


@dataclass(frozen=True, slots=True)
class MemoryAccount:
    """Everything that is known about one device's memory in a training."""

    count: Count | None
    setup: Setup
    parts: tuple[Part, ...]
    device: Device | None
    measured: tuple[Measurement, ...]
    oom: Oom | None
    states: Amount | None
    """Weights, gradients and optimizer state together; None if one of them is not known."""
    rest: Amount | None
    """Beside the states, at the failure or at the peak: activations, buffers, temporaries."""
    need: Amount | None
    """What would have had to fit, or the most that was measured."""
    host_limit: Amount | None
    remedies: tuple[Remedy, ...]
    problem: str = ""
    """Why the log's own measurements are not in here, if it is of another model."""

    @property
    def capacity(self) -> Amount | None:
        """The size of the device."""
        return self.device.size if self.device is not None else None

    @property
    def largest(self) -> tuple[str, Amount] | None:
        """The largest part that is known: of the account, or of what the message counts."""
        known = [(part.name, part.amount) for part in self.parts if part.amount is not None]
        if self.rest is not None:
            known = [one for one in known if one[0] != "activations"]
            known.append(("activations and temporary tensors", self.rest))
        if self.oom is not None:
            others, idle, tensors = self.oom.others, self.oom.idle, self.oom.allocated
            if self.rest is None and tensors is not None:
                known.append(("tensors of this process", tensors))
            known += [("memory of other processes", others)] if others is not None else []
            known += [("idle memory of the allocator", idle)] if idle is not None else []
        return max(known, key=lambda one: one[1].middle, default=None)

    @property
    def states_alone_exceed(self) -> bool | None:
        """Whether no batch can fit; None if states or device are not known."""
        if self.states is None or self.capacity is None:
            return None
        return self.states.low > self.capacity.high

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the states rest on although nothing states it."""
        if self.count is None:
            return ()
        found = []
        if self.setup.precision.origin is Origin.ESTIMATED:
            found.append(self.setup.precision.label)
        data, sharding = self.setup.world.data, self.setup.sharding
        if not sharding.stage and data != 1:
            found.append("the whole model on each device: neither ZeRO nor FSDP is stated")
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        """True if nothing is known beyond usual values."""
        parts = (part for part in self.parts if part.id != "context")
        is_blank = all(part.amount is None for part in parts)
        return is_blank and self.oom is None and not self.measured and self.device is None


def memory_account(run: Run, weights: WeightFacts | None = None) -> MemoryAccount:
    """The account of a run, with what a checkpoint says about its weights if there is one."""
    return account_of(RunView(run), weights)


def account_of(view: RunView, weights: WeightFacts | None = None) -> MemoryAccount:
    """The same for a run that is being looked at already."""
    problem = agreement(view.run, weights.parameters).problem if weights is not None else ""
    known = Known(_settings(view, weights, is_foreign=bool(problem)))
    shape, world, sharding = shape_of(known), world_of(view, known), sharding_of(known)
    precision = precision_of(known, weights)
    count = count_parameters(view, known, shape, weights)
    setup = setup_of(known, count, precision, sharding, world, weights)
    estimate = activations_of(known, shape, precision)
    oom = oom_of(view) if not problem else None
    device = device_of(view, oom)
    capacity = device.size if device is not None else None
    parts = (
        *state_parts(setup, known, weights),
        activation_part(known, shape, precision, estimate),
        Part("context", "driver context", context_of(oom)),
    )
    amounts = {part.id: part.amount for part in parts if part.amount is not None}
    states = sum_of_states(parts)
    measured = measurements(view, capacity) if not problem else ()
    bounded = states if states is not None else bounded_of(parts, setup)
    rest = rest_of(oom, measured, bounded)
    need, whole = need_of(oom, measured, amounts, states), whole_of(amounts, states)
    batchwise = rest or amounts.get("activations")
    # A forward pass that was cut short had not shown all that it needs.
    caveat = "" if oom is None or oom.phase in _LATE else " at this point of the step"
    least = whole or (total_of((states, amounts["context"])) if states is not None else None)
    if oom is not None and need is not None and least is not None and least.low > need.high:
        need, batchwise = least, amounts.get("activations")
        caveat = "" if whole is not None else ", activations not counted"
    own = {identity: amounts[identity] for identity in STATE_IDS if identity in amounts}
    ground = Ground(need, capacity, batchwise, own, estimate, setup, shape, oom, caveat)
    return MemoryAccount(
        count, setup, parts, device, measured, oom, states, rest, need, host_limit(view),
        remedies(ground), problem,
    )  # fmt: skip


def _settings(view: RunView, weights: WeightFacts | None, *, is_foreign: bool) -> Settings:
    """Those of the run; what the files beside the weights say about the model adds to them."""
    if weights is None or not (weights.settings or is_foreign):
        return view.settings
    config = {} if is_foreign else view.run.config
    return Settings({**config, weights.name: dict(weights.settings)})
