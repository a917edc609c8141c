"""frozen_parameters: the optimizer does not hold, or may not change, what should learn.

What it is: requires_grad is off, the optimizer was built on other parameters (before the model was
    wrapped, moved or replaced), or gradients never reach them.
Told apart by: evaluations that give the same number every time while training batches differ; an
    update ratio of 0; a message. A learning rate that is too low still moves the evaluation.
Try next: compare the optimizer's parameters with the model's that require a gradient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.roles import normalise

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..core.settings_lookup import Setting
from ..gradients.calm import calmly
from ..gradients.shares import measured
from ..loss.splitless import no_split_allowed

_FREEZE = re.compile(r"\b(?:freeze|frozen|freezes|requires grad|linear prob(?:e|ing))\b")
_WEIGHTS = {
    "message": 0.9, "updates": 0.85, "evaluations": 0.9, "layers": 0.5, "norm": 0.45,
    "optimizer": 0.92,
}  # fmt: skip
_OF_SOME = ("layers", "optimizer")
"""Some layers stand still while others move: the rest says nothing about them."""


@cause
@dataclass(frozen=True, slots=True)
class FrozenParameters:
    """Weighs what stands still."""

    id: ClassVar[str] = "frozen_parameters"
    explains: ClassVar[tuple[str, ...]] = (
        "frozen_layers",
        "not_learning",
        "plateau",
        "underfitting",
        "slow_convergence",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """Standing still, settings that freeze; against: anything that moves."""
        still = case.get("frozen_layers")
        if still is not None:
            by = str(still.details.get("by"))
            said = by in ("message", "optimizer") and still.is_alarm
            # Nothing but parameters that do not change gives the same loss each time.
            is_proof = said or (by in ("updates", "evaluations") and still.confidence >= 0.85)
            weight = _WEIGHTS.get(by, 0.4) if still.is_alarm else 0.35
            yield case.clue(weight, still.evidence[0], states=is_proof)
            if still.is_alarm and by == "layers" and not still.number("is_flat"):
                # Gradients reach other layers, which learn: it is not the loss that gives none.
                yield from (case.clue(0.2, more) for more in still.evidence[1:])
            if still.number("after") and by == "layers":
                # They did learn: nobody freezes layers in the middle of a training unnoticed.
                yield case.because(still, -0.6)
        freezing = _freezing(case)
        if freezing is not None:
            yield Clue(0.3, freezing.evidence)
        flat = case.get("not_learning", "plateau")
        val = case.view.curve("val/loss")
        is_measured = val is not None and len(val) >= 4 and float(np.ptp(val.y[-6:])) == 0.0
        if still is None and flat is not None and val is not None and is_measured:
            yield Clue(0.6, val.evidence(len(val) - 4, len(val) - 1))
            yield case.because(flat, 0.3)
        if still is None or still.details.get("by") not in _OF_SOME:
            yield from self._against(case)

    def _against(self, case: Case) -> Iterator[Clue]:
        val = case.view.curve("val/loss")
        if val is not None and len(val) >= 3:
            finite = val.y[np.isfinite(val.y)]
            if len(finite) >= 3 and np.ptp(finite) > 1e-4 * abs(float(finite[-1])):
                yield Clue(-0.75, val.evidence(0, len(val) - 1))
        for share in measured(case.view, "update_ratio")[:1]:
            if share.level() > 1e-6:
                yield Clue(-0.85, share.curve.evidence(0, len(share.curve) - 1))
        empty = no_split_allowed(case.view)
        if empty is not None:
            # Trees have no parameters that could be frozen.
            yield Clue(-0.9, empty)
        rate = case.view.curve("lr")
        peak = float(np.nanmax(rate.bins[4], initial=0.0)) if rate is not None else 0.0
        if rate is not None and len(rate) and not np.any(rate.y[-64:] > 1e-4 * peak):
            # A rate that has run out stops everything.
            yield Clue(-0.8, rate.evidence(len(rate) - 1))

    def issue(self, case: Case) -> str:
        """One sentence with how it shows."""
        still = case.get("frozen_layers")
        since = ""
        if still is not None and still.details.get("by") == "optimizer":
            return f"the optimizer was not given {still.details.get('layer')}"
        if still is not None and still.details.get("by") == "layers" and still.details.get("layer"):
            return f"no gradient reaches {still.details['layer']}, which the optimizer holds"
        if still is not None and still.details.get("by") == "weights":
            return f"the weights of {still.details.get('layer')} are not updated"
        if still is not None and still.first_step is not None and still.first_step > 0:
            since = f" from step {still.first_step:.10g} on"
        return f"parameters that should learn are not updated{since}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Look, rebuild, unfreeze."""
        yield Fix(
            addresses=self.id,
            change="compare the optimizer's parameters with those that require a gradient",
            example="held = {id(p) for g in optimizer.param_groups for p in g['params']}; "
            "print([n for n, p in model.named_parameters() if id(p) not in held])",
            expected_impact="the list of parameters that never change, in one second",
            verify="the list is empty, or holds only what is meant to be frozen",
            if_it_fails="check that loss.backward() reaches them: p.grad is not None after it",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="build the optimizer after the model is complete, moved and wrapped",
            example="model = wrap(model.to(device)); optimizer = AdamW(model.parameters(), lr)",
            expected_impact="validation loss changes at the next evaluation; train loss falls "
            "within 200 steps",
            verify="one tensor before and after a step: not torch.equal",
            if_it_fails="look for detach(), no_grad() or .data between the loss and the layers",
            is_quick=True,
        )
        freezing = _freezing(case)
        name = freezing.path if freezing is not None else "requires_grad"
        was = f" {freezing.value}" if freezing is not None else " False"
        yield Fix(
            addresses=self.id,
            change=f"{name}{was} -> train these layers",
            example="for p in model.parameters(): p.requires_grad_(True)",
            expected_impact="update-to-weight ratio between 1e-4 and 1e-2 from the next step on",
            verify="log the ratio for 20 steps",
            if_it_fails="the learning rate of their group may be 0: print optimizer.param_groups",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a rate that is too low."""
        if case.view.curve("val/loss") is None:
            yield (
                "validation loss at three evaluations, with six digits: identical means frozen "
                "parameters, slowly falling a learning rate that is too low"
            )
        yield "update-to-weight ratio per layer: 0 means frozen, below 1e-4 a rate that is too low"


def _freezing(case: Case) -> Setting | None:
    for setting in case.view.settings:
        leaf = normalise(setting.path.rpartition(".")[2])
        if _FREEZE.search(leaf):
            is_off = setting.text in ("false", "0", "none", "null", "", "[]")
            if is_off == ("requires grad" in leaf):
                return setting
    return None
