"""Sums over the parts of an account: the states, what is left beside them, what has to fit."""

from __future__ import annotations

from .amount import Amount, Origin, Part, total_of
from .measured import Measurement, device_peak
from .oom import Oom
from .states import STATE_IDS, Setup

_MOST_STATE = 12
"""Bytes of optimizer state per parameter: three moments in fp32."""
_CONTEXT = (0.3 * 1024**3, 1.0 * 1024**3)
"""What a process has on a device before its first tensor, libraries included."""


def context_of(oom: Oom | None) -> Amount:
    """The driver's context: from the message, else as large as usual."""
    if oom is not None and (stated := oom.context) is not None:
        return stated
    how = "usual size of a CUDA context with its libraries"
    return Amount(*_CONTEXT, Origin.ESTIMATED, how)


def sum_of_states(parts: tuple[Part, ...]) -> Amount | None:
    """Weights, gradients and optimizer state together; None if one of them is not known."""
    own = [part for part in parts if part.id in STATE_IDS]
    if not own or any(part.amount is None for part in own):
        return None
    return total_of(part.amount for part in own if part.amount is not None)


def bounded_of(parts: tuple[Part, ...], setup: Setup) -> Amount | None:
    """The states where only the optimizer is not stated: none of the usual keeps more than this."""
    own = [part for part in parts if part.id in STATE_IDS]
    lacking = [part for part in own if part.amount is None]
    if [part.missing for part in lacking] != [("optimizer",)]:
        return None
    ways = setup.sharding.ways("optimizer", setup.world.data) or 1
    most = _MOST_STATE * setup.own[1] / ways
    how = f"optimizer not stated: 0 to {_MOST_STATE} bytes per trained parameter"
    return total_of(
        (*(part.amount for part in own if part.amount), Amount(0.0, most, Origin.ESTIMATED, how))
    )


def rest_of(
    oom: Oom | None, measured: tuple[Measurement, ...], states: Amount | None
) -> Amount | None:
    """Tensors beside the states, at the failure or the peak; None before all states are there."""
    peak = device_peak(measured)
    held = oom.allocated if oom is not None else peak.amount if peak is not None else None
    if held is None or states is None or held.low <= states.high:
        return None
    low, high = held.low - states.high, held.high - states.low
    how = f"{held.shown} in use - {states.shown} of states"
    origin = max((Origin.DERIVED, held.origin, states.origin), key=lambda one: one.rank)
    sources = tuple(dict.fromkeys((*held.sources, *states.sources)))
    return Amount(low, high, origin, how, sources)


def need_of(
    oom: Oom | None,
    measured: tuple[Measurement, ...],
    amounts: dict[str, Amount],
    states: Amount | None,
) -> Amount | None:
    """What has to fit: by the message, else as measured, else the sum of the parts."""
    if oom is not None:
        return oom.demand
    peak = device_peak(measured)
    size = peak.amount if peak is not None else None
    # A peak below the states was measured before the first step.
    if size is not None and (states is None or size.high >= states.low):
        return size
    return whole_of(amounts, states)


def whole_of(amounts: dict[str, Amount], states: Amount | None) -> Amount | None:
    """The sum of all parts, if all are known."""
    if states is None or "activations" not in amounts:
        return None
    return total_of((states, amounts["activations"], amounts["context"]))
