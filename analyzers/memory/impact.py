"""What a remedy would do in the run at hand, as a phrase for the text of a fix."""

from __future__ import annotations

from mltd.runs.checkpoints import weights_of

from ..core.case import Case
from ..core.view import RunView
from ..distributed.memo import once_per_update
from .account import MemoryAccount, account_of
from .agreement import agreement
from .weights import weight_facts

BATCH = ("batch_2", "batch_4", "batch_8", "batch_16")
STATES = ("shard_3", "shard_1", "eight_bit_optimizer")


@once_per_update
def account_for(view: RunView) -> MemoryAccount:
    """The account of a run with the weights of its newest checkpoint, worked out once."""
    weights = weights_of(view.run)
    facts = weight_facts(weights.path, weights.tensors) if weights is not None else None
    if facts is not None and agreement(view.run, facts.parameters).problem:
        facts = None  # what ran out of memory was another model
    return account_of(view, facts)


def impact(case: Case, *ids: str) -> str:
    """The arithmetic of a remedy, one that fits before others; empty if it cannot be reckoned."""
    if case.get("cuda_oom") is None:
        return ""
    found = [one for one in account_for(case.view).remedies if one.id in ids]
    if not found:
        return ""
    best = max(found, key=lambda one: (one.fits is True, -ids.index(one.id)))
    return f". Here, {best.name}: {best.arithmetic} ({best.saves.origin.value})"


def states_phrase(case: Case) -> str:
    """That no batch can fit, if that is so: weights, gradients and states exceed the device."""
    if case.get("cuda_oom") is None:
        return ""
    account = account_for(case.view)
    if not account.states_alone_exceed or account.states is None:
        return ""
    return (
        f"; weights, gradients and optimizer state alone take {account.states.shown} "
        f"({account.states.origin.value})"
    )
