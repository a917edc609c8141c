"""undercapacity: the model is too small or too restricted for the task.

What it is: training itself stops at a bad level, and validation with it, although updates are
    normal.
Told apart by: train and validation agree; no vanishing gradients; raising the rate changes
    nothing. A learning-rate test is cheaper, so it comes first.
Try next: twice the width on 1,000 samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.rates import overwhelming_decay
from ..core.registry import cause
from ..loss.unmoved import deaf_to_inputs


@cause
@dataclass(frozen=True, slots=True)
class Undercapacity:
    """Weighs a bad level that training and validation share."""

    id: ClassVar[str] = "undercapacity"
    explains: ClassVar[tuple[str, ...]] = (
        "underfitting",
        "plateau",
        "slow_convergence",
        "not_learning",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Flat, high, together, with settings that hold back."""
        found = case.get("underfitting")
        if found is not None:
            # As mere information it says that the task may be hard, too.
            yield case.because(found, 0.5 if found.is_alarm else 0.25)
            if found.number("above"):
                # The smallest model guesses; one that does worse began on another scale.
                yield case.because(found, -0.7)
        for finding in case.all("plateau"):
            if finding.is_alarm:
                # A model that is too small still creeps on; one without signal stops at once.
                yield case.because(finding, 0.15 if finding.number("at_once") else 0.3)
        train, val = case.view.curve("train/loss"), case.view.curve("val/loss")
        if train is not None and val is not None and len(val) >= 3:
            fitted, measured = float(np.median(train.y[-9:])), float(np.median(val.y[-3:]))
            if np.isfinite(fitted) and fitted > 0 and abs(measured / fitted - 1) < 0.1:
                yield Clue(0.25, val.evidence(len(val) - 1), "validation")
        pull = overwhelming_decay(case)
        if pull is not None:
            yield Clue(0.5, pull)
        for meaning in ("hidden", "layers"):
            size = case.setting(meaning)
            limit = 8 if meaning == "hidden" else 0
            if size is not None and size.number is not None and 0 < size.number <= limit:
                yield Clue(0.45, size.evidence)
        dropout = case.setting("dropout")
        if dropout is not None and dropout.number is not None and dropout.number > 0.5:
            yield Clue(0.35, dropout.evidence)
        nothing = case.get("not_learning")
        if nothing is not None and nothing.number("at_chance") and pull is None:
            # The smallest model learns how often each class comes, and a little more.
            yield case.because(nothing, -0.5)
        deaf = deaf_to_inputs(case.view)
        if deaf is not None and pull is None and not case.has("underfitting"):
            # The smallest model answers one sample in another way than the next.
            yield Clue(-0.4, deaf)
        other = case.get(
            "vanishing_gradients", "dead_units", "frozen_layers", "lr_anomaly", "mode_collapse"
        )
        if other is not None and other.is_alarm:
            yield case.because(other, -0.5)

    def issue(self, case: Case) -> str:
        """One sentence."""
        return "the model (or its regularisation) does not let it fit even the training set"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Test, widen, release."""
        decay, size = case.setting("weight_decay"), case.setting("hidden")
        wider = "double the width"
        example = "hidden = 2 * hidden"
        if size is not None and size.number:
            wider = f"{size.path} {size.number:g} -> {2 * size.number:g}"
            example = f"{size.path}: {2 * size.number:g}"
        yield Fix(
            addresses=self.id,
            change=wider,
            example=example,
            expected_impact="train loss at the same step at least 10 % lower",
            verify="overlay both training losses over the first 1,000 steps",
            if_it_fails="the capacity is not the limit: look at labels and features",
        )
        if decay is not None and decay.number:
            yield Fix(
                addresses=self.id,
                change=f"{decay.path} {decay.number:g} -> {decay.number / 10:g}",
                example=f"{decay.path}: {decay.number / 10:g}",
                expected_impact="parameter norms stop shrinking; train loss falls below its "
                "plateau",
                verify="log the parameter norm for 500 steps",
                if_it_fails="set it to 0 for a test",
            )
        yield Fix(
            addresses=self.id,
            change="three times and a third of the learning rate, 300 steps each",
            example="for factor in (1 / 3, 3): train(steps=300, lr=factor * lr)",
            expected_impact="if one of them leaves the plateau, the step size was the limit",
            verify="the loss of one of both is at least 5 % lower after 300 steps",
            if_it_fails="keep the rate and change the model",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="overfit 1,000 samples without regularisation",
            example="train(data=first_1000, dropout=0, weight_decay=0)",
            expected_impact="accuracy near 1 on them if the model is large enough",
            verify="train accuracy > 0.95 on the 1,000",
            if_it_fails="widen further, or look for wrong labels",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from label noise."""
        yield (
            "the training accuracy on 1,000 samples after training on these alone: near 1 means "
            "regularisation or labels, below means capacity"
        )
