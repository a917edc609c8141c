"""degenerate_variance: a variance was taken over a single element, or an output has none.

What it sees: torch's `var(): degrees of freedom is <= 0` (and `std()`, `cov()`, `var_mean()`), and
    `Expected more than 1 value per channel when training`; whether the loss became NaN within
    the ten records after it; whether it was only a report that took it. In a probe's recording: a
    head whose units fell to a thousandth of their variation from example to example, while the
    layers before it still vary.
Why it matters: torch only warns, and the NaN travels through the next backward pass into every
    weight. Over a single finished run, in a table of results, it means nothing. A head (halting,
    gate, variance) that says the same whatever it is asked has stopped to do its work.
Fires on:
    log: step 1 loss 2.1 | t.py:3: UserWarning: var(): degrees of freedom is <= 0. | step 2 loss nan
    log: ValueError: Expected more than 1 value per channel when training, got input size [1, 4]
    probe act_unit_std/fc: 1*20 ; probe act_unit_std/halt: 0.1 1e-7*19 ; train/loss: 2.3~0.01*100
Stays quiet:
    probe act_unit_std/fc: 1*20 ; probe act_unit_std/head: 0 0.3*19 ; train/loss: 2.3~0.01*100
    log: step 1 loss 2.1 | t.py:3: UserWarning: lr_scheduler.step() was called | step 2 loss 2.0
    log: step 1 loss 2.1 | step 2 loss nan | step 3 loss nan
Try next: drop the last incomplete batch; use correction=0 and a small eps; take the statistic
    only where there are at least two elements.
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
from ..core.failure import failure_evidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from ..gradients.learning import effect_on_loss, learning
from .collapsed_layers import Collapse, collapsed_layers

DEGREES = re.compile(r"\b(?P<what>var|std|var_mean|std_mean|cov)\(\): degrees of freedom is <= 0")
ONE_VALUE = re.compile(
    r"Expected more than 1 value per channel when training, got input size (?P<size>[^\n]{0,60})"
)
_REPORT = re.compile(r"\bprint\s*\(|\bf?[\"'].*±|±|\b(?:log(?:ger)?|wandb|writer)\.\w+\(")
REACH = 10
"""Records of the loss after the message within which a NaN is taken for its consequence."""
_KINDS = (EventKind.WARNING, EventKind.EXCEPTION, EventKind.ERROR)


@analyzer
@dataclass(frozen=True, slots=True)
class DegenerateVariance:
    """Report each place in the code once, and each head that fell silent."""

    id: ClassVar[str] = "degenerate_variance"
    roles: ClassVar[tuple[str, ...]] = ("train/loss",)
    events: ClassVar[tuple[str, ...]] = ("warning", "exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look through the messages."""
        for placed in view.events_of(*_KINDS):
            if found := DEGREES.search(placed.text):
                yield self._warned(view, placed, found["what"])
            elif found := ONE_VALUE.search(placed.text):
                yield self._refused(view, placed, found["size"])
        for collapse in collapsed_layers(view):
            yield self._collapsed(view, collapse)

    def _collapsed(self, view: RunView, collapse: Collapse) -> Finding:
        curve, other = collapse.curve, collapse.other
        now = learning(view)
        effect = effect_on_loss(view, curve.step(collapse.first), curve.step(len(curve) - 1))
        hurts = effect is not None and effect.rose
        fell = f" fell from {collapse.before:.2g} to" if collapse.before else " is"
        step = f"{curve.axis_name} {curve.step(collapse.first):.10g}"
        since = f" since {step}" if collapse.before else ""
        return Finding(
            id=self.id,
            title=f"layer {collapse.layer} says the same for every example{since}: its variation"
            f"{fell} {collapse.level:.2g} while layer {other.layer} varies by "
            f"{other.curve.y[-1]:.2g}",
            # Where the loss falls all the same, the head may be a small part of the model.
            severity=Severity.INFO
            if now is not None and now.is_better and not hurts
            else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9 if collapse.before else 0.8),
            basis=Basis.OBSERVATION,
            evidence=(
                curve.evidence(max(0, collapse.first - 1), len(curve) - 1),
                other.curve.evidence(len(other.curve) - 1),
            ),
            first_step=curve.step(collapse.first),
            details={"layer": collapse.layer, "collapsed": 1.0, "nan_follows": 0.0, "code": ""},
        )

    def _warned(self, view: RunView, placed: PlacedEvent, what: str) -> Finding:
        broken = _first_broken(view, placed)
        code = _code_line(placed)
        where = f" in `{code[:80]}`" if code else ""
        evidence = [placed.evidence(DEGREES.search(placed.text)[0])]  # type: ignore[index]
        first_step = placed.event.step
        if broken is not None:
            curve, at = broken
            severity, basis, raw = Severity.CRITICAL, Basis.OBSERVATION, 0.93
            title = (
                f"{what}() over a single element{where}; {curve.name} is {curve.y[at]:g} from "
                f"{curve.axis_name} {curve.step(at):.10g} on"
            )
            evidence.append(curve.evidence(max(0, at - 1), at))
            # A message has the step that was logged last; what it speaks of came after that.
            is_next = first_step is None or (at > 0 and curve.step(at - 1) <= first_step)
            first_step = curve.step(at) if is_next else first_step
        elif _REPORT.search(code) or _is_afterwards(view, placed):
            severity, basis, raw = Severity.INFO, Basis.OBSERVATION, 0.9
            title = f"{what}() over a single element{where}, in a report: the training is not hurt"
        else:
            severity, basis, raw = Severity.WARNING, Basis.OBSERVATION, 0.9
            count = f", {placed.event.count} times" if placed.event.count > 1 else ""
            title = f"{what}() over a single element gives NaN{where}{count}"
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(basis, raw),
            basis=basis,
            evidence=tuple(evidence),
            first_step=first_step,
            details={
                "nan_follows": float(broken is not None),
                "code": code,
                "line": float(placed.event.line),
            },
        )

    def _refused(self, view: RunView, placed: PlacedEvent, size: str) -> Finding:
        is_over = id(placed.event) not in view.facts.recovered
        return Finding(
            id=self.id,
            title=f"a normalisation layer got a batch of one value per channel: {size.strip()}",
            severity=Severity.CRITICAL if is_over else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.94),
            basis=Basis.OBSERVATION,
            evidence=(failure_evidence(placed, ONE_VALUE.search(placed.text)[0]),),  # type: ignore[index]
            first_step=placed.event.step,
            details={"size": size.strip(), "nan_follows": 0.0, "code": _code_line(placed)},
        )


