"""nan_weights: the model's weights are no longer numbers.

What it sees: a NaN or Inf in a logged norm of weights or parameters that stays; messages that say
    that a weight or parameter is not finite.
Why it matters: nothing computed with such weights means anything, and every checkpoint from then
    on holds them.
Fires on:
    param_norm: 25>26*50 nan*20 ; train/loss: 2>1~0.02*51 nan*19
    log: Detected nan in weight layer3.weight, stopping
Stays quiet:
    param_norm: 25>26*70 ; train/loss: 2>1~0.02*70
    param_norm: 25>26*50 nan 26>27*20 ; train/loss: 2>1~0.02*71
Try next: go back to the last checkpoint whose tensors are all finite; find out what made the
    gradient infinite at the step before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.recording import first_bad
from ..core.registry import analyzer
from ..core.view import RunView
from .calm import calmly
from .layers import weight_layers

_SAID = re.compile(
    r"\bnan in summary histogram\b|"
    r"\b(?:nan|inf|non-?finite)s?\b(?: values?| or inf| or nan)?(?: \w+){0,2}? "
    r"(?:model )?(?:weights?|param(?:eter)?s?)\b|"
    r"\b(?:weights?|param(?:eter)?s?)\b[^.\n]{0,40}\b(?:is|are|became|contains?|has|have) "
    r"(?:nan|inf|non-?finite)",
    re.IGNORECASE,
)


@analyzer
@dataclass(frozen=True, slots=True)
class NanWeights:
    """Look at the logged sizes of weights, then at what the log says."""

    id: ClassVar[str] = "nan_weights"
    roles: ClassVar[tuple[str, ...]] = ("param_norm",)
    events: ClassVar[tuple[str, ...]] = ("nan", "exception", "error")

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """One finding, the earliest."""
        # Layers first: of several at the same step, one that has a name says more.
        curves = [*(layer.curve for layer in weight_layers(view)), *view.curves("param_norm")]
        found = [(curve, at) for curve in curves if (at := _lasting_from(curve)) is not None]
        if found:
            curve, at = min(found, key=lambda pair: pair[0].step(pair[1]))
            bad = first_bad(view, by=curve.step(at))
            began = f"; it began {bad.where}" if bad is not None else ""
            yield Finding(
                id=self.id,
                title=f"{curve.name} is {curve.y[at]:g} from {curve.axis_name} "
                f"{curve.step(at):.10g} on: the weights are not finite{began}",
                severity=Severity.CRITICAL,
                confidence=finding_confidence(Basis.OBSERVATION, 0.95),
                basis=Basis.OBSERVATION,
                evidence=(
                    curve.evidence(at, len(curve) - 1),
                    *((bad.evidence,) if bad is not None else ()),
                ),
                first_step=curve.step(at),
            )
            return
        for placed in view.events_of(EventKind.NAN, EventKind.EXCEPTION, EventKind.ERROR):
            said = _SAID.search(placed.event.title) or _SAID.search(placed.event.message)
            if said is not None:
                yield Finding(
                    id=self.id,
                    title="the log reports weights that are not finite: "
                    f"{placed.event.title[:120]}",
                    severity=Severity.CRITICAL,
                    confidence=finding_confidence(Basis.OBSERVATION, 0.9),
                    basis=Basis.OBSERVATION,
                    evidence=(placed.evidence(),),
                    first_step=placed.event.step,
                )
                return


def _lasting_from(curve: Curve) -> int | None:
    """Where the values stop being finite for good; a value never reported does not count."""
    good = np.flatnonzero(np.isfinite(curve.y))
    if len(good) == 0 or len(curve) - 1 - int(good[-1]) < 2:
        return None
    return int(good[-1]) + 1
