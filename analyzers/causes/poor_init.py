"""poor_init: the weights were initialised on the wrong scale.

What it is: weights too large blow up activations and the first loss; too small or shifted ones let
    nothing through. Either way it is there from the very first step.
Told apart by: a first loss far from that of a guess (the logarithm of the number of classes),
    layers whose first gradients differ by orders of magnitude, an unusual init setting. What
    begins later has another cause.
Try next: the framework's default (He, Xavier) initialisation, biases of 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import share_of_run
from ..core.finding import Basis
from ..core.fixes import longer_warmup
from ..core.registry import cause
from ..gradients.calm import calmly, median
from ..gradients.layers import gradient_layers, without_embeddings
from ..gradients.stated import odd_initialisation
from ..loss.unmoved import deaf_to_inputs, hardly_moved
from ..outputs.logged_signs import equal_from_the_start

_FOUND = (
    "not_learning",
    "vanishing_gradients",
    "exploding_gradients",
    "dead_units",
    "loss_divergence",
    "nan_loss",
    "plateau",
    "slow_convergence",
    "oscillating_loss",
    "underfitting",
    "suspicious_metric",
)


@cause
@dataclass(frozen=True, slots=True)
class PoorInitialisation:
    """Weighs the very first values."""

    id: ClassVar[str] = "poor_init"
    explains: ClassVar[tuple[str, ...]] = _FOUND
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """The first loss, the first gradients, the settings; against: a good beginning."""
        yield from self._first_loss(case)
        yield from self._first_gradients(case)
        odd = odd_initialisation(case)
        if odd is not None:
            yield Clue(0.5, odd.evidence)
        early = case.get("exploding_gradients")
        if early is not None and early.number("from_start"):
            # Outputs that grow with every layer at the first step are the scale itself.
            yield case.because(early, 0.75 if early.number("per_layer") else 0.35)
            if early.number("per_layer") and len(early.evidence) > 2:
                yield Clue(0.3, early.evidence[2])
        for finding in case.all("suspicious_metric"):
            if finding.details.get("kind") == "wild_start":
                yield case.because(finding, 0.45)
        for finding in case.all("underfitting"):
            if finding.number("above"):
                yield case.because(finding, 0.45)
        for finding in case.all("not_learning"):
            if finding.number("above"):
                # Sure of wrong answers from the first step to the last.
                yield case.because(finding, 0.6)
        faint = case.get("vanishing_gradients")
        if faint is not None and faint.number("at_first"):
            # Too weak from the very first step, and getting better: what it began with.
            yield case.because(faint, 0.8 if faint.number("from_zero") else 0.65)
        equal = equal_from_the_start(case.view)
        if equal is not None and case.has("not_learning", "vanishing_gradients"):
            # Weights of 0 give every input the same code, and no gradient to change that.
            yield Clue(0.7, equal)
        deaf = deaf_to_inputs(case.view)
        if deaf is not None and hardly_moved(case.view) is None and case.has("not_learning"):
            # Weights so small, or units so shut, that all inputs look alike.
            yield Clue(0.45, deaf)
        dead = case.get("dead_units")
        if dead is not None and share_of_run(case, dead.first_step) < 0.1:
            yield case.because(dead, 0.2)
        step = case.onset(*_FOUND)
        broken = case.get(*_FOUND)
        if broken is not None and share_of_run(case, step) > 0.1:
            yield case.because(broken, -0.75)
        resume = case.setting("resume")
        if resume is not None and resume.value not in (None, "", False, "false", "none", "scratch"):
            yield Clue(-0.5, resume.evidence)

    def _first_loss(self, case: Case) -> Iterator[Clue]:
        loss = case.view.curve("train/loss")
        classes = case.setting("classes") or case.setting("vocab_size")
        number = classes.number if classes is not None else None
        if loss is None or len(loss) == 0 or not case.view.facts.is_monotone:
            return
        first = float(loss.y[0])
        if classes is not None and number and number > 1 and np.isfinite(first):
            ratio = first / float(np.log(number))
            guess = f"{first:.4g}, {ratio:.3g}x the ln({number:g}) of a guess"
            if 1.5 < ratio < 1e6:
                yield Clue(0.55 if ratio > 3 else 0.35, loss.evidence(0, None, guess))
                yield Clue(0.2, classes.evidence)
            elif 0.8 < ratio < 1.2:
                yield Clue(-0.35, loss.evidence(0, None, guess))
            return
        # Without a scale to compare with: far above everything it later becomes, at once.
        later = loss.y[1 : max(3, len(loss) // 10)]
        usual = median(later)
        if np.isfinite(first) and usual > 0 and first > 20 * usual and len(loss) >= 20:
            yield Clue(0.2, loss.evidence(0, 1))

    def _first_gradients(self, case: Case) -> Iterator[Clue]:
        layers = without_embeddings(gradient_layers(case.view))
        firsts = [(float(layer.curve.y[0]), layer.curve) for layer in layers]
        firsts = [(size, curve) for size, curve in firsts if np.isfinite(size) and size > 0]
        if len(firsts) < 2:
            return
        low, high = min(firsts, key=lambda f: f[0]), max(firsts, key=lambda f: f[0])
        spread = high[0] / low[0]
        quote = f"{low[0]:.2g} beside {high[0]:.2g} in {high[1].name}"
        if spread > 1e3:
            yield Clue(0.3, low[1].evidence(0, None, quote))
        elif spread < 10:
            yield Clue(-0.3, low[1].evidence(0, None, quote))

    def issue(self, case: Case) -> str:
        """One sentence with what is odd."""
        odd = odd_initialisation(case)
        if odd is not None:
            return f"the weights begin on the wrong scale ({odd.path} is {odd.value})"
        loss = case.view.curve("train/loss")
        first = f": the first loss is {loss.y[0]:.4g}" if loss is not None and len(loss) else ""
        return f"the weights begin on the wrong scale{first}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Back to formulas that keep the scale."""
        odd = odd_initialisation(case)
        if odd is not None:
            is_bias = "bias" in odd.path.casefold()
            usual = "0" if is_bias else "1" if "gain" in odd.path.casefold() else "0.02"
            yield Fix(
                addresses=self.id,
                change=f"{odd.path} {odd.value} -> {usual}",
                example=f"{odd.path}: {usual}",
                expected_impact="the first loss is that of a guess, and train loss falls within "
                "the first 100 steps",
                verify="the first logged loss, and a fall of 10 % within 200 steps",
                if_it_fails="compare the activations' deviation layer by layer on one batch",
            )
        yield Fix(
            addresses=self.id,
            change="initialise by formula: He for ReLU, Xavier for tanh and sigmoid, biases of 0",
            example="nn.init.kaiming_normal_(m.weight); nn.init.zeros_(m.bias)",
            expected_impact="activations of every layer within 0.5-2 in deviation; first loss "
            "within 10 % of a guess's",
            verify="print each layer's output deviation for the first batch",
            if_it_fails="look for a layer that is initialised a second time, or loaded",
        )
        yield Fix(
            addresses=self.id,
            change="put a normalisation layer between the layers",
            example="nn.Sequential(nn.Linear(d, d), nn.LayerNorm(d), nn.ReLU())",
            expected_impact="first-to-last gradient ratio above 0.01 within 100 steps",
            verify="log grad_norm per layer for the first 100 steps",
            if_it_fails="halve the depth; if that learns, add residual connections",
        )
        yield longer_warmup(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from the learning rate."""
        if case.setting("classes") is None and case.setting("vocab_size") is None:
            yield (
                "the number of classes (or vocabulary): a first loss far from its logarithm means "
                "bad initialisation, one near it speaks for the learning rate"
            )
        if not gradient_layers(case.view):
            yield (
                "grad_norm per layer for the first 20 steps: a spread over orders of magnitude "
                "means initialisation, equal growth in all layers the learning rate"
            )
