"""Questions that several causes ask of a run, answered once: what came first, what was the rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .case import Case
from .finding import Evidence, Finding


@dataclass(frozen=True, slots=True)
class Answer:
    """A number and where it was read."""

    value: float
    evidence: Evidence


def gradient_growth_before(case: Case, step: float | None) -> Answer | None:
    """How many times its usual size the gradient norm had reached just before a step.

    The point at the step itself does not count: a bad batch shows there too.
    """
    curve = case.view.curve("grad_norm")
    if curve is None or step is None or case.view.facts.grad_norm_flaw:
        return None
    at = int(np.searchsorted(curve.x, step))
    before = curve.y[max(0, at - 132) : at]
    before = before[np.isfinite(before) & (before > 0)]
    if len(before) < 8:
        return None
    usual = float(np.median(before[: -4 if len(before) > 16 else -2]))
    near = before[-3:]
    grown = float(np.median(near)) / usual if usual > 0 else 1.0
    at = min(max(at - 1, 0), len(curve) - 1)
    return Answer(grown, curve.evidence(max(0, at - 2), at))


def gradient_at(case: Case, step: float | None) -> Answer | None:
    """How many times its usual size the gradient norm is at a step and just after."""
    curve = case.view.curve("grad_norm")
    if curve is None or step is None or case.view.facts.grad_norm_flaw:
        return None
    at = int(np.searchsorted(curve.x, step))
    before = curve.y[max(0, at - 132) : at]
    before = before[np.isfinite(before) & (before > 0)]
    here = curve.y[at : at + 4]
    if len(before) < 8 or len(here) == 0:
        return None
    value = np.inf if not np.isfinite(here).all() else float(here.max()) / float(np.median(before))
    return Answer(value, curve.evidence(min(at, len(curve) - 1)))


def rate_share_of_peak(case: Case, step: float | None) -> Answer | None:
    """The learning rate at a step as a share of its peak."""
    curve = case.view.curve("lr")
    if curve is None or step is None or len(curve) == 0:
        return None
    rates = curve.y
    if not np.isfinite(rates).all() or float(rates.max()) <= 0:
        return None
    at = int(np.clip(np.searchsorted(curve.x, step, side="right") - 1, 0, len(curve) - 1))
    return Answer(float(rates[at]) / float(rates.max()), curve.evidence(at))


def share_of_run(case: Case, step: float | None) -> float:
    """How far into the run a step is, from 0 to 1."""
    loss = case.view.curve("train/loss")
    if loss is None or step is None or len(loss) < 2:
        return 0.0
    planned = case.view.planned_steps if loss.axis_name == "step" else None
    end = max(float(loss.x[-1]), planned or 0.0)
    span = end - float(loss.x[0])
    return float(np.clip((step - float(loss.x[0])) / span, 0.0, 1.0)) if span > 0 else 0.0


def loss_growth_before(case: Case, step: float | None) -> Answer | None:
    """How many robust deviations the loss had risen in the few points before a step."""
    curve = case.view.curve("train/loss")
    if curve is None or step is None:
        return None
    at = int(np.searchsorted(curve.x, step))
    before = curve.y[max(0, at - 64) : at]
    before = before[np.isfinite(before)]
    if len(before) < 8:
        if len(before) >= 2 and before[-1] > 1.5 * before[0] > 0:
            return Answer(10.0, curve.evidence(0, max(0, at - 1)))
        return None
    calm = before[: -4 if len(before) > 12 else -2]
    spread = 1.4826 * float(np.median(np.abs(calm - np.median(calm))))
    rise = float(np.max(before[-4:])) - float(np.median(calm))
    spread = max(spread, 1e-3 * abs(float(np.median(calm))), 1e-12)
    return Answer(rise / spread, curve.evidence(max(0, at - 4), max(0, at - 1)))


def restart_near(case: Case, step: float | None) -> Evidence | None:
    """A place where the run was resumed, at or just before a step."""
    curve = case.view.curve("train/loss")
    if curve is None or step is None:
        return None
    reach = max(3 * curve.spacing, 0.01 * float(np.ptp(curve.x))) if len(curve) else 0.0
    for restart in curve.restarts:
        if restart.at >= 6 and -reach <= step - restart.resumed <= 4 * reach:
            return curve.remark(
                f"the counter went back from {restart.reached:.10g} to {restart.resumed:.10g}"
            )
    return None


def early_gap(case: Case) -> Answer | None:
    """Validation loss over training loss at the first two evaluations, the smaller of both."""
    train, val = case.view.curve("train/loss"), case.view.curve("val/loss")
    if train is None or val is None or len(val) < 2 or len(train) < 8:
        return None
    ratios = []
    for number in range(2):
        at = int(np.searchsorted(train.x, val.step(number), side="right"))
        near = train.y[max(0, at - 8) : at + 2]
        near = near[np.isfinite(near)]
        if len(near) == 0 or not np.isfinite(val.y[number]) or float(np.median(near)) <= 0:
            return None
        ratios.append(float(val.y[number]) / float(np.median(near)))
    return Answer(min(ratios), val.evidence(0, 1))


def jump_of_training_near(case: Case, step: float | None) -> Evidence | None:
    """A jump of the training loss about the time at which validation turned."""
    val = case.view.curve("val/loss") or case.view.curve("val/accuracy")
    if step is None or val is None or len(val) < 2:
        return None
    reach = 2.2 * val.spacing
    for finding in case.all("loss_spike", "loss_divergence"):
        if finding.first_step is not None and -0.3 * reach <= finding.first_step - step <= reach:
            return finding.evidence[0]
    return None


def goes_on_growing(case: Case, step: float | None) -> Answer | None:
    """How many times its size right after a step the loss reaches some points later."""
    curve = case.view.curve("train/loss")
    if curve is None or step is None:
        return None
    at = int(np.searchsorted(curve.x, step))
    soon, later = curve.y[at : at + 4], curve.y[at + 6 : at + 40]
    soon, later = soon[np.isfinite(soon)], later[np.isfinite(later)]
    if len(soon) < 2 or len(later) < 4 or float(np.median(soon)) <= 0:
        return None
    grown = float(np.max(later)) / float(np.max(soon))
    return Answer(grown, curve.evidence(at, min(at + 40, len(curve) - 1)))


def lead_of_gradients(case: Case) -> Answer | None:
    """By how many logged points the gradient exploded before the loss was lost."""
    burst, lost = case.get("exploding_gradients"), case.onset("nan_loss")
    curve = case.view.curve("grad_norm")
    if burst is None or lost is None or curve is None or burst.first_step is None:
        return None
    between = np.searchsorted(curve.x, [burst.first_step, lost])
    return Answer(float(between[1] - between[0]), burst.evidence[0])


_UPHEAVALS = ("lr_anomaly", "update_ratio", "exploding_gradients", "loss_divergence", "loss_spike")


def upheaval_before(case: Case, finding: Finding) -> Finding | None:
    """What threw the weights about before a layer fell silent: that is nearer to the root."""
    if not finding.number("after"):
        return None  # it was so from the first record on
    for other in case.all(*_UPHEAVALS):
        is_large = other.id != "update_ratio" or other.details.get("kind") == "large"
        starts, began = other.first_step, finding.first_step
        if other.is_alarm and is_large and starts is not None and began is not None:
            return other if starts < began else None
    return None
