"""frozen_layers: parameters that should learn do not change.

What it sees: a validation loss that is identical to six digits over three evaluations or more
    while the training loss jitters; an update-to-weight ratio of 0; layers whose gradient is
    exactly 0 while others get one; messages about empty parameter lists or tensors without
    gradient; layers that a probe saw to get gradients, to be in no optimizer and not to move, or
    to be in the optimizer and to get none. Constant values printed with few digits, a learning
    rate of 0, and layers that are frozen on purpose (requires_grad off, adapters) do not count;
    a part without gradients that no optimizer holds is information.
Why it matters: the optimizer works on nothing (built before the model was replaced, wrong
    parameters, requires_grad off), so all further steps are wasted.
Fires on:
    val/loss: 2.302513*8 ; train/loss: 2.3~0.02*200
    update_ratio: 0*50 ; train/loss: 2.3~0.02*50 ; lr: 0.001
    log: ValueError: optimizer got an empty parameter list
    grad/fc1: 0.2~0.02*40 0*40 ; grad/fc3: 0.3~0.02*80 ; train/loss: 0.7>0.2~0.01*40 0.69~0.01*40
Stays quiet:
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
from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Finding, Severity
from ..core.recording import LayerCurve
from ..core.registry import analyzer
from ..core.view import RunView
from ..loss.outcomes import is_fine_tuning, peak_rate
from .calm import calmly, median
from .cut_off import cut_off_layers
from .layers import gradient_layers, gradient_norm, without_embeddings
from .learning import effect_on_loss, learning
from .left_out import left_out_layers
from .recorded_units import dead_layers, recorded_shares
from .scales import fall_of_series
from .shares import measured

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
    least_evaluations: int = 3
    least_digits: int = 5
    """Significant digits without which equal values say little."""
    least_rate: float = 1e-6
    """Learning rate below which four digits do not show what moves."""

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """The surest sign only."""
        if (said := self._in_messages(view)) is not None:
            yield said
            return
        if self._rate_is_zero(view) or _skips_steps(view):
            return
        looks = (
            self._left_out,
            self._cut_off,
            self._updates,
            self._evaluations,
            self._layers,
            self._norm,
        )
        for look in looks:
            found = look(view)
            if found is not None:
                yield found
                return

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
        is_blocked = _is_dead(view) or bool(recorded_shares(view, "act_saturated", 0.9))
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
            f"{_since(found.curve, found.first)}{why}",
            severity=Severity.INFO if is_known else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(found.curve.evidence(found.first, last),),
            first_step=found.curve.step(found.first),
            details={"by": "layers", "count": float(count), "layer": found.names},
        )

    def _updates(self, view: RunView) -> Finding | None:
        shares = measured(view, "update_ratio")
        for share in shares:
            tail = share.curve.y[-max(10, len(share.curve) // 2) :][-4096:]
            tail = tail[np.isfinite(tail)]
            # A probe measures what little a tiny rate does; a log prints it as good as 0.
            is_exact = view.run.files[share.curve.series.file].format == "probe"
            least = np.nextafter(0.0, 1.0) if is_exact else 1e-8
            if len(tail) < 10 or np.mean(np.abs(tail) < least) < 0.9:
                continue
            is_whole = share is shares[0]
            moving = np.flatnonzero(np.abs(share.curve.y) >= least)
            first = min(int(moving[-1]) + 1, len(share.curve) - 1) if len(moving) else 0
            return self._report(
                share.curve,
                first,
                f"{share.curve.name} is {median(tail):.2g}: the weights do not change",
                Severity.CRITICAL if is_whole else Severity.WARNING,
                0.9,
                {"by": "updates"},
            )
        return None

    def _evaluations(self, view: RunView) -> Finding | None:
        curve, train = view.curve("val/loss"), view.curve("train/loss")
        if curve is None or train is None or len(curve) < self.least_evaluations:
            return None
        last = float(curve.y[-1])
        if not np.isfinite(last) or last == 0.0:
            return None
        if np.any(np.abs(curve.y[-self.least_evaluations :] - last) > 1e-6 * abs(last)):
            return None
        same = np.abs(curve.y - last) <= 1e-6 * abs(last)
        other = np.flatnonzero(~same)
        first = int(other[-1]) + 1 if len(other) else 0
        count = len(curve) - first
        digits = _digits(last)
        is_fine = digits >= self.least_digits
        if count < (self.least_evaluations if is_fine else 6) or digits < 4:
            return None
        if first > 1 and _creeps(curve.y[:first], last):
            return None
        rate = peak_rate(view)
        if not is_fine and rate is not None and rate < self.least_rate:
            return None
        jitter = train.y[np.searchsorted(train.x, curve.x[first]) :]
        jitter = jitter[np.isfinite(jitter)][-4096:]
        if len(jitter) < 3 or np.ptp(jitter) <= 1e-4 * abs(last):
            return None
        # At the end of a decay nothing moves any more, as planned.
        if view.facts.is_decayed and count < 0.5 * len(curve):
            return None
        if count < 2 * _longest_shown(curve.y[:first]):
            return None
        return self._report(
            curve,
            first,
            f"{curve.name} is {last:.7g} in {count} evaluations in a row while {train.name} varies "
            f"by {np.ptp(jitter):.2g}: the parameters do not change",
            Severity.CRITICAL if is_fine and first == 0 else Severity.WARNING,
            0.93 if is_fine else 0.6,
            {"by": "evaluations", "count": float(count)},
        )

    def _layers(self, view: RunView) -> Finding | None:
        layers = without_embeddings(gradient_layers(view))
        if layers and layers[0].curve.series.layer:
            return None  # recorded, and judged with what the recording knows besides
        still: list[LayerCurve] = []
        moving: list[LayerCurve] = []
        for layer in layers:
            tail = layer.curve.y[-min(4096, max(5, len(layer.curve) // 4)) :]
            tail = tail[np.isfinite(tail)]
            if len(tail) >= 5:
                (still if np.mean(tail == 0.0) > 0.9 else moving).append(layer)
        if not still or not moving:
            return None
        now = learning(view)
        is_flat = now is not None and now.is_flat and len(now.curve) >= 30
        curve = still[0].curve
        first = _stopped(curve)
        is_harmful = is_flat or (first > 0 and _rose(view, curve.step(first)))
        return self._report(
            curve,
            first,
            f"{len(still)} of {len(still) + len(moving)} layers get a gradient of exactly 0"
            f"{_since(curve, first)}, {curve.name} among them",
            Severity.WARNING
            if self._is_unwanted(view, still, is_flat=is_harmful)
            else Severity.INFO,
            0.75,
            {
                "by": "layers",
                "count": float(len(still)),
                "after": float(first),
                # All behind some layer are reached, none before it.
                "is_blocked": float([*still, *moving] == layers),
                "is_flat": float(is_flat),
            },
            beside=moving[-1].curve,
        )

    @staticmethod
    def _is_unwanted(view: RunView, still: list[LayerCurve], *, is_flat: bool) -> bool:
        """Fine-tuning freezes on purpose, and says so; a training from scratch does not."""
        if _is_dead(view):
            return False
        always = all(np.all(layer.curve.y[:4096] == 0.0) for layer in still)
        known = learning(view)
        is_poor = known is not None and known.last > 0.4 * known.first
        is_from_scratch = bool(view.settings) or is_poor
        return is_flat or (always and is_from_scratch and not is_fine_tuning(view))

    def _norm(self, view: RunView) -> Finding | None:
        """A norm of 0 throughout may be a matter of digits: information only."""
        curve, now = gradient_norm(view), learning(view)
        if curve is None or now is None or view.facts.grad_norm_flaw or not now.is_flat:
            return None
        if len(curve) < 10 or np.any(curve.y[-4096:] != 0.0):
            return None
        return self._report(
            curve,
            0,
            f"{curve.name} is 0 at all {len(curve)} points and {now.curve.name} does not fall",
            Severity.INFO,
            0.5,
            {"by": "norm"},
        )

    def _report(
        self,
        curve: Curve,
        first: int,
        title: str,
        severity: Severity,
        raw: float,
        details: dict[str, float | str],
        *,
        beside: Curve | None = None,
    ) -> Finding:
        moves = (beside.evidence(0, len(beside) - 1),) if beside is not None else ()
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, raw),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(first, len(curve) - 1), *moves),
            first_step=curve.step(first),
            details=details,
        )


def _longest_shown(values: Floats) -> int:
    """How often a value was logged again before it changed: lines may show the last one."""
    changes = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan) != 0.0)
    lengths = np.diff(changes)
    return int(lengths.max()) if len(lengths) and np.median(lengths) > 1 else 0


def _stopped(curve: Curve) -> int:
    """From which point on a gradient is 0; the last few values outside do not count."""
    alive = np.flatnonzero(curve.y != 0.0)
    if len(alive) == 0 or len(alive) <= 0.1 * len(curve):
        return 0
    return min(int(alive[-1]) + 1, len(curve) - 1)


def _rose(view: RunView, step: float) -> bool:
    effect = effect_on_loss(view, step, step)
    return effect is not None and effect.stays_up


def _since(curve: Curve, first: int) -> str:
    return f" since {curve.axis_name} {curve.step(first):.10g}" if first else ""


def _skips_steps(view: RunView) -> bool:
    """Steps that a loss scaler skips change nothing either; that is another finding."""
    scale, norm = view.curve("loss_scale"), gradient_norm(view)
    if scale is not None and fall_of_series(scale) is not None:
        return True
    return norm is not None and len(norm) > 0 and not np.isfinite(norm.y[-3:]).any()


def _is_dead(view: RunView) -> bool:
    """Units that are never active leave the layers before them without gradient."""
    kinds = ("dead_units", "zero_gradients")
    return bool(dead_layers(view, 0.7)) or any(
        share.level() >= 0.7 for kind in kinds for share in measured(view, kind)
    )


def _digits(value: float) -> int:
    """Significant digits with which a value was written."""
    written = f"{abs(value):.12g}".partition("e")[0].replace(".", "").strip("0")
    return len(written)


def _creeps(before: Floats, last: float) -> bool:
    """It moved by hardly more before: what is too little to tell from rounding is not frozen."""
    moves = np.abs(np.diff(np.append(before, last)))
    return float(np.median(moves)) < 1e-5 * abs(last)