def _first_broken(view: RunView, placed: PlacedEvent) -> tuple[Curve, int] | None:
    """The first loss that is not finite, soon after the message."""
    number = next(n for n, source in enumerate(view.run.files) if source is placed.source)
    for curve in view.curves("train/loss"):
        if curve.series.file == number:
            lines = curve.series.lines
            raw = int(np.searchsorted(lines, placed.event.line))
            first = _position(curve, raw)
        elif placed.event.step is not None:
            first = int(np.searchsorted(curve.x, placed.event.step))
        elif _REPORT.search(_code_line(placed)):
            continue
        else:
            # Another file without a common clock: only the curve's first trouble can be its.
            # Python warns once for each line, so what that line spoils is spoilt from then on.
            bad = np.flatnonzero(~np.isfinite(curve.y))
            first = int(bad[0]) if len(bad) else len(curve)
        soon = curve.y[first : first + REACH + 1]
        bad = np.flatnonzero(~np.isfinite(soon))
        if len(bad):
            return curve, first + int(bad[0])
    return None


def _position(curve: Curve, raw: int) -> int:
    """Place in the curve of a point of its series; past the end if there is none."""
    if not curve.restarts and not curve.is_interleaved:
        return raw
    low, high = 0, len(curve)
    while low < high:
        middle = (low + high) // 2
        if curve.raw_index(middle) < raw:
            low = middle + 1
        else:
            high = middle
    return low


def _code_line(placed: PlacedEvent) -> str:
    """The line of source that Python shows under a warning, or the failing frame's."""
    if placed.event.frames:
        own = [f for f in placed.event.frames if "site-packages" not in f.file and f.code]
        return own[-1].code.strip() if own else placed.event.frames[-1].code.strip()
    lines = placed.event.text.splitlines()
    return lines[-1].strip() if len(lines) > 1 and lines[-1].startswith("  ") else ""


def _is_afterwards(view: RunView, placed: PlacedEvent) -> bool:
    """True if the file holds training records, all of them before the message."""
    number = next(n for n, source in enumerate(view.run.files) if source is placed.source)
    curves = [c for c in view.curves("train/loss") if c.series.file == number and len(c) >= 3]
    return bool(curves) and all(c.series.line_of(-1) < placed.event.line for c in curves)
