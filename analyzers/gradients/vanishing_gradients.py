"""vanishing_gradients: so little gradient reaches the weights that they hardly learn.

What it sees: the first layers' gradient below a thousandth of the last layers', where layers are
    logged or a probe recorded them; else a total norm that is a millionth of the loss, or that
    fell by three decades, while the loss stays near where it began. Runs that have learned are
    left alone, and so are norms printed with too few digits.
Why it matters: the first layers stay as they were initialised, so depth is wasted or nothing is
    learned at all; more steps do not help.
Fires on:
    grad_norm/0: 3e-7*60 ; grad_norm/2: 2e-4*60 ; grad_norm/4: 0.3*60 ; train/loss: 1.8~0.02*60
    grad_norm: 0.3>1e-7*20 1e-7*80 ; train/loss: 2.3~0.01*100
    g_fc1: 3e-8*60 ; g_fc5: 2e-5*60 ; g_fc10: 0.3~0.05*60 ; train/loss: 2.3~0.02*60
    gn/l00: 5e-9*60 ; gn/l03: 4e-7*60 ; gn/l10: 0.3~0.05*60 ; train/loss: 2.3~0.02*60
    grad/1: 0*60 ; grad/2: 1e-6*60 ; grad/3: 5e-5*60 ; grad/4: 0.2*60 ; train/loss: 2~0.02*60
Stays quiet:
    g_real: 3e-8*60 ; g_fake: 2e-5*60 ; g_score: 0.3~0.05*60 ; train/loss: 2.3~0.02*60
    grad/fc1: 0.2~0.02*60 ; grad/fc2: 0.3~0.02*60 ; train/loss: 1.8~0.02*60
    grad_norm: 1>1e-7*100 ; train/loss: 2.3>0.0001*100
    grad_norm: 0*100 ; train/loss: 2.3>1.5~0.01*100
    grad_norm: 0.3 0.07 0.03 0.01 1e-3 2e-5*25 ; train/loss: 0.71 0.55 0.534 0.53 0.529*26
Try next: ReLU-family activations, residual connections or normalisation between layers; He or
    Xavier initialisation; in half precision, a loss scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.recording import LayerCurve
from ..core.registry import analyzer
from ..core.view import RunView
from .calm import calmly, median
from .layers import (
    gradient_layers,
    gradient_norm,
    recording_with_most,
    without_embeddings,
    without_norms,
)
from .learning import FLAT, Learning, learning

LEAST_POINTS = 5
STILL = 1e-5
"""Relative change of a layer's weights per step that leads nowhere."""


