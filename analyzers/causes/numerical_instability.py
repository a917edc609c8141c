"""numerical_instability: an operation is evaluated where it has no finite value or slope.

What it is: the logarithm or division at 0, the slope of a square root or norm at 0, an exponential
    out of range: one such element makes the whole gradient NaN.
Told apart by: gradients and loss that were calm up to the step before; anomaly mode naming a Log,
    Sqrt, Div, Pow, Exp or Norm backward. A learning rate that is too high shows growth first, an
    overflow in half precision a falling loss scale, a bad batch values that are not finite in the
    input.
Try next: replay that one step under anomaly mode; add an epsilon inside the operation it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.clues import CALM, gradient_growth_before, loss_growth_before, sank_until
from ..core.failure import failure_evidence
from ..core.finding import Basis
from ..core.recording import first_bad
from ..core.registry import cause
from ..core.sudden import leap_before, sudden_break
from ..gradients.calm import calmly
from ..gradients.stated import half_precision

_FOUND = ("nan_loss", "nan_gradients", "nan_weights")
_NAMED = re.compile(
    r"(?:Function ['\"]|Error detected in )(?P<op>\w*(?:Log|Sqrt|Div|Pow|Exp|Norm|Acos|Asin|Atan|"
    r"Rsqrt|Reciprocal|Std|Var|Softmax|Cdist|Logsumexp)\w*Backward\d*)",
)
_NUMPY = re.compile(
    r"(?:divide by zero|invalid value|overflow) encountered in (?P<op>\w+)|ZeroDivisionError|"
    r"math domain error",
)
_MATRIX = re.compile(
    r"LinAlgError|\b(?:SVD|eigenvalues?|linalg\.\w+)\b.{0,80}(?:did not|failed to) converge|"
    r"not positive[- ]definite|[Ss]ingular matrix|matrix is (?:exactly )?singular|"
    r"[Cc]holesky decomposition was not successful|ill-conditioned"
)
"""A matrix that can not be inverted or factored as it is."""


@cause
@dataclass(frozen=True, slots=True)
class NumericalInstability:
    """Weighs a NaN out of calm against signs of growth."""

    id: ClassVar[str] = "numerical_instability"
    explains: ClassVar[tuple[str, ...]] = (
        *_FOUND, "loss_scale_collapse", "exploding_gradients", "exception",
    )  # fmt: skip
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """Messages that name the operation, then the calm before."""
        for placed in case.view.events:
            if placed.event.kind not in (EventKind.EXCEPTION, EventKind.WARNING, EventKind.ERROR):
                continue
            if named := _NAMED.search(placed.text):
                yield case.clue(0.92, placed.evidence(named[0]), states=True)
                break
            if said := _MATRIX.search(f"{placed.event.exception}: {placed.event.message[:1000]}"):
                yield case.clue(0.75, failure_evidence(placed, said.string[:300]))
                break
            if said := _NUMPY.search(placed.text):
                yield case.clue(0.45, placed.evidence(said[0]))
                break
        step = case.onset(*_FOUND)
        broken = case.get(*_FOUND)
        if broken is None:
            fall = case.get("loss_scale_collapse")
            if fall is not None and fall.number("floor"):
                yield case.because(fall, 0.2)
            return
        seen = list(self._in_the_model(case))
        # Where a probe saw it happen, growth of a few times is the noise of any training.
        calm = self._calm_before(case, step)
        yield from (clue for clue in calm if clue.weight > 0 or not _outweighs(seen))
        yield from seen
        hidden = case.get("nan_gradients")
        if hidden is not None and hidden.number("lasting"):
            yield case.because(hidden, 0.35)
        fall = case.get("loss_scale_collapse")
        if fall is not None and fall.is_alarm:
            yield case.because(fall, -0.45)
        half = half_precision(case)
        if half is not None:
            yield Clue(-0.2, half)
        if _is_statistics_over_one(case):
            yield case.because(broken, -0.6)

    def _calm_before(self, case: Case, step: float | None) -> Iterator[Clue]:
        grown = gradient_growth_before(case, step)
        rising = loss_growth_before(case, step)
        if grown is not None:
            yield Clue(0.4 if grown.value < 2 else -0.6, grown.evidence)
        if rising is not None:
            yield Clue(0.3 if rising.value < CALM else -0.5, rising.evidence)
        sunk = sank_until(case, step)
        if sunk is not None and sunk.value < 0.3:
            yield Clue(0.3, sunk.evidence)
        if grown is None and rising is None:
            broken = case.get(*_FOUND)
            if broken is not None:
                yield case.because(broken, 0.25)

    def _in_the_model(self, case: Case) -> Iterator[Clue]:
        """A probe saw which layer made finite inputs into NaN, or that they never were finite."""
        bad = first_bad(case.view)
        if bad is None:
            return
        is_sudden = sudden_break(case) is not None
        if bad.origin.kind == "input":
            yield Clue(-0.85, bad.evidence)
        elif bad.origin.kind in ("activation", "gradient"):
            # What grows overflows in some layer, too, and that layer is not to blame.
            yield Clue(0.85 if is_sudden else 0.25, bad.evidence, "probe")
            leap = leap_before(case)
            if leap is not None:
                yield Clue(-0.6, leap)
        elif is_sudden:
            # Behind the last layer are the loss and its labels.
            yield Clue(0.5, bad.evidence, "probe")

    def issue(self, case: Case) -> str:
        """One sentence with the step, and the operation if it is known."""
        step = case.onset(*_FOUND)
        where = f" at step {step:.10g}" if step is not None else ""
        for placed in case.view.events:
            if _MATRIX.search(placed.event.title) and not case.has(*_FOUND):
                return f"a matrix cannot be factored as it is{where}: {placed.event.title[:120]}"
            if named := _NAMED.search(placed.text):
                return f"{named['op']} has no finite gradient{where}"
        bad = first_bad(case.view)
        if bad is not None and bad.origin.kind in ("activation", "gradient"):
            side = "slope" if bad.origin.kind == "gradient" else "value"
            if bad.origin.behind and side == "value":
                return f"something {bad.where} has no finite value{where}"
            if bad.origin.behind:
                place = f"layer {bad.origin.layer}, or what is between it and {bad.origin.behind},"
                return f"{place} computes something without a finite slope{where}"
            return f"layer {bad.origin.layer} computes something without a finite {side}{where}"
        return f"an operation is evaluated where it has no finite value or slope{where}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Find the operation, keep it away from its pole, guard the update."""
        step = case.onset(*_FOUND)
        where = f"step {step:.10g}" if step is not None else "the first bad step"
        yield Fix(
            addresses=self.id,
            change=f"replay {where} from the last good checkpoint under anomaly mode",
            example="with torch.autograd.set_detect_anomaly(True): loss_fn(batch).backward()",
            expected_impact="the traceback names the operation and its line within one step",
            verify="the same step fails again, and names the same operation twice in a row",
            if_it_fails="if the replay is finite, the state or the machine was at fault: compare "
            "the checkpoint's tensors and replay on another device",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="keep logarithms, roots, norms and divisions away from 0",
            example="torch.sqrt(x + 1e-8); torch.log(p.clamp_min(1e-8)); a / (b + 1e-8); "
            "F.cross_entropy(logits, y) instead of log(softmax(logits))",
            expected_impact="grad_norm stays finite when the same batch comes again, loss changes "
            "by less than 1e-4",
            verify=f"replay {where}: loss and grad_norm are finite",
            if_it_fails="test each term of the loss alone on that batch, in float64",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="skip updates whose gradient is not finite, and count them",
            example="if torch.isfinite(grad_norm): optimizer.step()  # else: skipped += 1",
            expected_impact="no NaN reaches the weights; fewer than 0.1 % of the steps are skipped",
            verify="the counter of skipped steps over the next 1,000 steps",
            if_it_fails="if more than 1 % are skipped, the operation is always near its pole: "
            "reformulate it (log-space, double precision for that term)",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from bad data and from growth."""
        yield (
            "the traceback of the first bad step under torch.autograd.set_detect_anomaly(True): it "
            "names the operation (numerical instability) or the first layer (input not finite)"
        )
        bad = first_bad(case.view)
        if bad is not None and bad.origin.kind == "loss" and bad.is_loss_finite:
            yield (
                "the same step with clip_grad_norm_(..., error_if_nonfinite=True), or without "
                "clipping, under the probe: clipping spread the NaN before it was recorded, and "
                "the layer that it began in is named then"
            )
        if case.view.curve("grad_norm") is None:
            yield (
                "grad_norm per step: calm before the NaN means a singular operation or a bad "
                "batch, growth means the learning rate"
            )


def _outweighs(seen: list[Clue]) -> bool:
    return any(clue.weight >= 0.5 for clue in seen)


def _is_statistics_over_one(case: Case) -> bool:
    return any("degrees of freedom is <= 0" in placed.text for placed in case.view.events)
