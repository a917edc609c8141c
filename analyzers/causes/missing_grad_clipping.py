"""missing_grad_clipping: nothing bounds the size of an update.

What it is: recurrent and deep networks have steep walls in their loss; without clipping, one large
    gradient throws the weights far away.
Told apart by: gradients that explode while the rate is as usual, no clip setting, a recurrent
    model. Where the rate was just raised or is at its peak, the rate is the better explanation;
    where clipping is on, this is not it.
Try next: clip the norm at the 90th percentile of its usual values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import gradient_growth_before
from ..core.finding import Basis, Evidence, times
from ..core.fixes import clip_gradients, longer_warmup, lower_learning_rate
from ..core.registry import cause
from ..core.sudden import sudden_break
from ..gradients.calm import calmly
from ..gradients.layers import gradient_norm
from ..gradients.stated import clipping, no_clipping, recurrent_model

_BREAKS = ("exploding_gradients", "loss_divergence", "nan_loss", "loss_spike", "nan_gradients")


@cause
@dataclass(frozen=True, slots=True)
class MissingGradientClipping:
    """Weighs explosions against the settings."""

    id: ClassVar[str] = "missing_grad_clipping"
    explains: ClassVar[tuple[str, ...]] = _BREAKS
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """An explosion, an absent bound, a model that needs one."""
        explosion = case.get("exploding_gradients")
        is_alarm = explosion is not None and explosion.is_alarm
        absent = no_clipping(case)
        setting, is_on = clipping(case)
        if explosion is not None and is_alarm:
            climbs = gradient_growth_before(case, case.onset("nan_loss", "loss_divergence"))
            is_climb = explosion.number("grows") or (climbs is not None and climbs.value > 2)
            yield case.because(explosion, 0.3 if is_climb else 0.12)
        if absent is not None:
            yield Clue(0.3 if setting is not None else 0.25, absent)
        recurrent = recurrent_model(case)
        if recurrent is not None:
            yield Clue(0.45, recurrent)
        if is_on and setting is not None:
            yield Clue(-0.85, setting.evidence)
        yield from self._against(case, is_alarm=is_alarm)

    def _against(self, case: Case, *, is_alarm: bool) -> Iterator[Clue]:
        step = case.onset(*_BREAKS)
        norm = gradient_norm(case.view)
        grown = gradient_growth_before(case, step)
        if norm is not None and not is_alarm and not case.view.facts.grad_norm_flaw:
            yield Clue(-0.5, norm.remark("the gradient norm did not explode"))
        elif grown is not None and grown.value < 1.2 and case.has("nan_loss") and not is_alarm:
            yield Clue(-0.4, grown.evidence)
        seen = sudden_break(case)
        if seen is not None and case.has("nan_loss", "nan_gradients"):
            # Clipping would have multiplied it by NaN.
            yield Clue(-0.75, seen.evidence)
        odd = case.get("lr_anomaly")
        if odd is not None and odd.is_alarm:
            yield case.because(odd, -0.5)
        elif (raised := _raised_rate(case, step)) is not None:
            yield Clue(-0.5, raised)
        fall = case.get("loss_scale_collapse")
        if fall is not None and fall.is_alarm:
            yield case.because(fall, -0.4)

    def issue(self, case: Case) -> str:
        """One sentence with the factor."""
        found = case.get("exploding_gradients")
        factor = f", which reach {times(found.number('factor'))} their usual size" if found else ""
        return f"nothing bounds the gradients{factor}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Clip, then smaller steps."""
        yield clip_gradients(case, self.id)
        yield lower_learning_rate(case, self.id)
        yield longer_warmup(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from the learning rate."""
        if not case.view.settings:
            yield "the run's config: whether gradients are clipped decides this hypothesis"
        if gradient_norm(case.view) is None:
            yield (
                "grad_norm before clipping, per step: single huge values ask for clipping, steady "
                "growth for a lower learning rate"
            )


def _raised_rate(case: Case, step: float | None) -> Evidence | None:
    """A learning rate that was at least doubled within a few records before a step."""
    rate = case.view.curve("lr")
    if rate is None or step is None or len(rate) < 8:
        return None
    at = int(np.searchsorted(rate.x, step, side="right")) - 1
    now, before = rate.y[max(0, at - 1) : at + 1], rate.y[max(0, at - 8) : max(0, at - 4)]
    if len(now) == 0 or len(before) == 0 or not np.max(now) > 2 * np.max(before) > 0:
        return None
    return rate.evidence(max(0, at - 8), at)
