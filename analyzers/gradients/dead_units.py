"""dead_units: most units pass no signal on, so most gradients are exactly zero.

What it sees: a logged share of dead units, of exact zeros in the gradient or of zero activations
    that stays at 0.7 or above; for zeros, which sparse embeddings have too, only while the loss
    does not fall, or where no activation at all is left. A probe counts the dead units of each
    ReLU: the first layer that has mostly such units is named. Without any measurement: a flat
    loss with tiny gradients in a ReLU network, as information.
Why it matters: a ReLU that is never active gets no gradient and never comes back; the rest of the
    network learns alone, or only the last bias learns.
Fires on:
    dead_relu_fraction: 1*10 ; train/loss: 2.3~0.01*100
    dead: 1*100 ; train/loss: 1.79~0.01*100
    zero_grad_frac: 0.3>0.95*30 0.97~0.005*70 ; train/loss: 2.3~0.01*100
    act_zero: 1*60 ; train/loss: 37>0.09*20 0.085~0.004*40
    relu0_zero: 0.5*60 ; relu1_zero: 0.6*60 ; relu2_zero: 1*60 ; train/loss: 2.3~0.01*60
    dead_frac: 0.3~0.02*50 1*50 ; train/loss: 2.6>1~0.05*50 3.5~0.1*50
    probe act_dead/relu2: 0.1*5 1*15 ; probe act_dead/relu1: 0.1*20 ; train/loss: 2.3~0.01*100
Stays quiet:
    dead: 3*100 ; train/loss: 1.79~0.01*100
    probe act_dead/relu2: 0.4*20 ; probe act_zero/relu2: 0.6*20 ; train/loss: 2.3>0.4~0.02*100
    relu0_zero: 0.5*60 ; relu1_zero: 0.6*60 ; relu2_zero: 1*60 ; train/loss: 2.3>0.4~0.02*60
    act_zero: 0.9995~0.0001*60 ; train/loss: 37>0.09*20 0.085~0.004*40
    zero_grad_frac: 0.5~0.03*100 ; train/loss: 2.3>0.4~0.02*100
    zero_grad_frac: 0.9~0.02*100 ; train/loss: 5>1.2~0.02*100
    train/loss: 2.3>0.4~0.02*100 ; config: activation=relu
Try next: biases of 0 and He initialisation; a third of the learning rate; LeakyReLU or GELU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .calm import calmly, median
from .layers import gradient_norm
from .learning import Learning, effect_on_loss, learning
from .recorded_units import UnitShare, dead_layers
from .shares import Share, measured


@analyzer
@dataclass(frozen=True, slots=True)
class DeadUnits:
    """Judge the measured shares, or say that it may be so."""

    id: ClassVar[str] = "dead_units"
    roles: ClassVar[tuple[str, ...]] = ("train/loss", "grad_norm")
    events: ClassVar[tuple[str, ...]] = ()
    extreme_share: float = 0.95
    """Share of zeros that is wrong even if something is still learned."""
    least_share: float = 0.7
    """Healthy networks reach a little over one half."""

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """Dead units by name, then zeros, then a guess."""
        now = learning(view)
        dead = dead_layers(view, self.least_share)
        if dead:
            yield self._recorded(dead, now)
            return
        for kind in ("dead_units", "zero_gradients", "zero_activations"):
            found = self._measured(view, kind, now)
            if found is not None:
                yield found
                return
        guess = self._guessed(view, now)
        if guess is not None:
            yield guess

    def _recorded(self, dead: list[UnitShare], now: Learning | None) -> Finding:
        """The first dead layer: those behind it get nothing, and die of that."""
        worst = next((share for share in dead if share.level >= self.extreme_share), dead[0])
        curve, level = worst.curve, worst.level
        more = f", {len(dead) - 1} more layers like it" if len(dead) > 1 else ""
        since = f" since {curve.axis_name} {curve.step(worst.first):.10g}" if worst.first else ""
        # Without a loss nobody knows whether the rest of the network makes up for it.
        severity = self._severity(now, level, is_named=True)
        if level >= self.extreme_share and severity is Severity.INFO:
            is_unharmed = now is not None and now.is_better
            severity = Severity.INFO if is_unharmed else Severity.WARNING
        return Finding(
            id=self.id,
            title=f"{level:.0%} of the units of layer {worst.layer} are dead{since}{more}",
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95 if level >= 0.9 else 0.8),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(worst.first, len(curve) - 1),
                *([now.curve.evidence(0, len(now.curve) - 1)] if now else []),
            ),
            first_step=curve.step(worst.first),
            details={
                "share": level,
                "kind": "dead_units",
                "after": float(worst.first),
                "layer": worst.layer,
            },
        )

    def _measured(self, view: RunView, kind: str, now: Learning | None) -> Finding | None:
        shares = [(share, share.level()) for share in measured(view, kind)]
        known = [(share, level) for share, level in shares if np.isfinite(level)]
        if not known:
            return None
        middle = median(np.array([level for _, level in known]))
        silent = [share for share, _ in known if kind == "zero_activations" and _is_silent(share)]
        if silent and (middle >= self.least_share or (now is not None and now.is_flat)):
            # However few units a sparse code uses, it uses some.
            return self._report(silent[0], 1.0, kind, Severity.WARNING, now)
        if middle < self.least_share:
            return None
        share, level = next(pair for pair in known if pair[1] >= self.least_share)
        is_named = kind == "dead_units"
        # Sparse embeddings have mostly zeros by right, but not nearly all in all tensors.
        is_extreme = middle >= self.extreme_share and now is not None and now.last > 0.5 * now.first
        if not is_named and (now is None or not (now.is_flat or is_extreme)):
            return None
        if is_extreme and not is_named and (view.settings.number("vocab_size") or 0) < 5000:
            return self._report(share, level, kind, Severity.WARNING, now)
        severity = self._severity(now, level, is_named=is_named)
        if is_named and level >= self.extreme_share and self._did_harm(view, share):
            severity = Severity.CRITICAL
        return self._report(share, level, kind, severity, now)

    def _did_harm(self, view: RunView, share: Share) -> bool:
        """The loss rose when they died, and stays up."""
        first = self._onset(share)
        if first == 0:
            return False
        died = share.curve.step(first)
        effect = effect_on_loss(view, died, died)
        return effect is not None and effect.stays_up

    @staticmethod
    def _severity(now: Learning | None, level: float, *, is_named: bool) -> Severity:
        if now is None or now.has_learned:
            return Severity.INFO
        if now.is_flat and level >= 0.95 and is_named:
            return Severity.CRITICAL
        return Severity.WARNING if now.is_flat else Severity.INFO

    def _report(
        self, share: Share, level: float, kind: str, severity: Severity, now: Learning | None
    ) -> Finding:
        what = {
            "dead_units": "of the units are dead",
            "zero_gradients": "of the gradient is exactly 0",
            "zero_activations": "of the activations are 0",
        }[kind]
        curve = share.curve
        first = self._onset(share)
        seen = now is not None and severity is not Severity.INFO
        while_ = f" while {now.curve.name} stays at {now.last:.4g}" if now and seen else ""
        return Finding(
            id=self.id,
            title=f"{level:.0%} {what} ({curve.name}){while_}",
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85 if level >= 0.9 else 0.75),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(first, len(curve) - 1),
                *([now.curve.evidence(0, len(now.curve) - 1)] if now else []),
            ),
            first_step=curve.step(first),
            details={"share": level, "kind": kind, "after": float(first)},
        )

    def _onset(self, share: Share) -> int:
        """From where on it stays high."""
        below = np.flatnonzero(share.values < self.least_share)
        return min(int(below[-1]) + 1, len(share.curve) - 1) if len(below) else 0

    def _guessed(self, view: RunView, now: Learning | None) -> Finding | None:
        activation = view.settings.get("activation")
        norm = gradient_norm(view)
        if activation is None or norm is None or now is None or view.facts.grad_norm_flaw:
            return None
        if "relu" not in activation.text or "leaky" in activation.text or not now.is_flat:
            return None
        tail = norm.y[-max(8, len(norm) // 3) :][-4096:]
        level = median(tail)
        if len(norm) < 20 or not 0 <= level < 1e-4 * abs(now.last):
            return None
        return Finding(
            id=self.id,
            title=f"{norm.name} is only {level:.2g} in a ReLU network and {now.curve.name} stays "
            f"at {now.last:.4g}: units may be dead",
            severity=Severity.INFO,
            confidence=finding_confidence(Basis.INFERENCE, 0.4),
            basis=Basis.INFERENCE,
            evidence=(norm.evidence(0, len(norm) - 1), activation.evidence),
            first_step=norm.step(0),
            details={"share": 0.0, "kind": "guess"},
        )


def _is_silent(share: Share) -> bool:
    """Not one activation over the second half of the run: only what comes after them learns."""
    values = share.values[len(share.values) // 2 :]
    return len(values) >= _LONG and bool(np.all(values == 1.0))


_LONG = 10
