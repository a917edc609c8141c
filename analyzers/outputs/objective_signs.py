"""Signs in objectives that can be met without learning: adversarial, policy, variational."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.earned import earned
from ..core.finding import Basis, Severity
from ..core.view import RunView
from .contest import lost_contests
from .endings import Ending, ending, first_level, last_level, smooth_levels
from .sign import Sign

_D, _G = r"(?:net ?d|d|disc?(?:riminator)?)", r"(?:net ?g|g|gen(?:erator)?)"
_LOSS_OF = (
    r"(?:\w+ )?(?:{0} (?:adv |total )?loss|{1}loss|(?:adv |total )?loss {0}|loss{0}|err ?{0}|"
    r"{0} err)(?: total)?|net{1}"
)
_D_LOSS, _G_LOSS = re.compile(_LOSS_OF.format(_D, "d")), re.compile(_LOSS_OF.format(_G, "g"))
_G_PART, _D_PART = re.compile(r"(?:\w+ )?g gan"), re.compile(r"(?:\w+ )?d fake")
"""`G_GAN: 3.6 G_L1: 1.4 D_real: 0.02 D_fake: 0.04`: each side's part of the contest by itself."""
_D_ACCURACY = re.compile(rf"(?:\w+ )?(?:{_D} acc(?:uracy)?|acc(?:uracy)? {_D})(?: fake)?")
_MODES = re.compile(r"(?:.* )?modes(?: (?:covered|found|captured))?")
_SAMPLE_SPREAD = re.compile(
    r"(?:.* )?(?:samples?|fakes?|generated|gen) (?:std|diversity|distance|spread)|diversity"
)
_KL = re.compile(
    r"(?:(?:train|loss|losses|metrics) )*(?:kl|kld|kl z|kl latent)(?: (?:loss|div\w*|term|mean))?"
)
_RECONSTRUCTION = re.compile(
    r"(?:(?:train|loss|losses|metrics) )*(?:rec(?:on\w*)?|reconst?\w*)"
    r"(?: (?:loss|err(?:or)?|term|nll))?"
)
_LIKELIHOOD = re.compile(r"(?:(?:train|loss|losses|metrics) )*(?:bce|nll|mse)(?: loss)?")
"""What a variational model calls its reconstruction; others call many things so."""
_BOUND = re.compile(r"(?:(?:train|val) )?(?:neg(?:ative)? )?n?elbo(?: loss)?")
_ENTROPY = re.compile(
    r"(?:(?:train|policy|pi|actor|action|mean|avg|loss) )*(?:ent|entropy|h)(?: (?:loss|mean|avg))?"
)

_ENOUGH_TO_SPREAD = 8
"""Evaluations after which a generator that works has found several modes."""


def objective_signs(view: RunView) -> Iterator[Sign]:
    """Collapses of generators, policies and latent codes."""
    yield from _adversarial(view)
    yield from _policy(view)
    yield from _latent(view)


def _named(view: RunView, pattern: re.Pattern[str]) -> Curve | None:
    found = [c for c in view.all_curves() if pattern.fullmatch(normalise(c.name))]
    return max(found, key=len, default=None)


def _adversarial(view: RunView) -> Iterator[Sign]:
    d_loss, g_loss = _named(view, _D_LOSS), _named(view, _G_LOSS)
    if (contested := _named(view, _G_PART)) is not None:
        g_loss, d_loss = contested, d_loss or _named(view, _D_PART)
    if d_loss is None or g_loss is None:
        return
    won = list(_discriminator_wins(view, d_loss, g_loss))
    yield from won or lost_contests(view, d_loss, g_loss, is_all=g_loss is not contested)
    modes = _named(view, _MODES)
    if modes is not None:
        yield from _few_modes(modes)
    spread = _named(view, _SAMPLE_SPREAD)
    if spread is not None:
        yield from _narrow_samples(spread)


