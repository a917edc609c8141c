"""missing_zero_grad: gradients of past steps are never cleared.

What it is: backward adds to what is there; without zero_grad every step moves along the sum of all
    gradients so far, like a momentum of 1.
Told apart by: a gradient norm that grows from the very first steps on and never stops, almost
    without noise from one step to the next, while the loss gets worse or swings. From curves alone
    this is weak: the code is the proof. A rate that is too high grows suddenly, and its norm is
    noisy; norms that grow a few times once something is learned are those of a healthy training.
Try next: optimizer.zero_grad() before every backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mltd.runs.harvest import Floats

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.curve import Curve
from ..core.finding import Basis, Evidence
from ..core.fixes import lower_learning_rate
from ..core.registry import cause
from ..core.sudden import sudden_break
from ..gradients.calm import calmly, median
from ..gradients.layers import gradient_norm

LEAST = 24
AT_ONCE = 1.5
"""A sum of gradients is at least this many times the first one within a dozen points."""
_ENDS = ("nan_loss", "nan_gradients", "nan_weights")
"""From there on a norm says nothing about what was added up before."""


@cause
@dataclass(frozen=True, slots=True)
class MissingZeroGrad:
    """Weighs how smoothly the norm grows, from the start."""

    id: ClassVar[str] = "missing_zero_grad"
    explains: ClassVar[tuple[str, ...]] = (
        "exploding_gradients",
        "loss_divergence",
        "oscillating_loss",
        "not_learning",
        "plateau",
        "nan_loss",
        "nan_gradients",
        "loss_spike",
        "slow_convergence",
        "underfitting",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    @calmly
    def clues(self, case: Case) -> Iterator[Clue]:
        """Smooth growth for; noise or a level norm against."""
        norm = gradient_norm(case.view)
        if norm is None or case.view.facts.grad_norm_flaw:
            return
        stop = _stop(case, norm)
        growth, likeness = _smooth_growth(norm.y[:stop])
        if not np.isfinite(growth) or not np.isfinite(likeness):
            return
        quote = f"{growth:.3g}x its start, {likeness:.3f} like the point before"
        shown = norm.evidence(0, max(0, stop - 1), quote)
        if growth > 3 and likeness > 0.97:
            yield Clue(0.6, shown)
        elif growth > 3 and likeness > 0.9:
            yield Clue(0.4, shown)
        elif growth > 3 and likeness > 0.8:
            yield Clue(0.2, shown)
        else:
            return
        for finding in case.all("oscillating_loss", "loss_divergence", "not_learning")[:1]:
            yield case.because(finding, 0.15)
        apart = _apart(case, growth)
        if apart is not None:
            # Steps that are too large raise loss and gradient alike; a sum grows by itself.
            yield Clue(0.5, apart)
        burst = case.get("exploding_gradients")
        adds_up = burst is not None and bool(burst.number("steady"))
        if adds_up and burst is not None:
            yield case.because(burst, 0.5)
        elif case.view.facts.is_smoothed(norm):
            yield Clue(-0.6, norm.remark(case.view.facts.smoothed[norm.name]))
        seen = sudden_break(case)
        if seen is not None and case.has(*_ENDS):
            yield Clue(-0.85, seen.evidence)
        odd = case.get("lr_anomaly")
        if odd is not None and odd.is_alarm:
            yield case.because(odd, -0.5)

    def issue(self, case: Case) -> str:
        """One sentence with the growth."""
        norm = gradient_norm(case.view)
        growth = _smooth_growth(norm.y[: _stop(case, norm)])[0] if norm is not None else np.nan
        times = f": their norm is {growth:.3g}x what it was" if np.isfinite(growth) else ""
        return f"gradients add up over steps instead of being cleared{times}"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Clear, at the right place."""
        yield Fix(
            addresses=self.id,
            change="clear the gradients before every backward pass",
            example="optimizer.zero_grad(set_to_none=True); loss.backward(); optimizer.step()",
            expected_impact="grad_norm stays at its size of the first step, and train loss falls "
            "within 200 steps",
            verify="grad_norm at step 2 equals that of the same batch alone",
            if_it_fails="look for a second optimizer, or parameters outside of it, never cleared",
            is_quick=True,
        )
        accumulation = case.setting("accumulation")
        name = accumulation.path if accumulation is not None else "gradient accumulation"
        yield Fix(
            addresses=self.id,
            change=f"with {name}, clear after every optimizer step and divide the loss by it",
            example="if (i + 1) % n == 0: optimizer.step(); optimizer.zero_grad()",
            expected_impact="grad_norm no longer grows with the number of steps; flat within 50",
            verify="the norm right after zero_grad() and one backward pass is that of one batch",
            if_it_fails="print the order of zero_grad, backward and step for three steps",
            is_quick=True,
        )
        yield lower_learning_rate(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """The proof is in the code."""
        yield (
            "the training loop's source: whether zero_grad is called each step decides between "
            "this and a learning rate that is too high"
        )


APART = 10.0
"""Times more than the loss that a sum of gradients grows."""


def _apart(case: Case, growth: float) -> Evidence | None:
    """The loss, if it grew by far less than the gradient's norm."""
    loss = case.view.curve("train/loss")
    if loss is None or len(loss) < LEAST or int(loss.bins[5].sum()) < len(loss):
        return None
    means = loss.bins[2]
    begin, end = median(loss.y[:5]), median(means[-max(2, len(means) // 5) :])
    if not begin > 0 or not end > 0 or growth < APART * max(1.0, end / begin):
        return None
    return loss.evidence(0, len(loss) - 1)


def _stop(case: Case, norm: Curve) -> int:
    """How many points precede a loss or gradient that is not finite."""
    end = case.onset(*_ENDS)
    return len(norm) if end is None else int(np.searchsorted(norm.x, end))


def _smooth_growth(values: Floats) -> tuple[float, float]:
    """Growth over the start and the lag-1 autocorrelation of the log norm's early part.

    Both are NaN unless it grows as a sum does: at once, and on and on.
    """
    values = values[: max(256, LEAST)]
    values = values[np.isfinite(values) & (values > 0)]
    if len(values) < LEAST:
        return float("nan"), float("nan")
    with np.errstate(all="ignore"):
        logs = np.log(values)
        start, soon = median(values[:2]), median(values[4:12])
        quarter = len(values) // 4
        early, late = median(values[:quarter]), median(values[-max(4, quarter) :])
        if not (soon > AT_ONCE * start > 0 and late > AT_ONCE * early):
            return float("nan"), float("nan")
        centred = logs - logs.mean()
        total = float((centred**2).sum())
        likeness = float((centred[1:] * centred[:-1]).sum()) / total if total > 0 else np.nan
    return late / start, likeness
