"""nan_gradients: the gradient is not finite although the loss still is.

What it sees: a gradient norm of NaN or Inf at a step whose loss is finite, and that stays so or
    comes back again and again; a loss printed as exactly 0 beside a norm of NaN; messages that
    name gradients that are not finite. A step skipped now and then by a loss scaler is normal.
Why it matters: one update with such a gradient makes all weights NaN; loggers that leave out or
    average away NaN may hide it for hours. A probe tells in which layer it began.
Fires on:
    grad_norm: 0.5~0.05*50 nan*50 ; train/loss: 2>1~0.02*50 0*50
    grad_norm: 0.5~0.05*50 nan*9 ; train/loss: 2>1~0.02*51 nan*8
    log: RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
Stays quiet:
    grad_norm: 0.5~0.05*100 inf 0.5~0.05*200 ; train/loss: 2>1~0.02*301
    grad_norm: inf*3 0.5~0.05*97 ; train/loss: 2>1~0.02*100 ; loss_scale: 65536 16384 8192*98
    grad_norm: 0.5~0.05*60 ; train/loss: 2>1~0.02*60
Try next: replay the first such step under torch.autograd.set_detect_anomaly(True); look for a
    square root, norm, logarithm or division at 0; check the batch of that step.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.harvest import Ints

from ..core.calibration import finding_confidence
from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Finding, Severity
from ..core.recording import FirstBad, first_bad
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .calm import calmly
from .layers import gradient_norm

_SAID = re.compile(
    r"returned nan values in its \d+\w* output|"
    r"total norm (?:of order \S+ )?for gradients from .{0,40} is non-?finite|"
    r"\b(?:nan|inf|non-?finite)\b[^.\n]{0,60}\bgrad(?:ient)?s?\b|"
    r"\bgrad(?:ient)?s?\b[^.\n]{0,40}\b(?:is|are|became|contains?|has|have) "
    r"(?:nan|inf|non-?finite)",
    re.IGNORECASE,
)
_SKIPPED = re.compile(r"\bskip|ignoring gradient", re.IGNORECASE)


@analyzer
@dataclass(frozen=True, slots=True)
class NanGradients:
    """Look for norms that are not finite beside losses that are."""

    id: ClassVar[str] = "nan_gradients"
    roles: ClassVar[tuple[str, ...]] = ("grad_norm", "train/loss", "loss_scale")
    events: ClassVar[tuple[str, ...]] = ("nan", "exception", "error", "warning")
    most_skipped: float = 0.05
    """Share of steps that a scaler may skip."""
    least_skipped: float = 10.0
    """Skipped updates that the log must tell of."""

    @calmly
    def examine(self, view: RunView) -> Iterator[Finding]:
        """The norm's own values, then what the log says about gradients."""
        curve = gradient_norm(view)
        bad = first_bad(view)
        found = None
        if bad is not None and (bad.origin.kind == "gradient" or view.curve("train/loss") is None):
            found = self._recorded(view, bad)
        if found is None and curve is not None:
            found = self._in_values(view, curve)
        if found is None:
            found = self._in_messages(view) or self._skipped(view)
        if found is not None:
            yield found

    def _recorded(self, view: RunView, bad: FirstBad) -> Finding | None:
        """A probe saw where it began; weights are another finding."""
        if bad.origin.kind == "weight":
            return None
        at = f" at step {bad.step:.10g}" if bad.step is not None else ""
        behind = " while those behind it were finite" if bad.origin.kind == "gradient" else ""
        total = gradient_norm(view)
        lasts = total is not None and len(total) > 1 and not np.isfinite(total.y[-2:]).any()
        return Finding(
            id=self.id,
            title=f"gradients are not finite: it began {bad.where}{at}{behind}",
            severity=Severity.CRITICAL if lasts else Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=(bad.evidence,),
            first_step=bad.step,
            details={"lasting": float(lasts), "layer": bad.origin.layer},
        )

    def _in_values(self, view: RunView, curve: Curve) -> Finding | None:
        loss = view.curve("train/loss")
        if int(curve.bins[5].sum()) == len(curve) or loss is None or not len(loss):
            return None
        bad = np.flatnonzero(~np.isfinite(curve.y))
        if len(bad) == len(curve) and len(curve) < 5:
            return None  # never reported
        at = np.clip(np.searchsorted(loss.x, curve.x[bad], side="right") - 1, 0, len(loss) - 1)
        hidden = bad[np.isfinite(loss.y[at])]
        if len(hidden) == 0:
            return None
        good = np.flatnonzero(np.isfinite(curve.y))
        tail = len(curve) - 1 - (int(good[-1]) if len(good) else -1)
        lasting = hidden[hidden >= len(curve) - tail]
        if len(lasting) and (tail >= 3 or not np.isfinite(loss.y[-1])):
            return self._lasting(view, curve, loss, int(lasting[0]), tail)
        return self._recurring(view, curve, hidden)

    def _lasting(
        self, view: RunView, curve: Curve, loss: Curve, first: int, count: int
    ) -> Finding | None:
        place = int(np.searchsorted(loss.x, curve.x[first], side="right")) - 1
        before = loss.y[max(0, place - 8) : max(place, 0)]
        shown = loss.y[place:]
        is_masked = (
            len(shown) >= 3
            and bool(np.all(shown == 0.0))
            and bool(np.any(before[np.isfinite(before)] != 0.0))
        )
        is_moving = len(shown) >= 12 and np.isfinite(shown).all() and len(np.unique(shown)) > 4
        is_learning = is_moving and float(np.median(shown[-6:])) < float(np.median(shown[:6]))
        if is_learning and first == 0:
            return None  # a norm that is never computed
        how = "the loss is printed as 0 instead" if is_masked else "the loss was still finite"
        return self._report(
            curve,
            first,
            f"{curve.name} is {curve.y[first]:g} from {curve.axis_name} "
            f"{curve.step(first):.10g} on ({count} points); {how}",
            Severity.CRITICAL,
            0.95,
            (loss.evidence(max(place, 0), min(max(place, 0) + 2, len(loss) - 1)),),
            {"lasting": 1.0, "masked": float(is_masked), "share": count / len(curve)},
        )

    def _recurring(self, view: RunView, curve: Curve, hidden: Ints) -> Finding | None:
        late = hidden[hidden >= min(16, len(curve) // 10)]
        share = len(late) / len(curve)
        has_scaler = view.curve("loss_scale") is not None or bool(
            view.events_of(EventKind.OVERFLOW)
        )
        limit = 2 * self.most_skipped if has_scaler else self.most_skipped
        if len(late) < 3 or share <= limit:
            return None
        return self._report(
            curve,
            int(late[0]),
            f"{curve.name} is not finite on {len(late)} of {len(curve)} points ({share:.0%}), "
            "with finite ones between: those updates are lost",
            Severity.WARNING,
            0.8,
            (),
            {"share": share},
        )

    def _in_messages(self, view: RunView) -> Finding | None:
        kinds = (EventKind.NAN, EventKind.EXCEPTION, EventKind.ERROR, EventKind.WARNING)
        for placed in view.events_of(*kinds):
            said = _SAID.search(placed.text) or _SAID.search(placed.event.title)
            if placed.source.format == "probe":
                continue  # judged as a whole
            if said is None or _SKIPPED.search(placed.event.title):
                continue
            return self._message(view, placed, said[0])
        return None

    def _skipped(self, view: RunView) -> Finding | None:
        """Updates that were left out for it; a log with many may show finite means only."""
        loss = view.curve("train/loss")
        if loss is None or len(loss) < 8:
            return None
        told = [
            placed
            for placed in view.events_of(EventKind.NAN, EventKind.WARNING)
            if placed.source is view.run.files[loss.series.file]
            and placed.source.format != "probe"
            and _SKIPPED.search(placed.event.title)
            and _SAID.search(placed.event.title)
        ]
        # Each rank says it; and what is only said at the start is a scaler that finds its level.
        lines = [bisect_left(range(len(loss)), one.event.line, key=loss.line) for one in told]
        late = [one for one, at in zip(told, lines, strict=True) if at >= len(loss) // 10]
        count = sum(one.event.count / max(1, len(one.event.ranks)) for one in late)
        made = float(loss.x[-1] - loss.x[0] + loss.spacing) if loss.axis_name == "step" else 0.0
        share = count / max(made, float(len(loss)))
        has_scaler = bool(view.events_of(EventKind.OVERFLOW))
        limit = 2 * self.most_skipped if has_scaler else self.most_skipped
        if count < self.least_skipped or share <= limit or len(late) < 3:
            return None
        first = min(at for at in lines if at >= len(loss) // 10)
        step = loss.step(min(first, len(loss) - 1))
        return Finding(
            id=self.id,
            title=f"{count:.0f} updates ({share:.0%}) were skipped since {loss.axis_name} "
            f"{step:.10g}, because their gradients were not finite: {late[0].event.title[:90]}",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=(late[0].evidence(), late[-1].evidence()),
            first_step=step,
            details={"share": share, "skipped": count},
        )

    def _message(self, view: RunView, placed: PlacedEvent, said: str) -> Finding:
        has_died = placed.event.kind is EventKind.EXCEPTION
        is_over = id(placed.event) in view.facts.recovered or not has_died
        return Finding(
            id=self.id,
            title=f"the log reports gradients that are not finite: {placed.event.title[:120]}",
            severity=Severity.WARNING if is_over else Severity.CRITICAL,
            confidence=finding_confidence(Basis.OBSERVATION, 0.95),
            basis=Basis.OBSERVATION,
            evidence=(placed.evidence(said if len(said) > 20 else ""),),
            first_step=placed.event.step,
            details={"said": said},
        )

    def _report(
        self,
        curve: Curve,
        first: int,
        title: str,
        severity: Severity,
        raw: float,
        more: tuple[Evidence, ...],
        details: dict[str, float | str],
    ) -> Finding:
        return Finding(
            id=self.id,
            title=title,
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, raw),
            basis=Basis.OBSERVATION,
            evidence=(curve.evidence(first), *more),
            first_step=curve.step(first),
            details=details,
        )