def _discriminator_wins(view: RunView, d_loss: Curve, g_loss: Curve) -> Iterator[Sign]:
    """Both near ln 2 is healthy; a critic whose loss may be negative is not judged."""
    levels = smooth_levels(d_loss)
    accuracy = _named(view, _D_ACCURACY)
    end: Ending | None = None
    shown = d_loss
    if len(levels) and levels.min() >= 0 and (levels.max() > 0.3 or len(levels) >= 12):
        end = ending(d_loss, lambda v: v < 0.05, 5, 0.1)
    if end is None and accuracy is not None:
        end, shown = ending(accuracy, lambda v: v > 0.98, 5, 0.25), accuracy
    if end is None and accuracy is not None and len(accuracy) >= 12:
        right = smooth_levels(accuracy)
        # Nearly always right from the start: that it errs a little now changes nothing.
        if float(np.mean(right > 0.97)) > 0.8:
            end, shown = Ending(0, len(accuracy), 1.0, float(np.median(right))), accuracy
    start, now = first_level(g_loss), last_level(g_loss)
    always = end is not None and end.share == 1.0
    needed = max(2.0 * start, 2.0)
    if shown is d_loss and len(levels) and levels.max() <= 0.3:
        needed = max(needed, 6.0)  # it never was a contest: only a generator that is lost tells
    elif always:
        needed = 2.0
    if end is None or not now > needed:
        return
    yield Sign(
        "adversarial",
        f"the discriminator wins: {shown.name} is {end.level:.3g} over the last {end.share:.0%} "
        f"of the run while {g_loss.name} rose from {start:.3g} to {now:.3g}",
        Severity.WARNING,
        Basis.RESEARCH,
        0.7,
        (
            shown.evidence(end.start, len(shown) - 1),
            g_loss.evidence(0, len(g_loss) - 1),
        ),
        shown.step(end.start),
        {"share": end.share},
    )


