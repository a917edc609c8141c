"""exploding_gradients: the gradient norm climbs to many times its usual size.

What it sees: a norm of at least ten times the median of the 128 points before it, sustained over
    three points or doubling on three points in a row, or one that grows thirtyfold over the run,
    while the loss gets worse; or one that begins ten times too large beside a loss far above
    that of a guess, or beside outputs that a probe saw to grow with every layer; or one that is
    huge throughout, for itself and beside the loss. A norm that is
    logged multiplied by the loss scale is divided first. With a probe, the layer is named.
Why it matters: updates of that size throw away what was learned; the next step is often NaN. The
    climb usually shows a few steps before the loss moves.
Fires on:
    grad_norm: 0.5~0.05*100 0.9 2 6 20 80 300 900 5000*7 ; train/loss: 2>1~0.02*100 1 1 2 5 9*10
    grad_norm: 0.5~0.05*60 2 8 40 200 nan*6 ; train/loss: 2>1~0.02*60 1 1.5 3 8 nan*6
    grad_norm: 9e5>4e4~100*20 4e4>4e3~99*80 ; train/loss: 9e4>600*20 600>190~9*80
Stays quiet:
    grad_norm: 9e3>200~20*100 ; train/loss: 9e5>2e3~99*100
    grad_norm: 0.5~0.05*100 0.6~0.05*100 ; train/loss: 2>1~0.02*200
    grad_norm: 0.1~0.02*10 0.2>4~0.2*60 ; train/loss: 0.69~0.005*10 0.68>0.24~0.03*60
    grad_norm: 0.01~0.001*40 0.1 0.2~0.02*60 ; train/loss: 2.3~0.01*40 2.0 1.5>0.5~0.02*60
Try next: clip the norm at the 90th percentile of its usual values; divide the learning rate by
    three; read the batches of the steps where the climb begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.excursions import SETTLES
from ..core.finding import Basis, Evidence, Finding, Severity, times
from ..core.registry import analyzer
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .calm import calmly, median
from .climbs import Climb, climbs
from .explosion import site_of, wild_start
from .layers import gradient_norm
from .learning import Effect, effect_on_loss, learning


@analyzer
@dataclass(frozen=True, slots=True)
class ExplodingGradients:
    """Report the first explosion that counts, and single outliers as information."""

    id: ClassVar[str] = "exploding_gradients"
    roles: ClassVar[tuple[str, ...]] = ("grad_norm", "train/loss", "loss_scale")
    events: ClassVar[tuple[str, ...]] = ()
    least_factor: float = 10.0
    huge: float = 40.0
    """A norm that healthy trainings do not keep up,"""
    huge_beside: float = 5.0
    """and how many times the loss it must be."""
    least_growth: float = 30.0
    """Growth over the whole run that counts without a jump."""
    least_lost: float = 0.2
    """Share of what the loss had won that must be gone where the norm grows without a jump."""
    least_steady_growth: float = 6.0
    """The same where it hardly ever turns back."""

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """Judge each climb of the norm by what the loss did."""
        curve = gradient_norm(view)
        if curve is None or view.facts.grad_norm_flaw:
            return
        found = [climb for climb in climbs(view, curve) if climb.factor >= self.least_factor]
        judged = [(climb, self._severity(view, curve, climb)) for climb in found]
        noted = [(climb, severity) for climb, severity in judged if severity is not None]
        alarms = [(climb, severity) for climb, severity in noted if severity is not Severity.INFO]
        if alarms:
            climb, severity = max(alarms, key=lambda pair: (pair[1].rank, -pair[0].start))
            yield self._report(view, curve, climb, severity, len(alarms))
            return
        grown = (
            self._growth(view, curve)
            or self._from_the_start(view, curve)
            or self._through_layers(view)
            or self._throughout(view, curve)
        )
        if grown is not None:
            yield grown
            return
        if noted:
            largest = max((climb for climb, _ in noted), key=lambda climb: climb.factor)
            yield self._report(view, curve, largest, Severity.INFO, len(noted))

    def _severity(self, view: RunView, curve: Curve, climb: Climb) -> Severity | None:
        """None where the loss shows that larger gradients were good ones."""
        effect = effect_on_loss(view, curve.step(climb.start), curve.step(climb.stop))
        if effect is None:
            return Severity.WARNING if climb.is_sustained else Severity.INFO
        if effect.is_broken:
            return Severity.CRITICAL
        if not view.facts.is_monotone or view.facts.is_cyclic:
            return Severity.INFO
        if not effect.rose:
            return None
        if _is_planned(view, curve, climb):
            return Severity.INFO
        if climb.is_sustained:
            return self._lasting(view, effect)
        return Severity.WARNING if effect.stays_up else Severity.INFO

    @staticmethod
    def _lasting(view: RunView, effect: Effect) -> Severity:
        now = learning(view)
        is_lost = now is not None and effect.stays_up and now.last >= now.first > 0
        return Severity.CRITICAL if is_lost else Severity.WARNING

    def _report(
        self, view: RunView, curve: Curve, climb: Climb, severity: Severity, count: int
    ) -> Finding:
        unit = " (divided by the loss scale)" if view.facts.is_grad_norm_scaled else ""
        more = f", {count - 1} more like it" if count > 1 else ""
        site = site_of(view, curve.step(climb.start), curve.step(climb.stop))
        title = (
            f"{curve.name}{unit} rose from {climb.baseline:.3g} to {climb.peak:.3g} "
            f"({times(climb.factor)}) from {curve.axis_name} {curve.step(climb.start):.10g} on"
            f"{site.text if site else ''}{more}"
        )
        evidence: list[Evidence] = [curve.evidence(climb.start, climb.peak_at)]
        if site is not None:
            evidence.append(site.evidence)
        loss = view.curve("train/loss")
        if severity is not Severity.INFO and loss is not None:
            at = min(int(np.searchsorted(loss.x, curve.step(climb.start))), len(loss) - 1)
            end = min(int(np.searchsorted(loss.x, curve.step(climb.stop))), len(loss) - 1)
            evidence.append(loss.evidence(max(0, at - 1), end))
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.82 if climb.is_sustained else 0.7),
            basis=Basis.OBSERVATION,
            evidence=(*evidence, *view.facts.remarks(curve)),
            first_step=curve.step(climb.start),
            last_step=None if climb.end is None else curve.step(climb.end),
            details={"factor": climb.factor, "points": climb.over, "peak": climb.peak},
        )

    def _from_the_start(self, view: RunView, curve: Curve) -> Finding | None:
        """Huge gradients of a loss far beyond that of a guess, before anything was learned."""
        now = learning(view)
        if now is None or now.chance is None or len(curve) < 20 or now.is_broken:
            return None
        first, last = median(curve.y[:5]), median(curve.y[-max(8, len(curve) // 10) :])
        if not (now.first > 3 * now.chance and now.last < 1.5 * now.chance):
            return None
        if not first > self.least_factor * last > 0:
            return None
        return Finding(
            id=self.id,
            title=f"{curve.name} begins at {first:.3g}, {times(first / last)} what it becomes, and "
            f"{now.curve.name} at {now.first:.4g}, {now.first / now.chance:.2g}x that of a guess",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.75),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(0, len(curve) - 1), now.curve.evidence(0)),
            first_step=curve.step(0),
            details={"factor": first / last, "from_start": 1.0},
        )

    def _throughout(self, view: RunView, curve: Curve) -> Finding | None:
        """Huge at all times, also beside the loss: a sum over samples makes both large."""
        now = learning(view)
        if now is None or now.is_broken or len(curve) < 20 or view.facts.is_grad_norm_scaled:
            return None
        if view.curve("loss_scale") is not None or not now.last > 0:
            return None
        means = curve.bins[2]
        early, late = median(means[: max(1, len(means) // 4)]), median(means[len(means) // 2 :])
        is_huge = min(early, late) >= self.huge
        if not is_huge or late < self.huge_beside * now.last or early < late:
            return None
        return Finding(
            id=self.id,
            title=f"{curve.name} is {early:.3g} in the first quarter and still {late:.3g}, "
            f"{times(late / now.last)} {now.curve.name}: usual are a few units",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.65),
            basis=Basis.RESEARCH,
            evidence=(
                curve.evidence(0, len(curve) - 1),
                now.curve.evidence(0, len(now.curve) - 1),
            ),
            first_step=curve.step(0),
            details={"factor": early / late, "from_start": 1.0},
        )

    def _through_layers(self, view: RunView) -> Finding | None:
        """Every layer multiplies what it gets: the scale of the initial weights."""
        wild = wild_start(view)
        if wild is None:
            return None
        first, last = wild.layers
        site = site_of(view, wild.norm.step(0), wild.norm.step(0))
        return Finding(
            id=self.id,
            title=f"outputs grow {times(wild.per_layer)} per layer, from {wild.first.y[0]:.3g} in "
            f"layer {first} to {wild.last.y[0]:.3g} in {last}, and {wild.norm.name} begins at "
            f"{wild.begins:.3g}{site.text if site else ''}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.85),
            basis=Basis.OBSERVATION,
            evidence=(wild.last.evidence(0), wild.first.evidence(0), wild.norm.evidence(0)),
            first_step=wild.norm.step(0),
            details={
                "factor": wild.begins / wild.becomes if wild.becomes > 0 else np.inf,
                "from_start": 1.0,
                "per_layer": wild.per_layer,
            },
        )

    def _growth(self, view: RunView, curve: Curve) -> Finding | None:
        """A norm that grows too steadily for a jump, or too early to have had a usual size."""
        now = learning(view)
        if len(curve) < 8 or now is None or view.facts.is_cyclic or view.facts.is_grad_norm_scaled:
            return None
        first = median(curve.y[:3])
        finite = np.flatnonzero(np.isfinite(curve.y))
        if len(finite) < 6 or not first > 0:
            return None
        last = median(curve.y[finite[-max(5, len(finite) // 10) :]])
        _, _, mean, _, _, counts = curve.bins
        is_steady = rank_correlation(mean[counts > 0]) > 0.9 and curve.flips < 0.5
        # The best of many noisy values is always a little better than the last ones.
        lost = now.last - max(now.best, 0.0)
        is_worse = now.is_broken or (
            now.first > 0 and lost > max(0.1 * max(now.best, 0.0), self.least_lost * now.fall)
        )
        # Gradients that only ever add up do so whatever the loss does.
        is_bad = is_worse or now.is_flat or (is_steady and now.last > 0.6 * now.first)
        needed = self.least_steady_growth if is_steady else self.least_growth
        if not is_bad or not last >= needed * first:
            return None
        over = np.flatnonzero(curve.y > 4.0 * first)
        start = int(over[0]) if len(over) else 0
        title = f"{curve.name} grew from {first:.3g} to {last:.3g} ({times(last / first)})"
        course = f" while {now.curve.name} got worse" if is_worse else ", hardly ever falling back"
        site = site_of(view, curve.step(start), curve.step(int(finite[-1])))
        return Finding(
            id=self.id,
            title=f"{title}{course}{site.text if site else ''}",
            severity=Severity.CRITICAL if now.is_broken else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.75),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(0, int(finite[-1])),
                now.curve.evidence(0, len(now.curve) - 1),
                *((site.evidence,) if site is not None else ()),
            ),
            first_step=curve.step(start),
            details={
                "factor": last / first,
                "points": SETTLES,
                "grows": 1.0,
                "steady": float(is_steady),
            },
        )


def _is_planned(view: RunView, curve: Curve, climb: Climb) -> bool:
    room = 3 * curve.spacing
    return view.facts.change_near(curve.step(climb.start), room, room) is not None
