"""nan_loss: the loss is not a finite number.

What it sees: NaN or infinity in a logged loss, and messages of frameworks that stop because of
    it; the letters "nan" elsewhere in the log mean nothing. A few values that come and go are
    told from a loss that stays lost. With a probe's recording, the layer in which it began.
Why it matters: from the first update with such a loss on, all weights may be NaN; nothing that
    the run does afterwards is worth anything.
Fires on:
    train/loss: 2.3>1.8~0.02*100 nan*50
    train/loss: 2.3>1.8~0.02*100 inf nan*3
    log: FloatingPointError: Loss became infinite or NaN at iteration=756!
Stays quiet:
    train/loss: 2.3>1.8~0.02*100
    log: Banana 1.2 | step_avg:nanms
Try next: replay the batch of the first bad step from the last good checkpoint with
    torch.autograd.set_detect_anomaly(True) for that step; look at grad_norm just before.
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
from ..core.finding import BROKE_AT, Basis, Evidence, Finding, Severity
from ..core.recording import first_bad
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView

_SAID = re.compile(
    r"loss (?:became|is|was|returned).{0,40}(?:nan|inf)|(?:nan|non-?finite|infinite|invalid) "
    r"(?:\w+ )?loss|loss.{0,30}contains a nan|found nan in local forward loss|loss is not finite|"
    r"non-?finite loss|monitored metric .{0,40}is not finite|"
    r"(?:training|model|loss) (?:has )?diverged|"
    r"tensor had (?:nan|inf)|\b(?:nan|inf)s? (?:detected|found|encountered) in|"
    r"invalid value \(nan\)|invalid numeric entries|"
    r"(?:tensor|scores?|boxes|outputs?|logits|predictions?|probabilit\w+|activations?|"
    r"hidden states|inputs?|values?)\b.{0,40}\bcontains?\b.{0,20}\b(?:nan|inf)|"
    r"\b(?:predictions|outputs|logits|labels) must be\b.{0,300}\[nan\]|"
    r"(?:encounter\w*|found|detected|got|became|produced) (?:an? )?`?(?:nan|inf)s?\b|"
    r"constraint .{0,80}found invalid values|the parameter \w+ has invalid values|"
    r"invalid values:[^\n]{0,20}\n?\s*tensor\(.{0,40}nan",
    re.IGNORECASE,
)
REACH = 48
"""Points before the first bad value that tell what was usual."""
LEAST_BEFORE = 12
_CLAMPED = 87.3365
"""-log(FLT_MIN): where softmax losses in single precision are clamped."""


@analyzer
@dataclass(frozen=True, slots=True)
class NanLoss:
    """Reports the first value that is not finite, and whether the loss came back."""

    id: ClassVar[str] = "nan_loss"
    roles: ClassVar[tuple[str, ...]] = ("train/loss", "val/loss")
    events: ClassVar[tuple[str, ...]] = ("nan", "exception", "error")
    lost_share: float = 0.9
    """Share of later values that are bad, from which on the loss is lost for good."""
    risen: float = 10.0
    """Times its usual level that the last number must be to have been on a rise."""
    tolerated: float = 0.01
    """Share of bad values that come and go which a run may have."""

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at the losses first, then at what the log says."""
        found = False
        for role in ("train/loss", "val/loss"):
            for curve in view.curves(role)[:4]:
                for finding in self._judge(view, curve):
                    found = True
                    yield finding
                if found:
                    return
        for placed in view.events_of(EventKind.NAN, EventKind.EXCEPTION, EventKind.ERROR):
            if _SAID.search(placed.text) and id(placed.event) not in view.facts.recovered:
                yield self._from_message(placed)
                return

    def _judge(self, view: RunView, curve: Curve) -> Iterator[Finding]:
        count = len(curve) - int(curve.bins[5].sum())
        if count == 0:
            yield from self._clamped(curve)
            return
        bad = ~np.isfinite(curve.y)
        first = int(np.argmax(bad))
        share = float(bad[first:].mean())
        ended_badly = bool(bad[-1])
        if share >= self.lost_share or (ended_badly and bad[-3:].all()):
            start = len(bad) - int(np.argmin(bad[::-1])) if share < self.lost_share else first
            yield self._lost(view, curve, start if not bad.all() else 0)
        elif curve.role == "train/loss" and count >= 3 and count > self.tolerated * len(bad):
            yield self._passing(curve, first, count)

    def _lost(self, view: RunView, curve: Curve, first: int) -> Finding:
        step = curve.step(first)
        value = curve.y[first]
        remarks: tuple[Evidence, ...] = view.facts.remarks(curve)
        if first == 0:
            title = (
                f"{curve.name} is {value} from the first value on, {curve.axis_name} {step:.10g}"
            )
            shown = curve.evidence(0)
        else:
            title = (
                f"{curve.name} is {value} since {curve.axis_name} {step:.10g}; the last number was "
                f"{curve.y[first - 1]:.4g} at {curve.step(first - 1):.10g}"
            )
            shown = curve.evidence(first - 1, first)
        foot = self._foot(curve, first)
        if foot < first:
            rise = curve.evidence(foot, first)
            title = f"{title}, on a rise that began at {curve.step(foot):.10g}"
            remarks = (rise, *remarks)
        bad = first_bad(view, by=step, slack=max(1.0, curve.spacing))
        if bad is not None:
            at = f" at step {bad.step:.10g}" if bad.step is not None else ""
            title = f"{title}; first seen {bad.where}{at}"
            remarks = (bad.evidence, *remarks)
        is_training = curve.role == "train/loss"
        return Finding(
            id=self.id,
            title=title,
            severity=Severity.CRITICAL if is_training else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=(shown, *remarks),
            first_step=curve.step(foot),
            details={"position": first, "role": curve.role, "lost": 1.0, BROKE_AT: step},
        )

    def _foot(self, curve: Curve, first: int) -> int:
        """Where the rise began that ended in the first bad value; that value itself without one."""
        before = curve.y[max(0, first - REACH) : first]
        finite = before[np.isfinite(before)]
        if len(finite) < LEAST_BEFORE:
            return first
        level = float(np.median(finite))
        if level <= 0 or not before[-1] >= self.risen * level:
            return first
        spread = 1.4826 * float(np.median(np.abs(finite - level)))
        calm = np.flatnonzero(before <= min(level + 3 * spread, 2 * level))
        return first - len(before) + int(calm[-1]) + 1

    def _passing(self, curve: Curve, first: int, count: int) -> Finding:
        return Finding(
            id=self.id,
            title=f"{count} of {len(curve)} values of {curve.name} are not finite, the first at "
            f"{curve.axis_name} {curve.step(first):.10g}; the others are",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(first),),
            first_step=curve.step(first),
            last_step=curve.step(int(np.flatnonzero(~np.isfinite(curve.y))[-1])),
            details={"position": first, "role": curve.role, "lost": 0.0},
        )

    def _clamped(self, curve: Curve) -> Iterator[Finding]:
        # To the last digit once, or nearly and again.
        is_exact = len(curve) >= 2 and abs(curve.y[-1] - _CLAMPED) < 0.0006
        is_repeated = len(curve) >= 3 and np.all(np.abs(curve.y[-2:] - _CLAMPED) < 0.002)
        if not (is_exact or is_repeated):
            return
        stuck = np.abs(curve.y - _CLAMPED) < 0.002
        first = len(stuck) - int(np.argmin(stuck[::-1])) if not stuck.all() else 0
        yield Finding(
            id=self.id,
            title=f"{curve.name} is stuck at 87.3365 since {curve.axis_name} "
            f"{curve.step(first):.10g}: that is -log of the smallest float, a hidden infinity",
            severity=Severity.CRITICAL,
            confidence=finding_confidence(Basis.RESEARCH, 0.85),
            basis=Basis.RESEARCH,
            evidence=(curve.evidence(max(0, first - 1), first),),
            first_step=curve.step(first),
            details={"position": first, "role": curve.role, "lost": 1.0},
        )

    def _from_message(self, placed: PlacedEvent) -> Finding:
        lines = placed.text.splitlines()
        place = next((n for n, line in enumerate(lines) if _SAID.search(line)), 0)
        said = lines[place].strip() if lines else placed.event.title
        return Finding(
            id=self.id,
            title=f"the log says that the loss is not finite: {said[:120]}",
            severity=Severity.CRITICAL,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=(placed.evidence(said, placed.event.line + place),),
            first_step=placed.event.step,
            details={"role": "train/loss", "lost": 1.0},
        )