def _few_modes(modes: Curve) -> Iterator[Sign]:
    levels = smooth_levels(modes)
    if len(levels) == 0:
        return
    most = float(levels.max())
    end = ending(modes, lambda v: (v <= 1.0) | (v <= 0.5 * most), 3, 0.25)
    counts = modes.bins[2][modes.bins[5] > 0]
    later = counts[len(counts) // 2 :]  # a mean of counts is no count
    is_poor = len(levels) >= _ENOUGH_TO_SPREAD and float(np.median(later)) <= 1.0
    if is_poor and (end is None or most < 1):
        # It may jump from one to another; seldom has it two.
        half = len(modes) // 2
        end = Ending(half, len(modes) - half, 0.5, float(np.median(later)))
    elif most < 1:
        return
    if end is None or (most < 4 and end.level > 1):
        return
    yield Sign(
        "adversarial",
        f"the generator reaches {end.level:g} modes ({modes.name}), at best it reached {most:.3g}",
        Severity.WARNING,
        Basis.RESEARCH,
        0.75,
        (modes.evidence(end.start, len(modes) - 1),),
        modes.step(end.start),
        {"modes": end.level},
    )


def _narrow_samples(spread: Curve) -> Iterator[Sign]:
    levels = smooth_levels(spread)
    if len(levels) < 4 or not levels.max() > 0:
        return
    most = float(levels.max())
    end = ending(spread, lambda v: v < 0.4 * most, 5, 0.2)
    if end is None or end.start == 0:
        return
    yield Sign(
        "adversarial",
        f"{spread.name} fell from {most:.3g} to {end.level:.3g}: the samples look alike",
        Severity.WARNING,
        Basis.INFERENCE,
        0.55,
        (spread.evidence(end.start, len(spread) - 1),),
        spread.step(end.start),
        {"before": most, "after": end.level},
    )


def _policy(view: RunView) -> Iterator[Sign]:
    """A policy without entropy that has not learned much either; a solved task looks different."""
    entropy, reward = view.curve("entropy") or _named(view, _ENTROPY), earned(view)
    if entropy is None or reward is None or len(entropy) < 8:
        return
    # The largest of the first values: a collapse may take only a few steps.
    _, _, means, _, _, counts = entropy.bins
    early = np.abs(means[counts > 0][: max(3, len(entropy) // 50)])
    start = float(early.max()) if len(early) else 0.0
    if not 0 < start < np.inf:
        return
    end = ending(entropy, lambda v: np.abs(v) < 0.1 * start, 5, 0.2)
    if end is None:
        return
    rewards = smooth_levels(reward)
    if len(rewards) < 4:
        return
    now, best = last_level(reward), float(rewards.max())
    span = float(rewards.max() - rewards.min())
    is_early = end.start < 0.25 * len(entropy)
    at = int(np.searchsorted(reward.x, entropy.step(end.start)))
    first_x, _, means, _, _, counts = reward.bins
    after = means[(counts > 0) & (first_x >= entropy.step(end.start))]
    few = max(1, len(after) // 5)
    gained = float(np.median(after[-few:]) - np.median(after[:few])) if len(after) >= 5 else 0.0
    # Three standard errors of a difference of medians: noise alone gains as much.
    chance = 5.3 * reward.noise / np.sqrt(few * reward.bin_width)
    # A reward that is the same to the last digit has no span and no noise.
    is_stuck = gained <= max(0.1 * span, chance)
    has_lost = now < best - 0.5 * span
    # What a policy is certain of may be right: it rose while the entropy fell, and stays there.
    first = float(np.nanmedian(reward.y[:2]))
    has_won = now - first > max(8.0 * reward.noise, 0.5 * span) and now >= best - 0.15 * span
    # Certain after a few updates, without any gradient since: whatever it earns was not learned.
    is_dead = end.start <= max(3, len(entropy) // 100) and _has_no_gradient(view, end.start)
    if not has_lost and not is_dead and (has_won or not (is_early and is_stuck)):
        return
    yield Sign(
        "policy",
        f"{entropy.name} fell from {start:.3g} to {abs(end.level):.3g} by {entropy.axis_name} "
        f"{entropy.step(end.start):.10g} and {reward.name} gained {gained:.3g} since",
        Severity.WARNING,
        Basis.RESEARCH,
        0.7,
        (
            entropy.evidence(0, end.start),
            reward.evidence(min(at, len(reward) - 1), len(reward) - 1),
        ),
        entropy.step(end.start),
        {"entropy": end.level, "gained": gained},
    )


def _has_no_gradient(view: RunView, start: int) -> bool:
    norm = view.curve("grad_norm")
    if norm is None or len(norm) < start + 20:
        return False
    return float(np.mean(norm.y[start + 3 :] == 0.0)) > 0.8


def _latent(view: RunView) -> Iterator[Sign]:
    """A code that says nothing: the divergence is 0 beside a reconstruction error that is not."""
    kl, reconstruction = _named(view, _KL), _named(view, _RECONSTRUCTION)
    if kl is not None and reconstruction is None and view.curve("reward") is None:
        is_variational = "kld" in normalise(kl.name) or _named(view, _BOUND) is not None
        reconstruction = _named(view, _LIKELIHOOD) if is_variational else None
    if kl is None or reconstruction is None or len(kl) < 10:
        return
    error = last_level(reconstruction)
    if not error > 0:
        return
    end = ending(kl, lambda v: (v < 0.05) & (v < 0.01 * error) & (v > -1e-3), 8, 0.25)
    if end is None:
        return
    yield Sign(
        "latent",
        f"{kl.name} is {end.level:.3g} over the last {end.share:.0%} of the run: the latent code "
        "says nothing about the input",
        Severity.WARNING,
        Basis.RESEARCH,
        0.75,
        (
            kl.evidence(end.start, len(kl) - 1),
            reconstruction.evidence(len(reconstruction) - 1),
        ),
        kl.step(_fall_begins(kl, end.start)),
        {"kl": end.level},
    )


def _fall_begins(curve: Curve, empty: int) -> int:
    """Where a curve left its level for good, of which nothing is left at another place."""
    before = curve.y[:empty]
    if len(before) < 10 or not np.isfinite(before).all():
        return empty
    high = np.flatnonzero(before >= 0.5 * float(np.median(before)))
    # What sinks slowly has no such place.
    fell = int(high[-1]) + 1 if len(high) else empty
    return fell if empty - fell <= 0.25 * len(before) else empty
