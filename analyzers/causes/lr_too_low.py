"""lr_too_low: the learning rate is so small that the model barely moves.

What it is: every update goes the right way, none goes far; the loss falls in a straight line.
Told apart by: a fall that is steady and tiny while frozen parameters do not fall at all; update
    ratios below 1e-4; a rate far below what the optimizer usually takes.
Try next: ten times the rate for 200 steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.fixes import learning_rate_of, shown
from ..core.rates import creeping_validation
from ..core.registry import cause
from ..gradients.shares import measured
from ..loss.unmoved import hardly_moved


@cause
@dataclass(frozen=True, slots=True)
class LearningRateTooLow:
    """Weighs what speaks for a step size far below the useful range."""

    id: ClassVar[str] = "lr_too_low"
    explains: ClassVar[tuple[str, ...]] = (
        "slow_convergence",
        "not_learning",
        "plateau",
        "underfitting",
        "vanishing_gradients",
        "update_ratio",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A straight slow fall, and a small rate."""
        slow = case.get("slow_convergence")
        if slow is not None:
            yield case.because(slow, 0.6)
        for finding in case.all("not_learning")[:1]:
            yield case.because(finding, 0.12)
        creeping = creeping_validation(case)
        if creeping is not None and case.has("not_learning"):
            yield Clue(0.4, creeping)
        unmoved = hardly_moved(case.view)
        if unmoved is not None and case.has("not_learning"):
            # A model that changes at all gives other answers now and then.
            yield Clue(0.5, unmoved)
        for finding in case.all("update_ratio"):
            if finding.details.get("kind") == "small":
                yield case.because(finding, 0.5)
        for finding in case.all("plateau", "underfitting")[:1]:
            yield case.because(finding, 0.08)
        setting = case.view.settings.learning_rate()
        rate = setting.number if setting is not None else None
        optimizer = case.setting("optimizer")
        is_plain = optimizer is not None and "sgd" in optimizer.text
        if setting is not None and rate is not None:
            usual = 1e-3 if is_plain else 3e-5
            if 0 < rate <= usual:
                yield Clue(0.75 if rate <= usual / 10 else 0.6, setting.evidence)
            elif rate >= 100 * usual:
                yield Clue(-0.6, setting.evidence)
        elif (logged := case.view.curve("lr")) is not None and len(logged):
            peak = float(np.nanmax(logged.y))
            if 0 < peak <= 1e-4:
                yield Clue(0.4, logged.remark(f"never above {peak:.3g}"), "schedule")
            elif peak >= 0.01:
                yield Clue(-0.5, logged.remark(f"reaches {peak:.3g}"), "schedule")
        for share in measured(case.view, "update_ratio")[:1]:
            if 1e-9 < share.level() < 1e-4:
                yield Clue(0.6, share.curve.evidence(0, len(share.curve) - 1), "updates")
            elif share.level() > 1e-3:
                yield Clue(-0.5, share.curve.evidence(0, len(share.curve) - 1), "updates")
        if case.has("frozen_layers", "vanishing_gradients", "dead_units", "lr_anomaly"):
            found = case.get("frozen_layers", "vanishing_gradients", "dead_units", "lr_anomaly")
            if found is not None:
                yield case.because(found, -0.5)

        wild = case.get("exploding_gradients")
        if wild is not None and wild.is_alarm and wild.number("per_layer"):
            # Beside weights of another order of magnitude any usual step is small.
            yield case.because(wild, -0.6)

    def issue(self, case: Case) -> str:
        """One sentence with the rate."""
        found = learning_rate_of(case)
        rate = f" ({found[0]} {shown(found[1])})" if found else ""
        return f"the learning rate{rate} is too small for the loss to get anywhere"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Raise the rate, sweep, check what is trained."""
        found = learning_rate_of(case)
        name, rate = found if found is not None else ("lr", None)
        change = f"{name} {shown(rate)} -> {shown(10 * rate)}" if rate else "lr times 10"
        yield Fix(
            addresses=self.id,
            change=change,
            example=f"{name}: {shown(10 * rate)}" if rate else "lr = 10 * lr",
            expected_impact="the loss falls at least five times as fast within 200 steps",
            verify="run 200 steps from the last checkpoint and compare the slopes",
            if_it_fails="ten times more; if the slope still does not change, the parameters are "
            "not reached: check requires_grad and the optimizer's parameter list",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="sweep the rate over three decades, 300 steps each",
            example="for lr in (1e-5, 1e-4, 1e-3, 1e-2): train(steps=300, lr=lr)",
            expected_impact="the best rate ends with a loss at least 10 % lower than now",
            verify="the order of the four losses follows the rate up to a break, then it diverges",
            if_it_fails="if all four are equal, the loss does not depend on the updates",
        )
        yield Fix(
            addresses=self.id,
            change="check that the schedule is stepped per step, not per sample or micro-batch",
            example="print(optimizer.param_groups[0]['lr']) every 100 steps",
            expected_impact="the logged rate equals the configured one after warm-up",
            verify="lr in the log reaches the configured peak",
            if_it_fails="raise the configured peak instead",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from frozen parameters."""
        yield (
            "log the update-to-weight ratio: below 1e-4 speaks for a rate that is too low, exactly "
            "0 for parameters that are not trained"
        )
        if case.view.curve("lr") is None and case.view.settings.learning_rate() is None:
            yield "the learning rate, in the log or the config"
