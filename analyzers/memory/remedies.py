"""What the usual remedies would save in this account, and whether the rest would then fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..resources.shortage import shown_bytes
from .activations import Activations
from .amount import Amount, Origin
from .oom import Oom
from .shape import Shape
from .states import Setup

_MANY = 8
"""Devices for which sharding is shown where the run has one, or does not say."""
_LEAST_SHARE = 0.01
"""What saves less of the need is no remedy."""
_LEAST_SAVED = 256 * 1024.0**2
"""Bytes, where it is not known how much is needed."""
_RECOMPUTED = (0.5, 0.7)
"""Share of the activations that recomputation usually saves."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that makes the training smaller: by how much, and what is left."""

    id: str
    name: str
    saves: Amount
    share: float | None
    """Of what is needed now."""
    left: float | None
    """Bytes that would be needed after it."""
    fits: bool | None
    """Whether that fits; None if it is not known, or fits already."""
    arithmetic: str
    condition: str = ""
    """What it costs, or what it depends on."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What remedies are reckoned from; None where it is not known."""

    need: Amount | None
    capacity: Amount | None
    batchwise: Amount | None
    """Memory that grows with the batch."""
    states: dict[str, Amount]
    estimate: Activations | None
    setup: Setup
    shape: Shape
    oom: Oom | None
    caveat: str = ""
    """What a verdict that something fits leaves out."""


def remedies(ground: Ground) -> tuple[Remedy, ...]:
    """Those that save something here, the ones that make it fit first, then by what they save."""
    if ground.oom is not None and ground.oom.pattern == "absurd":
        # More than the device has in one piece is a wrong shape; nothing below would help.
        return ()
    found = [
        *_segments(ground), *_smaller_batch(ground), *_recompute(ground), *_half(ground),
        *_flash(ground), *_shorter(ground), *_eight_bits(ground), *_shards(ground),
    ]  # fmt: skip
    found = [one for one in found if _is_worth_it(one)]
    return tuple(sorted(found, key=lambda one: (one.fits is not True, -one.saves.middle)))


def _is_worth_it(remedy: Remedy) -> bool:
    """True for a saving that matters, and that does not exceed what is needed at all."""
    if remedy.share is None:
        return remedy.saves.high >= _LEAST_SAVED
    return _LEAST_SHARE <= remedy.share < 1


def _remedy(ground: Ground, identity: str, name: str, saves: Amount, condition: str) -> Remedy:
    need, capacity = ground.need, ground.capacity
    if need is None or need.middle <= 0:
        text = f"saves {saves.shown} ({saves.how})"
        return Remedy(identity, name, saves, None, None, None, text, condition)
    share, left = min(1.0, saves.middle / need.middle), max(0.0, need.middle - saves.middle)
    text = f"{need.shown} - {saves.shown} = {shown_bytes(left)}"
    fits: bool | None = None
    if capacity is not None:
        text += f" of {capacity.shown}"
        if need.middle > capacity.middle:
            worst, best = need.middle - saves.low, need.middle - saves.high
            fits = True if worst <= capacity.middle else False if best > capacity.middle else None
            verdict = {True: ": fits", False: ": does not fit", None: ": may fit"}[fits]
            text += verdict if fits is False else f"{verdict}{ground.caveat}"
    return Remedy(identity, name, saves, share, left, fits, text, condition)


def _scaled(amount: Amount, low: float, high: float, how: str) -> Amount:
    """A share of an amount: what a remedy does is an estimate even where its base is measured."""
    sources = amount.sources
    return Amount(amount.low * low, amount.high * high, Origin.ESTIMATED, how, sources)


def _segments(ground: Ground) -> Iterator[Remedy]:
    oom = ground.oom
    if oom is None or oom.idle is None or oom.request is None or not oom.idle_share:
        return
    if oom.pattern != "fragmented" and oom.idle_share < 0.1:
        return
    how = "at most the idle memory, which is measured"
    saves = Amount(0.0, oom.idle.high, Origin.ESTIMATED, how, oom.idle.sources)
    is_enough = oom.idle.middle + (oom.free.middle if oom.free is not None else 0.0)
    fits = is_enough >= oom.request.middle
    text = (
        f"{oom.idle.shown} idle ({oom.idle_share:.0%} of the device) against "
        f"{oom.request.shown} asked for: {'enough' if fits else 'not enough'} in one piece"
    )
    name = "expandable_segments:True"
    left = ground.need.middle if ground.need is not None else None
    yield Remedy(
        "expandable_segments", name, saves, oom.idle_share, left, fits, text,
        "it moves idle memory together, it does not lower the need",
    )  # fmt: skip


def _smaller_batch(ground: Ground) -> Iterator[Remedy]:
    base, batch = ground.batchwise, ground.shape.get("batch")
    if base is None or base.high <= 0 or (batch is not None and batch < 2):
        return
    same = "with accumulation the updates stay the same"
    for ways in (2, 4, 8, 16):
        if batch is not None and batch < ways:
            return
        kept = 1 / ways
        how = f"{1 - kept:.3g} of {base.shown}"
        name = "half the batch, twice the accumulation"
        if ways > 2:
            name = f"batch / {ways}, accumulation x {ways}"
        found = _remedy(ground, f"batch_{ways}", name, _scaled(base, 1 - kept, 1 - kept, how), same)
        # Smaller ones are of interest only until one fits.
        yield found
        if found.fits is not False:
            return


