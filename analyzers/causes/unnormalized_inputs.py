"""unnormalized_inputs: inputs have a scale that the model is not made for.

What it is: raw pixel values, unscaled features or targets make the first activations and gradients
    huge, or saturate them.
Told apart by: a first loss far above what guessing gives, large gradients from the first step on,
    while the learning rate is usual.
Try next: standardise inputs (and regression targets) with the training set's mean and deviation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..loss.outcomes import chance_loss

HUGE = 100.0
"""Times a guess among the first values, which the scale of the inputs explains best."""


@cause
@dataclass(frozen=True, slots=True)
class UnnormalizedInputs:
    """Weighs trouble of scale from the first step on."""

    id: ClassVar[str] = "unnormalized_inputs"
    explains: ClassVar[tuple[str, ...]] = (
        "loss_divergence",
        "nan_loss",
        "exploding_gradients",
        "not_learning",
        "oscillating_loss",
        "loss_spike",
        "slow_convergence",
        "plateau",
        "dead_units",
        "vanishing_gradients",
        "underfitting",
        "suspicious_metric",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Sizes that are wrong from the first step on."""
        broken = case.get(*self.explains)
        if broken is None:
            return
        yield case.because(broken, 0.1)
        loss = case.view.curve("train/loss")
        guess = chance_loss(case.view)
        if loss is not None and len(loss) and guess is not None and np.isfinite(loss.y[0]):
            ratio = float(loss.y[0]) / guess
            if ratio > 2.0:
                yield Clue(0.4, loss.evidence(0, None, f"{loss.y[0]:.4g}, guessing is {guess:.4g}"))
            elif ratio < 1.3:
                yield Clue(-0.3, loss.evidence(0))
        for finding in case.all("not_learning"):
            if finding.number("above"):
                yield case.because(finding, 0.35)
            elif finding.number("at_chance") and finding.number("thrown") > HUGE:
                # Steps that are too large begin at a guess; inputs of another scale do not.
                yield case.because(finding, 0.3)
        for finding in case.all("underfitting"):
            if finding.number("above"):
                # Right more and more often, at a price that only outputs of another scale have.
                yield case.because(finding, 0.6)
                yield Clue(0.15, finding.evidence[-1])
        norm = case.view.curve("grad_norm")
        if norm is not None and len(norm) >= 4:
            first = norm.y[:5][np.isfinite(norm.y[:5])]
            if guess is not None and len(first) and float(np.median(first)) > 100:
                yield Clue(0.4, norm.evidence(0))
            elif len(first) and float(np.median(first)) < 10:
                yield Clue(-0.25, norm.evidence(0))
        for setting in case.view.settings:
            name = setting.path.casefold()
            if "normal" in name and "layer" not in name and setting.text in ("false", "none", "0"):
                yield Clue(0.6, setting.evidence)

    def issue(self, case: Case) -> str:
        """One sentence."""
        return "inputs or targets are not scaled: the first activations and gradients are too large"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Standardise, normalise inside, lower the rate."""
        yield Fix(
            addresses=self.id,
            change="standardise every input feature with the training set's mean and deviation",
            example="x = (x - mean) / std",
            expected_impact="the first gradient norm is of order 1-10; the first loss is that of "
            "guessing",
            verify="mean near 0 and deviation near 1 over one epoch of batches",
            if_it_fails="print the largest feature: one unscaled column is enough",
        )
        yield Fix(
            addresses=self.id,
            change="scale regression targets too, and scale back when reporting",
            example="y = (y - y_mean) / y_std",
            expected_impact="the first loss is near 1 for a squared error",
            verify="first logged loss between 0.5 and 2",
            if_it_fails="use a loss that bears outliers (Huber)",
        )
        yield Fix(
            addresses=self.id,
            change="put a normalisation layer first",
            example="nn.Sequential(nn.BatchNorm1d(features), ...)",
            expected_impact="activations of the first layer have a deviation of 0.5-2",
            verify="log it for 100 steps",
            if_it_fails="inspect the data for corrupt records",
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What shows the scale."""
        yield "mean, deviation, smallest and largest value of one input batch as the model sees it"