@analyzer
@dataclass(frozen=True, slots=True)
class VanishingGradients:
    """Compare first with last layers; without layers, the norm with the loss."""

    id: ClassVar[str] = "vanishing_gradients"
    roles: ClassVar[tuple[str, ...]] = ("grad_norm", "train/loss")
    events: ClassVar[tuple[str, ...]] = ()
    most_ratio: float = 1e-3
    """First to last layer; healthy models are near 1."""
    most_of_loss: float = 1e-6
    """Norm per unit of loss: a multiple of the loss multiplies both."""
    most_of_start: float = 1e-3

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """Layers first; they say where it vanishes."""
        now = learning(view)
        layers = without_norms(without_embeddings(gradient_layers(view)))
        layers = _from_first_seen(layers)
        found = self._by_layer(view, layers, now) if layers else self._by_norm(view, now)
        found = found or (self._at_first(layers, now) if layers else None)
        if found is not None:
            yield found

    def _at_first(self, layers: list[LayerCurve], now: Learning | None) -> Finding | None:
        """Hardly any gradient in the first layers for a quarter of the run, and no learning."""
        first, last = layers[0].curve, layers[-1].curve
        count = min(len(first), len(last))
        quarter = count // 4
        if quarter < LEAST_POINTS or now is None or now.has_learned or len(layers) < 3:
            return None
        low, high = median(first.y[:quarter]), median(last.y[:quarter])
        if not 0 < low < 30 * self.most_ratio * high or not first.y[0] < 1e-3 * last.y[0]:
            return None
        loss = now.curve.y[: max(4, len(now.curve) // 4)]
        if not abs(median(loss[-8:]) - now.first) < 0.03 * abs(now.first):
            return None
        return Finding(
            id=self.id,
            title=f"{first.name} begins at {first.y[0]:.2g} and is {low:.2g} in the first quarter, "
            f"{low / high:.2g} of {last.name}, while {now.curve.name} does not move",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.8),
            basis=Basis.OBSERVATION,
            evidence=(first.evidence(0, quarter), last.evidence(0, quarter)),
            first_step=first.step(0),
            details={
                "ratio": low / high,
                "layers": float(len(layers)),
                "at_first": 1.0,
                "from_zero": float(first.y[0] == 0.0),
            },
        )

    def _by_layer(
        self, view: RunView, layers: list[LayerCurve], now: Learning | None
    ) -> Finding | None:
        first, last = layers[0].curve, layers[-1].curve
        count = min(len(first), len(last))
        if count < LEAST_POINTS:
            return None
        low, high = first.y[-min(count, 4096) :], last.y[-min(count, 4096) :]
        ratios = np.where((low > 0) & (high > 0), low / high, np.nan)
        known = np.isfinite(ratios)
        if known.sum() < LEAST_POINTS:
            return None
        ratio = median(ratios)
        if not ratio < self.most_ratio or np.mean(ratios[known] < 10 * self.most_ratio) < 0.8:
            return None
        between = [median(layer.curve.y[-256:]) for layer in layers]
        falling = sum(1 for a, b in pairwise(between) if a < b)
        if falling < 0.6 * (len(between) - 1):
            return None
        title = (
            f"{first.name} is {median(low):.2g}, {ratio:.2g} of {last.name} ({median(high):.2g}), "
            f"over {len(layers)} layers{_steepest(layers, between)}"
        )
        per_layer = ratio ** (1 / (len(layers) - 1))
        severity = Severity.WARNING
        if now is None:
            severity = Severity.WARNING if _stands_still(view, layers[0]) else Severity.INFO
        elif now.has_learned:
            severity = Severity.INFO
        elif now.is_flat and len(now.curve) >= 100:
            severity = Severity.CRITICAL
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(
                first.evidence(0, len(first) - 1),
                last.evidence(0, len(last) - 1),
                *([now.curve.evidence(0, len(now.curve) - 1)] if now is not None else []),
            ),
            first_step=self._first(first.y, last.y, first.x),
            details={
                "ratio": ratio,
                "per_layer": per_layer,
                "layers": float(len(layers)),
                "layer": layers[0].layer,
            },
        )

    def _first(
        self,
        low: Floats,
        high: Floats,
        steps: Floats,
    ) -> float:
        count = min(len(low), len(high), len(steps))
        below = low[:count] < self.most_ratio * high[:count]
        return float(steps[int(np.argmax(below))]) if below.any() else float(steps[0])

    def _by_norm(self, view: RunView, now: Learning | None) -> Finding | None:
        curve = gradient_norm(view)
        if curve is None or now is None or view.facts.grad_norm_flaw or not now.is_flat:
            return None
        if len(curve) < 20 or len(now.curve) < 20 or view.facts.is_grad_norm_scaled:
            return None
        tail = curve.y[-max(8, len(curve) // 3) :][-4096:]
        level, start = median(tail), _start(curve.y)
        # A value printed as 0 may be anything below the last digit.
        if not level > 0 or not start > 0:
            return None
        is_tiny = level < self.most_of_loss * abs(now.last)
        has_fallen = level < self.most_of_start * start and level < 1e-3 * abs(now.last)
        if not (is_tiny or has_fallen):
            return None
        # What was won within the first few steps was won: a solver that is done has no gradient.
        begun = float(now.curve.y[0])
        if has_fallen and not now.is_at_chance and now.last < FLAT * begun:
            return None
        limit = max(self.most_of_loss * abs(now.last) if is_tiny else 0.0, 10 * level)
        return Finding(
            id=self.id,
            title=(
                f"{curve.name} is down to {level:.2g} while {now.curve.name} is still "
                f"{now.last:.4g} (it began at {now.first:.4g})"
            ),
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.75),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(0, len(curve) - 1, f"{start:.3g} -> {level:.3g}"),
                now.curve.evidence(0, len(now.curve) - 1),
            ),
            first_step=curve.step(int(np.argmax(curve.y < limit))),
            details={"norm": level, "fell": level / start},
        )


def _from_first_seen(layers: list[LayerCurve]) -> list[LayerCurve]:
    """Without first layers whose gradient is printed as 0, if it tapers off towards them.

    What falls by orders of magnitude from layer to layer goes on falling below the last digit.
    """
    levels = [median(layer.curve.y[-256:]) for layer in layers]
    seen = next((n for n, level in enumerate(levels) if level > 0), len(levels))
    rest = levels[seen:]
    if seen == 0 or len(rest) < 3 or not all(a < b for a, b in pairwise(rest)):
        return layers
    return layers[seen:]


def _steepest(layers: list[LayerCurve], levels: list[float]) -> str:
    """The place where most of it is lost, if it is lost in one place; only a probe knows layers."""
    if not layers[0].curve.series.layer or not min(levels) > 0:
        return ""
    falls = [float(np.log(b / a)) for a, b in pairwise(levels)]
    place = int(np.argmax(falls))
    if len(falls) < 2 or falls[place] < 0.5 * sum(falls):
        return ""
    return f", most of it lost between {layers[place].layer} and {layers[place + 1].layer}"


def _stands_still(view: RunView, first: LayerCurve) -> bool:
    """Without a loss, weights that hardly move say that the first layer learns nothing."""
    recording = recording_with_most(view, "grad_norm")
    moved = recording.of_layer("update_ratio", first.layer) if recording is not None else None
    return moved is not None and len(moved) >= LEAST_POINTS and median(moved.y) < STILL


def _start(values: Floats) -> float:
    head = values[:64]
    head = head[np.isfinite(head) & (head > 0)]
    return float(np.max(head[:5])) if len(head) else float("nan")
