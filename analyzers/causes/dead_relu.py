"""dead_relu: ReLU units are never active, so they neither pass a signal nor learn.

What it is: a large negative bias, or one update that was too large, puts units where ReLU is 0 for
    every input; their gradient is 0 from then on.
Told apart by: a high share of dead units or of exact zeros behind ReLU layers. From the first step
    on it is initialisation; after a jump it is the learning rate. Underflow makes zeros
    everywhere, and only in half precision; saturation makes gradients small, not zero.
Try next: biases of 0, a lower learning rate, LeakyReLU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import upheaval_before
from ..core.finding import Basis, Finding
from ..core.fixes import lower_learning_rate
from ..core.registry import cause
from ..gradients.calm import calmly
from ..gradients.stated import half_precision, odd_initialisation, plain_relu
from ..loss.damaged import one_answer_since
from ..loss.levels import shape_of
from ..loss.outcomes import is_improving


@cause
@dataclass(frozen=True, slots=True)
class DeadRelu:
    """Weighs shares of dead units, the activation and the biases."""

    id: ClassVar[str] = "dead_relu"
    explains: ClassVar[tuple[str, ...]] = (
        "dead_units",
        "frozen_layers",
        "not_learning",
        "plateau",
        "vanishing_gradients",
        "underfitting",
        "slow_convergence",
        "loss_divergence",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """Measured death, then what makes it possible."""
        dead = case.get("dead_units")
        relu = plain_relu(case)
        if dead is not None:
            yield self._measured(case, dead)
        if relu is not None and dead is not None:
            yield Clue(0.35, relu.evidence)
        elif relu is not None and case.has("not_learning", "vanishing_gradients"):
            yield Clue(0.12, relu.evidence)
        silent = one_answer_since(case.view, case.onset("loss_divergence"))
        if silent is not None:
            # Inputs make no difference any more.
            yield Clue(0.3, silent)
        odd = odd_initialisation(case)
        if odd is not None and "bias" in odd.path.casefold() and (odd.number or 0) < 0:
            yield Clue(0.4, odd.evidence)
        yield from self._others(case, dead)

    @staticmethod
    def _measured(case: Case, dead: Finding) -> Clue:
        kind, share = dead.details.get("kind"), dead.number("share")
        if kind == "dead_units":
            # The run counts its dead units itself: no guess is left.
            is_said = share >= 0.9 and dead.is_alarm and upheaval_before(case, dead) is None
            return case.clue(0.85 if share >= 0.9 else 0.6, dead.evidence[0], states=is_said)
        if kind == "guess":
            return case.because(dead, 0.3)
        if kind == "zero_activations" and share >= 1.0:
            # Not one is left in a layer: nothing but a ReLU gives exact zeros for all inputs.
            return case.because(dead, 0.75)
        return case.because(dead, 0.45)

    def _others(self, case: Case, dead: Finding | None) -> Iterator[Clue]:
        activation = case.setting("activation")
        is_counted = dead is not None and dead.details.get("kind") == "dead_units"
        if activation is not None and plain_relu(case) is None and not is_counted:
            yield Clue(-0.85, activation.evidence)
        thrown = upheaval_before(case, dead) if dead is not None else None
        if thrown is not None and is_counted:
            yield case.because(thrown, -0.5)
        if dead is not None and dead.number("after") > 3 and not is_counted:
            # Alive at first: what killed them is nearer to the root.
            yield case.because(dead, -0.4)
        half = half_precision(case)
        if half is not None and not is_counted:
            yield Clue(-0.3, half)
        still = case.get("frozen_layers")
        if still is not None and still.details.get("by") == "layers" and dead is not None:
            yield case.because(still, 0.25)
        elif still is not None and still.number("is_blocked") and dead is None:
            yield from self._blocked(case, still)
        elif still is not None and still.is_alarm and not is_counted:
            yield case.because(still, -0.5)
        layers = case.get("vanishing_gradients")
        if layers is not None and layers.number("layers") and not is_counted:
            yield case.because(layers, -0.5)

    @staticmethod
    def _blocked(case: Case, still: Finding) -> Iterator[Clue]:
        """Exact zeros in all layers up to some layer: nothing there is active any more."""
        if still.number("after"):
            # What is frozen on purpose is frozen from the start.
            yield case.clue(0.75, still.evidence[0])
            return
        loss = case.view.curve("train/loss")
        shape = shape_of(loss) if loss is not None else None
        has_won = shape is not None and shape.gain > 0.1 and shape.fall > 4 * shape.error
        if has_won or is_improving(case.view):
            return  # the last layer learns from what the others give it: they are only frozen
        flat = case.get("not_learning", "plateau")
        yield case.clue(0.55 if still.is_alarm else 0.3, still.evidence[0])
        if flat is not None:
            yield case.because(flat, 0.25)

    def issue(self, case: Case) -> str:
        """One sentence with the share."""
        dead, still = case.get("dead_units"), case.get("frozen_layers")
        if dead is None and still is not None and still.number("is_blocked"):
            first = still.first_step if still.number("after") else None
            since = f" since {first:.10g}" if first is not None else ""
            return f"no unit in front of the last layers is active{since}: no gradient passes"
        share = dead.number("share") if dead is not None else 0.0
        if share <= 0 and not case.has("not_learning", "vanishing_gradients", "plateau"):
            return "ReLU units may have died: every input gets the same answer since the jump"
        if share <= 0:
            return "ReLU units may be dead: gradients are tiny and the loss does not fall"
        since = ""
        if dead is not None and dead.first_step is not None:
            since = f" since {dead.first_step:.10g}"
        kind = dead.details.get("kind") if dead is not None else ""
        what = {"dead_units": "units are dead", "zero_activations": "activations are 0"}
        layer = dead.details.get("layer") if dead is not None else None
        where = f"in layer {layer}" if layer else "behind ReLU"
        said = what.get(str(kind), "gradient entries are dead")
        return f"{share:.0%} of the {said} {where}{since}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Revive them: biases, slope, rate."""
        odd = odd_initialisation(case)
        if odd is not None and "bias" in odd.path.casefold():
            change, example = f"{odd.path} {odd.value} -> 0", f"{odd.path}: 0"
        else:
            change = "initialise the biases with 0 and the weights by He's formula"
            example = "nn.init.kaiming_normal_(m.weight); nn.init.zeros_(m.bias)"
        yield Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact="share of dead units below 0.5 from the first step on; train loss "
            "falls within 200 steps",
            verify="count units that are 0 for a whole batch, before the first update",
            if_it_fails="if they are alive at first and die later, lower the learning rate",
        )
        setting = case.setting("activation")
        name = setting.path if setting is not None else "activation"
        yield Fix(
            addresses=self.id,
            change=f"{name} {setting.value if setting else 'relu'} -> leaky_relu (or gelu)",
            example="nn.LeakyReLU(0.01)",
            expected_impact="gradients reach every unit at once; train loss falls within 200 steps",
            verify="share of exact zeros in the gradient below 0.5",
            if_it_fails="look for inputs that are all negative or not normalised",
            is_quick=True,
        )
        yield lower_learning_rate(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What would prove it."""
        dead = case.get("dead_units")
        if dead is None or dead.details.get("kind") != "dead_units":
            yield (
                "the share of ReLU units that are 0 for a whole batch, per layer: 0.7 and more "
                "means dead units, less speaks for the learning rate or the data"
            )
        if case.setting("activation") is None:
            yield "the activation function (config or model source): only ReLU units die"