def _recompute(ground: Ground) -> Iterator[Remedy]:
    base, estimate = ground.batchwise, ground.estimate
    if base is None or base.high <= 0 or (estimate is not None and estimate.is_recomputed):
        return
    low, high = _RECOMPUTED
    how = f"50 to 70 % of {base.shown}"
    if estimate is not None and estimate.total > 0:
        high = max(low, 1 - estimate.recomputed / estimate.total)
        how = f"{low:.0%} to {high:.0%} of {base.shown}: layers' inputs are kept"
    saves = _scaled(base, low, high, how)
    cost = "a step takes about 30 % longer"
    yield _remedy(ground, "checkpointing", "activation checkpointing", saves, cost)


def _half(ground: Ground) -> Iterator[Remedy]:
    base, precision = ground.batchwise, ground.setup.precision
    if base is None or base.high <= 0 or not precision.is_single:
        return
    how = f"up to half of {base.shown}; weights and states stay in fp32"
    condition = "" if precision.origin is Origin.DERIVED else "if it is not in use already"
    saves = _scaled(base, 0.3, 0.5, how)
    yield _remedy(ground, "mixed_precision", "bf16 or fp16 autocast", saves, condition)


def _flash(ground: Ground) -> Iterator[Remedy]:
    base, estimate = ground.batchwise, ground.estimate
    if base is None or estimate is None or estimate.is_flash or estimate.is_recomputed:
        return
    share = estimate.square / estimate.total if estimate.total > 0 else 0.0
    if share < 0.05:
        return
    how = f"attention matrices, {share:.0%} of {base.shown}"
    condition = "" if estimate.is_flash is False else "if it is not in use already"
    yield _remedy(
        ground, "flash_attention", "flash attention", _scaled(base, share, share, how), condition
    )


def _shorter(ground: Ground) -> Iterator[Remedy]:
    base, estimate = ground.batchwise, ground.estimate
    length = ground.shape.get("sequence")
    if base is None or estimate is None or length is None or length < 2:
        return
    square = 0.0 if estimate.is_recomputed else estimate.square
    share = (0.5 * (estimate.total - square) + 0.75 * square) / estimate.total
    low = 0.5 if estimate.is_flash is None else share
    how = f"{share:.0%} of {base.shown}"
    name = f"half the sequence ({length:g} -> {length // 2:g})"
    cost = "the model sees less context"
    yield _remedy(ground, "sequence", name, _scaled(base, min(low, share), share, how), cost)


def _eight_bits(ground: Ground) -> Iterator[Remedy]:
    state, cost = ground.states.get("optimizer"), ground.setup.cost
    if state is None or cost is None or not cost.is_adam or cost.is_eight_bit:
        return
    if state.high <= 0 or cost.high <= 2:
        return
    kept = 2 / cost.high
    how = f"{cost.high:g} -> 2 bytes per parameter"
    saves = Amount(
        state.low * (1 - kept), state.high * (1 - kept), _least(state.origin), how, state.sources
    )
    yield _remedy(ground, "eight_bit_optimizer", "8-bit optimizer", saves, "")


def _shards(ground: Ground) -> Iterator[Remedy]:
    setup = ground.setup
    if setup.sharding.stage >= 3 or not ground.states:
        return
    data = setup.world.data
    ways = data if data is not None and data > 1 else _MANY
    conditions = [] if data is not None and data > 1 else [f"on {ways} devices"]
    if data != 1 and not setup.sharding.sources:
        conditions.append("if it is not in use already")
    for stage, name, ids in (
        (1, "ZeRO stage 1", ("optimizer", "master")),
        (3, "ZeRO stage 3 or FSDP", ("optimizer", "master", "gradients", "parameters")),
    ):
        already = {0: 0, 1: 2, 2: 3}[setup.sharding.stage]
        own = [ground.states[one] for one in ids[already:] if one in ground.states]
        if stage <= setup.sharding.stage or not own:
            continue
        share = 1 - 1 / ways
        how = f"{share:.3g} of {shown_bytes(sum(one.middle for one in own))}"
        origin = max((_least(one.origin) for one in own), key=lambda one: one.rank)
        saves = Amount(
            sum(one.low for one in own) * share, sum(one.high for one in own) * share, origin, how,
            tuple(dict.fromkeys(source for one in own for source in one.sources)),
        )  # fmt: skip
        full = f"{name} over {ways} devices"
        yield _remedy(ground, f"shard_{stage}", full, saves, ", ".join(conditions))


def _least(origin: Origin) -> Origin:
    """Arithmetic on a number is derived at best."""
    return Origin.DERIVED if origin is Origin.MEASURED else origin
