"""Questions that several causes ask of a run, answered once: what came first, what was the rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .case import Case
from .finding import Evidence, Finding
from .optimizers import adaptive_optimizer

LATELY = 1.5
"""Times the larger norms of a while before, without which nothing was about to break."""


CALM = 4.0
"""Robust deviations that a loss may have risen by just before a step without a warning in it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A number and where it was read."""

    value: float
    evidence: Evidence


def gradient_growth_before(case: Case, step: float | None) -> Answer | None:
    """How many times its usual size the gradient norm had reached just before a step.

    The point at the step itself does not count: a bad batch shows there too. Norms that rise
    slowly as a model learns are no growth towards a break, nor are those that scatter.
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
    lately = float(np.median(near)) / float(np.quantile(before[-35:-3], 0.9))
    grown = min(grown, lately) if lately < LATELY else grown
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


FAR = 4.0
"""Times the usual rate from which on a rate is itself a suspect."""


def usual_rate(case: Case) -> float:
    """The highest learning rate that trainings with the run's optimizer usually bear."""
    optimizer = case.setting("optimizer")
    if optimizer is None and adaptive_optimizer(case.view) is None:
        return 0.05  # plain descent often takes 0.1, Adam never
    return 0.5 if optimizer is not None and "sgd" in optimizer.text else 5e-3


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


def sank_until(case: Case, step: float | None) -> Answer | None:
    """The share of its first level that a loss had sunk to, calm and at its lowest, at a step.

    Steps that are too large throw a loss up before it breaks; a probability or a distance that
    becomes exact breaks a loss that does well.
    """
    curve, rising = case.view.curve("train/loss"), loss_growth_before(case, step)
    if curve is None or step is None or (rising is not None and rising.value >= CALM):
        return None
    at = int(np.searchsorted(curve.x, step))
    before = curve.y[max(0, at - 4096) : at]
    before = before[np.isfinite(before)]
    if len(before) < 4 or (first := float(np.max(curve.y[:3]))) <= 0:
        return None
    # Of a few epochs each counts; of many steps some are high by chance.
    now = float(np.median(before[-5:])) if len(before) >= 20 else float(before[-1])
    is_lowest = 0 < now <= float(np.quantile(before, 0.25))
    return Answer(now / first, curve.evidence(0, at - 1)) if is_lowest else None


def passing_nan(case: Case) -> Finding | None:
    """Values that are not finite now and then, while the loss goes on as before."""
    found = case.get("nan_loss")
    if found is None or found.number("lost", 1.0) or case.has("loss_divergence", "loss_spike"):
        return None
    return None if case.has("loss_scale_collapse") else found


def labels_changed(case: Case) -> Evidence | None:
    """Training is right far less often than validation since the loss jumped.

    The same model does the one set of labels and not the other: those of the training changed.
    """
    step = case.onset("loss_divergence", "loss_spike")
    train, val = case.view.curve("train/accuracy"), case.view.curve("val/accuracy")
    if step is None or train is None or val is None:
        return None
    at = int(np.searchsorted(train.x, step))
    before, after = train.y[max(0, at - 8) : at], train.y[at:][-4096:]
    later = val.y[int(np.searchsorted(val.x, step, side="right")) :][-4096:]
    if len(before) < 3 or len(after) < 3 or len(later) < 2 or not np.isfinite(later).all():
        return None
    scale = 100.0 if float(np.nanmax(train.bins[4])) > 1.5 else 1.0
    of_val = 100.0 if float(np.nanmax(val.bins[4])) > 1.5 else 1.0
    fitted, measured = float(np.median(after)) / scale, float(np.median(later)) / of_val
    if measured - fitted < 0.25 or fitted > float(np.median(before)) / scale - 0.2:
        return None
    return val.evidence(len(val) - 1, quote=f"{measured:.3g} while {train.name} is {fitted:.3g}")


SLOW = 8.0
"""Logged points in a period that no overshooting step makes."""


def is_slow_swing(case: Case, swing: Finding) -> bool:
    """Whether an oscillation takes many logged points from one crest to the next."""
    loss = case.view.curve("train/loss")
    return loss is not None and swing.number("period") >= SLOW * max(loss.spacing, 1e-12)


def climbs_from_the_start(case: Case) -> Evidence | None:
    """A loss that rises steadily from its first value on, at a rate that others bear.

    Steps that are too large throw a loss about; steps in the wrong direction raise it evenly.
    """
    curve = case.view.curve("train/loss")
    if curve is None or len(curve) < 12 or not case.has("loss_divergence", "nan_loss"):
        return None
    if not case.view.facts.is_monotone:
        return None  # targets that the model makes itself may run away from it
    values = curve.y[:512]
    finite = np.isfinite(values)
    values = values if finite.all() else values[: int(np.argmin(finite))]
    setting = case.view.settings.learning_rate()
    if len(values) < 10 or float(values[0]) > 1.1 * float(values.min()):
        return None
    if setting is not None and (setting.number or 0.0) > 0.02:
        return None
    order = np.argsort(np.argsort(values)).astype(float)
    place = np.arange(len(values), dtype=float)
    if float(np.corrcoef(order, place)[0, 1]) < 0.97 or not values[-1] > 1.3 * values[0]:
        return None
    return curve.evidence(0, len(values) - 1)


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
        # A few values ahead are later epochs where each value is one.
        is_coarse = train.spacing > val.spacing / 4
        near = train.y[max(0, at - 2) : at] if is_coarse else train.y[max(0, at - 8) : at + 2]
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
        # Validation shows a jump at the next evaluation.
        if finding.first_step is not None and -0.5 * reach <= finding.first_step - step <= reach:
            return finding.evidence[0]
    return None


def turned_with_a_jump(case: Case) -> Finding | None:
    """Validation that got worse for good when the training loss jumped."""
    for finding in case.all("forgetting", "overfitting"):
        if finding.is_alarm and jump_of_training_near(case, finding.first_step) is not None:
            return finding
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


def share_at_once(case: Case, step: float | None) -> Answer | None:
    """How much of what the loss has risen by at its end it rose by within a few points of a step.

    Data that are others from one step to the next raise it at once; what creeps up does not.
    """
    curve = case.view.curve("train/loss")
    if curve is None or step is None:
        return None
    at = int(np.searchsorted(curve.x, step))
    few = max(3, min(8, len(curve) // 20))
    before, soon = curve.y[max(0, at - few) : at], curve.y[at : at + few]
    last = curve.y[at + few :][-2 * few :]
    if min(len(before), len(soon), len(last)) < 3:
        return None
    level = float(np.median(before))
    rise = float(np.median(last)) - level
    if not rise > 0:
        return None
    share = (float(np.median(soon)) - level) / rise
    return Answer(share, curve.evidence(at, len(curve) - 1, f"{share:.0%} of the rise at once"))


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
