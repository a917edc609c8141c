"""Fixes that several causes share, made concrete with the run's own values."""

from __future__ import annotations

import numpy as np

from .case import Case
from .cause import Fix

MANY = 65536
"""Points that are enough to say what is usual."""


def shown(value: float) -> str:
    """A number as one would write it into a config."""
    is_whole = abs(value) < 1e7 and value == int(value)
    return str(int(value)) if is_whole else f"{value:.3g}"


def learning_rate_of(case: Case) -> tuple[str, float] | None:
    """Name and value of the run's peak learning rate: the config's, unless a higher is logged."""
    setting, curve = case.view.settings.learning_rate(), case.view.curve("lr")
    meant = (setting.number if setting is not None else None) or 0.0
    peak = 0.0
    if curve is not None and len(curve):
        peak = float(np.nanmax(curve.bins[4], initial=0.0))
    if setting is not None and meant > 0 and peak <= _FAR_ABOVE * meant:
        return setting.path.rpartition(".")[2], meant
    return (curve.name, peak) if curve is not None and peak > 0 else None


_FAR_ABOVE = 2.0
"""Times what is configured from which on it was not that with which the run stepped."""


def lower_learning_rate(case: Case, addresses: str, factor: float = 3.0, metric: str = "") -> Fix:
    """Divide the learning rate."""
    found = learning_rate_of(case)
    watched = metric or "train loss"
    if found is None:
        change, example = f"divide the learning rate by {factor:g}", f"lr = lr / {factor:g}"
    else:
        name, rate = found
        change = f"{name} {shown(rate)} -> {shown(rate / factor)}"
        example = f"{name}: {shown(rate / factor)}"
    return Fix(
        addresses=addresses,
        change=change,
        example=example,
        expected_impact=f"{watched} falls without new spikes within the first 200-500 steps",
        verify="rerun 500 steps from the last good checkpoint: no value above the range before",
        if_it_fails=f"divide by {factor:g} once more; if two divisions change nothing, the step "
        "size is not the cause: look at the batches",
        is_quick=True,
    )


def clip_gradients(case: Case, addresses: str) -> Fix:
    """Clip at what the run's gradients usually are."""
    curve = case.view.curve("grad_norm")
    limit = 1.0
    if curve is not None and len(curve) and not case.view.facts.grad_norm_flaw:
        early = curve.y[: max(8, min(len(curve) // 2, MANY))]
        early = early[np.isfinite(early) & (early > 0)]
        if len(early) >= 8:
            limit = float(np.quantile(early, 0.9))
    clip = case.setting("clip")
    number = clip.number if clip is not None else None
    if clip is not None and number:
        change = f"{clip.path} {shown(number)} -> {shown(min(limit, number / 2))}"
        example = f"{clip.path}: {shown(min(limit, number / 2))}"
    else:
        change = f"clip the gradient norm at {shown(limit)} before each optimizer step"
        example = f"torch.nn.utils.clip_grad_norm_(model.parameters(), {shown(limit)})"
    return Fix(
        addresses=addresses,
        change=change,
        example=example,
        expected_impact=f"updates stay within {shown(limit)}; the largest gradient norm stays "
        "below ten times its median over the next 1,000 steps",
        verify="log the norm before clipping: 5-20 % of the steps are clipped",
        if_it_fails="if more than half of the steps are clipped, lower the learning rate instead",
        is_quick=True,
    )


def longer_warmup(case: Case, addresses: str) -> Fix:
    """Give the first steps a smaller rate."""
    warm = case.setting("warmup")
    number = warm.number if warm is not None else None
    if warm is not None and number:
        change = f"{warm.path} {shown(number)} -> {shown(2 * number)}"
        example = f"{warm.path}: {shown(2 * number)}"
    else:
        change = "warm the learning rate up over the first 5 % of the steps"
        example = "torch.optim.lr_scheduler.LinearLR(optimizer, 0.01, total_iters=steps // 20)"
    return Fix(
        addresses=addresses,
        change=change,
        example=example,
        expected_impact="the loss falls through the first tenth of the run without a spike",
        verify="overlay the first 10 % of both runs: the new one stays below its first value",
        if_it_fails="if more than 5 % of the steps are needed, the peak rate is too high: lower it",
    )
