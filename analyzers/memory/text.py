"""The account in words: sentences and table rows of plain text, for any screen or report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..resources.shortage import shown_bytes
from .account import MemoryAccount
from .amount import Amount
from .oom import Oom


class Row(NamedTuple):
    """One row of the account's table."""

    name: str
    size: str
    origin: str
    how: str
    source: str


def rows(account: MemoryAccount) -> tuple[Row, ...]:
    """Parts, what was measured, and the device; unknown parts say what is missing."""
    found = []
    for part in account.parts:
        if part.amount is None:
            missing = ", ".join(part.missing)
            found.append(Row(part.name, "unknown", "", f"not stated: {missing}", ""))
        else:
            found.append(_row(part.name, part.amount))
    if account.rest is not None:
        found.append(_row(f"other tensors at the {_moment(account)}", account.rest))
    for one in account.measured:
        if one.amount is not None:
            found.append(_row(one.name, one.amount))
        else:
            how = f"{one.evidence.quote}; its unit is not stated"
            found.append(Row(one.name, "unknown", "measured", how, one.evidence.ref))
    if account.capacity is not None:
        name = account.device.name if account.device is not None else ""
        found.append(_row(f"device{f' ({name})' if name else ''}", account.capacity))
    if account.host_limit is not None:
        found.append(_row("host memory of the job", account.host_limit))
    return tuple(found)


def remedy_rows(account: MemoryAccount) -> tuple[Row, ...]:
    """One row for each remedy: what it saves, and what is then left."""
    return tuple(
        Row(
            one.name,
            one.saves.shown if one.share is None else f"{one.saves.shown} ({one.share:.0%})",
            one.saves.origin.value,
            f"{one.arithmetic}{f'; {one.condition}' if one.condition else ''}",
            one.saves.sources[0].ref if one.saves.sources else "",
        )
        for one in account.remedies
    )


def lines(account: MemoryAccount) -> tuple[str, ...]:
    """The account as sentences, the most telling first; none if nothing is known."""
    if account.is_empty:
        return ()
    return tuple(_sentences(account))


def _sentences(account: MemoryAccount) -> Iterator[str]:
    if account.problem:
        yield account.problem
    if account.oom is not None:
        yield from explain(account.oom)
    if account.states is not None:
        yield from _about_states(account)
    if account.rest is not None:
        yield (
            f"Other tensors at the {_moment(account)}: {account.rest.shown} ({account.rest.how}): "
            "activations, buffers and temporary memory."
        )
    if (largest := account.largest) is not None:
        name, amount = largest
        yield f"The largest known part: {name}, {amount.shown} ({amount.origin.value})."
    if account.assumptions:
        yield f"Assumed: {'; '.join(account.assumptions)}."
    unknown = [part for part in account.parts if part.amount is None]
    missing = dict.fromkeys(word for part in unknown for word in part.missing)
    if unknown:
        names = _listed([part.name for part in unknown])
        yield f"Not known: {names}; nothing states the {_listed(list(missing))}."
    fitting = [one for one in account.remedies if one.fits]
    for one in fitting:
        yield f"Would fit with {one.name}: {one.arithmetic} ({one.saves.origin.value})."
    if account.remedies and not fitting and _is_too_much(account):
        yield "No remedy that can be reckoned here makes it fit for certain by itself."


def explain(oom: Oom) -> Iterator[str]:
    """What the message's own numbers add up to."""
    where = f" in the {oom.phase}" if oom.phase else ""
    if oom.needed is not None and oom.total is not None:
        yield (
            f"The program needs {oom.needed.shown} of {oom.total.shown}, as its compiler "
            f"reckoned ({oom.evidence.ref})."
        )
        return
    if oom.request is None:
        yield f"The device ran out of memory{where}; the message has no sizes ({oom.evidence.ref})."
        return
    free = f", {oom.free.shown} free" if oom.free is not None else ""
    total = f" of {oom.total.shown}" if oom.total is not None else ""
    yield f"Asked for {oom.request.shown}{where}{free}{total} ({oom.evidence.ref})."
    known = (
        ("in tensors", oom.allocated),
        ("reserved but idle", oom.idle),
        ("driver context and libraries", oom.context),
        (oom.outside, oom.others),
    )
    pieces = [f"{amount.shown} {name}" for name, amount in known if amount is not None]
    if pieces:
        yield f"In use: {' + '.join(pieces)}."
    if oom.idle_share is not None and oom.idle is not None:
        is_fragmented = oom.pattern == "fragmented"
        verdict = "above the request: fragmentation" if is_fragmented else "not what is lacking"
        yield f"Idle memory is {oom.idle_share:.1%} of the device, {verdict}."
    if oom.pattern == "absurd":
        yield "More was asked for than the device has: a wrong shape, not a large batch."


def _about_states(account: MemoryAccount) -> Iterator[str]:
    states, capacity = account.states, account.capacity
    assert states is not None
    text = f"Weights, gradients and optimizer state: {states.shown} ({states.origin.value})"
    if capacity is None:
        yield f"{text}."
    elif account.states_alone_exceed:
        yield f"{text}, more than the device's {capacity.shown}: no batch size fits."
    else:
        yield f"{text}, {_share(states, capacity)} of the device's {capacity.shown}."


def _moment(account: MemoryAccount) -> str:
    return "failure" if account.oom is not None else "peak"


def _is_too_much(account: MemoryAccount) -> bool:
    need, capacity = account.need, account.capacity
    return need is not None and capacity is not None and need.middle > capacity.middle


def _share(part: Amount, whole: Amount) -> str:
    if not whole.middle > 0:
        return shown_bytes(part.middle)
    share = part.middle / whole.middle
    return f"{share:.0%}" if share >= 0.01 or not share else "under 1%"


def _row(name: str, amount: Amount) -> Row:
    source = ", ".join(dict.fromkeys(one.ref for one in amount.sources[:3]))
    return Row(name, amount.shown, amount.origin.value, amount.how, source)


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
