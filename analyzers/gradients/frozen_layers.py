"""frozen_layers: parameters that should learn do not change.

What it sees: a validation loss that is identical to six digits over three evaluations or more
    while the training loss jitters; an update-to-weight ratio of 0; layers whose gradient is
    exactly 0 while others get one; messages about empty parameter lists or tensors without
    gradient; layers whose weights keep their size to the last digit; layers that a probe saw to
    get gradients, to be in no optimizer and not to move, or to be in the optimizer and to get
    none. Constant values printed with few digits, a learning rate of 0, and layers that are
    frozen on purpose (requires_grad off, adapters) do not count; a part without gradients that no
    optimizer holds is information.
Why it matters: the optimizer works on nothing (built before the model was replaced, wrong
    parameters, requires_grad off), so all further steps are wasted.
Fires on:
    val/loss: 2.302513*8 ; train/loss: 2.3~0.02*200
    update_ratio: 0*50 ; train/loss: 2.3~0.02*50 ; lr: 0.001
    log: ValueError: optimizer got an empty parameter list
    gradnorm_0.weight: 0*80 ; gradnorm_7.weight: 0.3~0.02*80 ; train/loss: 1.38>1.3~0.01*80
    grad/fc1: 0.2~0.02*40 0*40 ; grad/fc3: 0.3~0.02*80 ; train/loss: 0.7>0.2~0.01*40 0.69~0.01*40
    wnorm_fc2: 4.57985*60 ; wnorm_fc1: 9>11*60 ; train/loss: 2.3>1~0.02*60
Stays quiet:
    wnorm_fc2: 4.57>4.9*60 ; wnorm_fc1: 9>11*60 ; train/loss: 2.3>1~0.02*60
    wnorm_fc2: 4.6*60 ; wnorm_fc1: 9>11*60 ; train/loss: 2.3>1~0.02*60
    val/loss: 2.30*4 ; train/loss: 2.3>2.2~0.02*200
    val/loss: 2.302513 2.1 1.9 1.7 1.62 1.61 ; train/loss: 2.3>1.5~0.02*200
    val/loss: 1.234567*8 ; train/loss: 1.2~0.02*200 ; lr: 0*200
    val/loss: 0.6935*6 ; train/loss: 0.693~0.002*60 ; lr: 4e-9*60
    val/loss: 63133.62>63133.15*14 63133.13 63133.15 63133.16*14 ; train/loss: 6.4e4~2e3*30
    val/loss: 2.302513*9 2.101234*9 1.901234*9 1.751234*9 ; train/loss: 2.3>1.7~0.02*36
Try next: list the parameters whose requires_grad is on and compare with those in the optimizer;
    build the optimizer after the model is wrapped; assert that one tensor changes per step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from ..loss.outcomes import is_fine_tuning
from .calm import calmly, median
from .cut_off import cut_off_layers
from .layers import gradient_norm
from .learning import learning
from .left_out import left_out_layers
from .recorded_units import recorded_shares
from .scales import fall_of_series
from .standing_still import (
    is_dead,
    since,
    still_evaluations,
    still_layers,
    still_norm,
    still_updates,
    still_weights,
)

_EMPTY = re.compile(
    r"optimizer got an empty parameter list|element \d+ of tensors does not require grad|"
    r"differentiated tensors (?:does not require grad|appears? to not have been used)|"
    r"no gradients provided for any variable|no (?:trainable|learnable) (?:param\w*|weights)|"
    r"fine-tuning on purely quantized models|none of the outputs have requires_grad|"
    r"(?:all|every) (?:model )?param\w* (?:are|is) frozen",
    re.I,
)
_NO_INPUT = re.compile(r"None of the inputs have requires_grad", re.I)


@analyzer
@dataclass(frozen=True, slots=True)
class FrozenLayers:
    """Look for what stands still although it is trained."""

    id: ClassVar[str] = "frozen_layers"
    roles: ClassVar[tuple[str, ...]] = ("val/loss", "train/loss", "grad_norm", "lr")
    events: ClassVar[tuple[str, ...]] = ("exception", "warning")

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """The surest sign only."""
        if (said := self._in_messages(view)) is not None:
            yield said
            return
        if self._rate_is_zero(view) or _skips_steps(view):
            return
        found = self._left_out(view) or self._cut_off(view) or self._in_curves(view)
        if found is not None:
            yield found

    @staticmethod
    def _rate_is_zero(view: RunView) -> bool:
        rate = view.curve("lr")
        if rate is None or len(rate) == 0:
            return False
        # A schedule that has run out stops everything, and is another finding.
        peak = float(np.nanmax(rate.bins[4], initial=0.0))
        return not median(rate.y[-32:]) > 1e-4 * peak

    def _in_messages(self, view: RunView) -> Finding | None:
        now = learning(view)
        for placed in view.events_of(EventKind.EXCEPTION, EventKind.ERROR, EventKind.WARNING):
            is_empty = _EMPTY.search(placed.event.title) or _EMPTY.search(placed.event.message)
            said = is_empty or _NO_INPUT.search(placed.text)
            if not said:
                continue
            if is_empty:
                severity, raw = Severity.CRITICAL, 0.95
            else:
                # Harmless where only the inputs of a checkpointed block need no gradient.
                is_stuck = now is not None and now.is_flat and len(now.curve) >= 30
                severity, raw = (Severity.WARNING, 0.7) if is_stuck else (Severity.INFO, 0.4)
            return Finding(
                id=self.id,
                title=f"parameters get no gradient: {placed.event.title[:120]}",
                severity=severity,
                confidence=finding_confidence(Basis.OBSERVATION, raw),
                basis=Basis.OBSERVATION,
                evidence=(placed.evidence(),),
                first_step=placed.event.step,
                details={"by": "message"},
            )
        return None

    def _left_out(self, view: RunView) -> Finding | None:
        """A probe knows what the optimizer holds."""
        found = left_out_layers(view)
        if found is None:
            return None
        now = learning(view)
        has_learned = now is not None and now.is_better
        # A head on fixed features is often trained so; with requires_grad off it would be clear.
        is_meant = is_fine_tuning(view) or (found.is_all_but_the_end and has_learned)
        is_meant = is_meant or not found.is_reached
        count = len(found.layers)
        which = f"layer {found.names}" if count == 1 else f"{count} of {found.of} layers"
        listed = "" if count == 1 else f" ({found.names})"
        is_, its, it = ("is", "its", "it") if count == 1 else ("are", "their", "them")
        with_ = (
            f"but {its} gradients are computed"
            if found.is_reached
            else f"and no gradient reaches {it}, as where a part runs under no_grad()"
        )
        still = (
            f": {its} weights are the same in all {found.records} records" if found.records else ""
        )
        return Finding(
            id=self.id,
            title=f"{which}{listed} {is_} not in the optimizer {with_}{still}",
            severity=Severity.INFO if is_meant else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95 if found.records else 0.8),
            basis=Basis.OBSERVATION,
            evidence=found.evidence,
            first_step=1.0,
            details={"by": "optimizer", "count": float(count), "layer": found.names},
        )

    def _cut_off(self, view: RunView) -> Finding | None:
        """A probe knows which layers want a gradient and get none."""
        found = cut_off_layers(view)
        if found is None:
            return None
        # Layers before a dead or saturated one get exact zeros; that is the other finding.
        is_blocked = is_dead(view) or bool(recorded_shares(view, "act_saturated", 0.9))
        is_known = is_blocked or is_fine_tuning(view) or not found.is_used
        count = len(found.layers)
        which = f"layer {found.names} is" if count == 1 else f"{count} of {found.of} layers are"
        listed = "" if count == 1 else f" ({found.names})"
        get = "gets" if count == 1 else "get"
        why = "" if is_blocked else f": {found.reason}"
        last = len(found.curve) - 1
        return Finding(
            id=self.id,
            title=f"{which} in the optimizer but {get} no gradient{listed}"
            f"{since(found.curve, found.first)}{why}",
            severity=Severity.INFO if is_known else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(found.curve.evidence(found.first, last),),
            first_step=found.curve.step(found.first),
            details={"by": "layers", "count": float(count), "layer": found.names},
        )

    def _in_curves(self, view: RunView) -> Finding | None:
        looks = (still_updates, still_evaluations, still_layers, still_weights, still_norm)
        still = next((sign for look in looks if (sign := look(view)) is not None), None)
        if still is None:
            return None
        return Finding(
            id=self.id,
            title=still.title,
            severity=still.severity,
            confidence=finding_confidence(Basis.OBSERVATION, still.raw),
            basis=Basis.OBSERVATION,
            evidence=still.evidence,
            first_step=still.curve.step(still.first),
            details=still.details,
        )


def _skips_steps(view: RunView) -> bool:
    """Steps that a loss scaler skips change nothing either; that is another finding."""
    scale, norm = view.curve("loss_scale"), gradient_norm(view)
    if scale is not None and fall_of_series(scale) is not None:
        return True
    return norm is not None and len(norm) > 0 and not np.isfinite(norm.y[-3:]).any()
