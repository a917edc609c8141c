"""Signs in logged shares and varieties of predictions and representations."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Basis, Evidence, Severity
from ..core.view import RunView
from .blanks import said_nothing
from .codebook import idle_codebook
from .endings import ending, smooth_levels
from .pairs import unlike_pairs
from .routing import starved_experts
from .sign import Sign

_TOP_SHARE = re.compile(
    r"\b(?:majority|dominant|most (?:common|frequent)|(?:top|max|largest)(?: ?1)? "
    r"(?:class|pred(?:iction|icted)?s?|token|label))\b.*\b(?:share|frac|fraction|ratio|freq|pct|rate)\b"
)
_EXPERT_SHARE = re.compile(
    r"\b(?:experts?|router|routing|gate|gating|moe)\b.*\b(?:max|top|most|largest|dominant)\b"
    r"|\b(?:max|top|most|largest|dominant)\b.*\b(?:experts?|router|routing)\b"
)
_ROUTER_ENTROPY = re.compile(
    r"\b(?:experts?|router|routing|gate|gating|moe)\b.*\b(?:entropy|ent|h)\b"
)
_ATTENTION_ENTROPY = re.compile(r"\b(?:attn|attention)\b.*\b(?:entropy|ent|h)\b")
_REPEATED = re.compile(
    r"(?:.* )?(?:(?:seq )?(?:rep|repeat(?:ed|s)?)(?: (?:\d|n|rate|ratio|share|frac\w*|\w*grams?))+|"
    r"repetition(?: (?:\d|n|rate|ratio|share|frac\w*|\w*grams?))*)"
)
_DISTINCT = re.compile(r"\b(?:distinct(?: ?\d| n)?|unique (?:tokens?|chars?|ngrams?|pred\w*))\b")
_SPREAD = re.compile(
    r"\b(?:emb|embeddings?|feats?|features?|repr|representations?|z\d?|latents?|proj(?:ection)?s?)\b.*"
    r"\b(?:std|var|variance)\b"
    r"|\bstd\b.*\b(?:emb|embeddings?|features?|z\d?|latents?|proj(?:ection)?s?)\b"
)
_SQUARED = re.compile(r"\bvar(?:iance)?\b")
_OUTPUT_SPREAD = re.compile(
    r"(?:\w+ )?(?:pred(?:iction|icted)?s?|y ?hat) (?:std|spread)|std (?:of )?pred\w*"
)
_COLLAPSE = re.compile(r"(?:.* )?collapse(?: (?:level|score|metric|ratio))?")
_BARE_SPREAD = re.compile(r"(?:train )?(?:(?:outputs?|out|repr|h|p) )?std(?: [hp]\d?)?")
TOP_SHARE = 0.9
LOW_DISTINCT = 0.2
_MOSTLY_REPEATED = 0.8
_OUTPUT_LEFT = 0.005
"""Outputs of an untrained model may vary by much more than what they are to meet."""
_HARDLY_LEFT = 0.02
"""Of a spread or an entropy that may shrink a good deal by right."""
LITTLE_LEFT = 0.12
"""Of the largest spread, over the last part of the run,"""
LITTLE_WITH_LOSS = 0.2
"""and where an objective that compares codes is met without any more variety."""
_MET = 0.05


def logged_signs(view: RunView) -> Iterator[Sign]:
    """Curves that say how varied the outputs are."""
    starved = list(starved_experts(view))
    yield from starved
    yield from idle_codebook(view)
    yield from unlike_pairs(view)
    yield from said_nothing(view)
    is_routed = bool(starved)
    for curve in view.all_curves():
        name = normalise(curve.name)
        if _TOP_SHARE.search(name):
            yield from _top_share(curve)
        elif _EXPERT_SHARE.search(name) or _ROUTER_ENTROPY.search(name):
            found = [] if is_routed else list(_routing(curve, name))
            is_routed |= bool(found)
            yield from found
        elif _ATTENTION_ENTROPY.search(name):
            yield from _lost(curve, "attention", _HARDLY_LEFT, "each token looks at one other")
        elif _DISTINCT.search(name):
            yield from _distinct(curve)
        elif _REPEATED.fullmatch(name):
            yield from _top_share(curve, "of the text repeats itself", _MOSTLY_REPEATED)
        elif _SPREAD.search(name) and view.curve("kl") is None:
            # Beside a divergence it is the width of a posterior, which narrows by right.
            left = LITTLE_WITH_LOSS if _is_met(view) else LITTLE_LEFT
            left = left * left if _SQUARED.search(name) else left
            yield from _lost(curve, "representation", left, "all inputs get the same code")
        elif _OUTPUT_SPREAD.fullmatch(name) and not _is_met(view):
            yield from _lost(curve, "representation", _OUTPUT_LEFT, "all inputs get one answer")
        elif _COLLAPSE.fullmatch(name):
            yield from _top_share(curve, "of the codes' spread is gone", way="representation")
        elif _BARE_SPREAD.fullmatch(name) and view.curve("reward") is None:
            # That of a policy's actions shrinks as it learns.
            yield from _lost(curve, "representation", _HARDLY_LEFT, "all inputs get the same code")


def equal_from_the_start(view: RunView) -> Evidence | None:
    """Codes without any spread at the very first record: nothing has been learned away yet."""
    for curve in view.all_curves():
        if _SPREAD.search(normalise(curve.name)) and len(curve) and curve.y[0] == 0.0:
            return curve.evidence(0)
    return None


def _is_met(view: RunView) -> bool:
    """The loss lost nearly all of its size, as one does that equal codes fulfil."""
    loss = view.curve("train/loss")
    levels = smooth_levels(loss) if loss is not None else np.empty(0)
    if len(levels) < 8 or loss is None:
        return False
    return 0 <= float(np.median(levels[-3:])) < _MET * float(np.max(loss.y[:3]))


def _routing(curve: Curve, name: str) -> Iterator[Sign]:
    if _EXPERT_SHARE.search(name):
        yield from _top_share(curve, "of the tokens go to one expert", way="routing")
    else:
        yield from _lost(curve, "routing", 0.05, "all go the same way")


def _top_share(
    curve: Curve,
    what: str = "of the predictions are one class or token",
    least: float = TOP_SHARE,
    way: str = "predictions",
) -> Iterator[Sign]:
    levels = smooth_levels(curve)
    peak = float(levels.max()) if len(levels) else 0.0
    scale = 100.0 if 1.0 < peak <= 100.0 else 1.0
    end = ending(curve, lambda v: (v > least * scale) & (v <= scale * 1.001), 3, 0.25)
    if end is None:
        return
    share = end.level / scale
    yield Sign(
        way,
        f"{share:.0%} {what} ({curve.name}) from {curve.axis_name} {curve.step(end.start):.10g} on",
        Severity.WARNING,
        Basis.OBSERVATION,
        0.85,
        (curve.evidence(end.start, len(curve) - 1),),
        curve.step(end.start),
        {"share": share},
    )


def _distinct(curve: Curve) -> Iterator[Sign]:
    levels = smooth_levels(curve)
    if len(levels) and float(levels.max()) >= 2.0:
        yield from _only_one(curve)
        return
    if len(levels) == 0 or levels.max() > 1.0 or levels.min() < 0.0:
        return
    end = ending(curve, lambda v: v < LOW_DISTINCT, 5, 0.25)
    if end is None:
        return
    has_fallen = float(levels.max()) >= max(2.5 * end.level, LOW_DISTINCT)
    is_nothing = end.level < 0.06 and end.share > 0.9 and end.points >= 10
    if not has_fallen and not is_nothing:
        return
    came = f"fell from {levels.max():.2f} to" if has_fallen else "never left"
    yield Sign(
        "predictions",
        f"{curve.name} {came} {end.level:.2g}: the outputs are nearly all the same",
        Severity.WARNING,
        Basis.RESEARCH,
        0.7 if has_fallen else 0.6,
        (curve.evidence(end.start, len(curve) - 1),),
        curve.step(end.start),
        {"share": 1.0 - end.level},
    )


def _only_one(curve: Curve) -> Iterator[Sign]:
    """A number of different outputs that has come down to one."""
    end = ending(curve, lambda v: v <= 1.0, 5, 0.25)
    if end is not None and end.start > 0:
        yield Sign(
            "predictions",
            f"{curve.name} is {end.level:g} from {curve.axis_name} {curve.step(end.start):.10g} "
            "on: the outputs are all the same",
            Severity.WARNING,
            Basis.OBSERVATION,
            0.85,
            (curve.evidence(end.start, len(curve) - 1),),
            curve.step(end.start),
            {"share": 1.0},
        )


def _lost(curve: Curve, way: str, left: float, says: str) -> Iterator[Sign]:
    """What had a size and ends with hardly any of it."""
    levels = smooth_levels(curve)
    # Most of it may be gone within the first records.
    start = float(np.nanmax([*levels, *curve.y[:2]])) if len(levels) else 0.0
    end = ending(curve, lambda v: np.abs(v) < left * start, 5, 0.25) if start > 0 else None
    if end is None or end.start == 0:
        return
    yield Sign(
        way,
        f"{curve.name} fell from {start:.3g} to {abs(end.level):.3g}: {says}",
        Severity.WARNING,
        Basis.RESEARCH,
        0.75,
        (curve.evidence(0, end.start),),
        curve.step(end.start),
        {"before": start, "after": end.level},
    )
