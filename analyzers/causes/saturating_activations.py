"""saturating_activations: sigmoid or tanh units sit where their slope is almost zero.

What it is: every such layer multiplies the gradient by a slope of at most 1/4 (sigmoid) or 1
    (tanh), and by nearly 0 once it saturates, so that over several layers nothing is left.
Told apart by: gradients that shrink by about the same factor per layer towards the input, a sigmoid
    or tanh in the config. Exact zeros speak for dead ReLUs; smallness everywhere for underflow;
    units that saturate only after a jump of the rate or the loss, for what made it jump.
Try next: ReLU or GELU; normalised inputs; smaller initial weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import upheaval_before
from ..core.finding import Basis
from ..core.registry import cause
from ..gradients.calm import calmly
from ..gradients.shares import measured
from ..gradients.stated import squashing_activation
from ..loss.unmoved import deaf_to_inputs, few_answers, hardly_moved


@cause
@dataclass(frozen=True, slots=True)
class SaturatingActivations:
    """Weighs the shape of the decay and the activation's name."""

    id: ClassVar[str] = "saturating_activations"
    explains: ClassVar[tuple[str, ...]] = (
        "vanishing_gradients",
        "saturated_units",
        "not_learning",
        "plateau",
        "slow_convergence",
        "underfitting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """Layers, logged saturation, config."""
        tiny = case.get("vanishing_gradients")
        squashing = squashing_activation(case)
        if tiny is not None and tiny.number("layers"):
            # About 1/4 per layer and below is what a sigmoid's slope leaves.
            yield case.because(tiny, 0.8 if 0 < tiny.number("per_layer") < 0.4 else 0.5)
            idle = case.get("not_learning", "slow_convergence")
            if idle is not None and idle.is_alarm:
                yield case.because(idle, 0.15)
            if tiny.number("from_zero"):
                # The flattest slope leaves a little; exactly nothing comes from weights of 0.
                yield case.because(tiny, -0.5)
        elif tiny is not None:
            yield case.because(tiny, 0.3)
        full = case.get("saturated_units")
        if full is not None:
            thrown = upheaval_before(case, full)
            is_said = full.is_alarm and full.number("share") >= 0.9 and thrown is None
            yield case.clue(0.85 if is_said else 0.5, full.evidence[0], states=is_said)
            if thrown is not None:
                yield case.because(thrown, -0.5)
        for share in measured(case.view, "saturation")[:1]:
            level = share.level()
            if level > 0.5:
                last = len(share.curve) - 1
                yield Clue(0.75, share.curve.evidence(0, last))
            elif level < 0.2:
                yield Clue(-0.6, share.curve.evidence(0, len(share.curve) - 1))
        if squashing is not None:
            yield Clue(0.6 if tiny is not None else 0.4, squashing.evidence)
            stuck = case.get("not_learning") if tiny is None else None
            if stuck is not None:
                yield case.because(stuck, 0.15)
            depth = case.setting("layers")
            if depth is not None and (depth.number or 0) >= 4:
                yield Clue(0.3, depth.evidence)
        deaf = deaf_to_inputs(case.view)
        if deaf is not None and hardly_moved(case.view) is None and case.has("not_learning"):
            yield Clue(0.3, deaf)
        few = few_answers(case.view)
        if few is not None and deaf is None and case.has("not_learning"):
            yield Clue(0.25, few)
        yield from self._against(case)

    def _against(self, case: Case) -> Iterator[Clue]:
        activation = case.setting("activation")
        if activation is not None and squashing_activation(case) is None:
            yield Clue(-0.85, activation.evidence)
        zeros = case.get("dead_units")
        if zeros is not None and zeros.number("share") >= 0.7:
            yield case.because(zeros, -0.5)
        still = case.get("frozen_layers")
        if still is not None and still.is_alarm:
            yield case.because(still, -0.5)

    def issue(self, case: Case) -> str:
        """One sentence with the factor per layer."""
        tiny = case.get("vanishing_gradients")
        squashing = squashing_activation(case)
        which = squashing.value if squashing is not None else "saturating"
        full = case.get("saturated_units")
        if full is not None:
            share = full.number("share")
            return (
                f"{share:.0%} of layer {full.details.get('layer')} is where its slope is nearly 0"
            )
        if tiny is not None and 0 < tiny.number("per_layer") < 1:
            factor = 1 / tiny.number("per_layer")
            return f"{which} activations shrink the gradient about {factor:.2g}-fold per layer"
        return f"{which} activations pass almost no gradient on"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Another activation, residuals, scale."""
        setting = case.setting("activation")
        name = setting.path if setting is not None else "activation"
        was = f" {setting.value}" if setting is not None else ""
        yield Fix(
            addresses=self.id,
            change=f"{name}{was} -> relu (or gelu)",
            example=f"{name}: relu",
            expected_impact="first-to-last gradient ratio above 0.01 within 100 steps; train loss "
            "falls by 10 % within 500",
            verify="log grad_norm per layer for 100 steps",
            if_it_fails="check that the hidden layers really use it; the last may keep its own",
        )
        yield Fix(
            addresses=self.id,
            change="add residual connections or normalisation between the layers",
            example="x = x + block(norm(x))",
            expected_impact="gradients of the first layer within a factor of 100 of the last's "
            "from the first step on",
            verify="log grad_norm per layer for 100 steps",
            if_it_fails="halve the depth: a shallower network of this kind learns",
        )
        yield Fix(
            addresses=self.id,
            change="normalise the inputs and initialise by Xavier with the activation's gain",
            example="nn.init.xavier_uniform_(w, gain=nn.init.calculate_gain('tanh'))",
            expected_impact="less than half of the units beyond +-5 before activation; train loss "
            "falls within 500 steps",
            verify="the share of saturated units on one batch",
            if_it_fails="replace the activation",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from rivals."""
        if case.setting("activation") is None:
            yield "the activation function (config or model source): only sigmoid and tanh saturate"
        tiny = case.get("vanishing_gradients")
        if tiny is None or not tiny.number("layers"):
            yield (
                "grad_norm per layer: shrinking towards the input means saturation or depth, equal "
                "in all layers a learning rate that is too low"
            )
