"""Settings that are turned up on purpose while a run goes on, and make its loss count for more.

The weight of a part (the KL term of a VAE, a penalty), the noise or the mask on the inputs, the
share of weights that is pruned; the share of teacher forcing is turned down.
"""

from __future__ import annotations

import re

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.facts import Change
from ..core.view import RunView

_WEIGHT = re.compile(
    r"\b(?:beta|lambda|lam|alpha|coeff?|anneal\w*|(?:kl|kld|reg|aux|adv|consistency|penalty|"
    r"distill?|contrastive|perceptual|loss) (?:weight|w|scale|factor)|w (?:kl|kld|reg|aux|adv))\b"
)
_HARDER = re.compile(
    r"\b(?:noise (?:level|std|scale)|sigma|mask (?:ratio|prob|rate)|drop(?:out)? (?:rate|prob|p)|"
    r"dropout|sparsity|prun\w+|mixup|cutmix|aug\w* (?:strength|prob|magnitude)|difficulty|eps|"
    r"epsilon|margin|horizon|rollout (?:len|length|steps))\b"
)
_EASIER = re.compile(
    r"\b(?:teacher forcing\w*|tf(?: (?:ratio|prob|rate))?|scheduled sampling\w*)\b"
)
_ROOM = 1.1
"""Times that a loss may be above what the weight explains, or above where it was then."""


def turned_up(view: RunView, loss: Curve, best: float, rise: float) -> Change | None:
    """The setting that was turned since a step, if a rise of the loss to so many times fits it.

    With parts that only ever fall, a sum grows at most by the factor of a weight in it. Where the
    setting has come to rest, so must the loss have.
    """
    for curve in view.all_curves():
        name = normalise(curve.name)
        is_weight = bool(_WEIGHT.search(name))
        is_easier = bool(_EASIER.search(name))
        if curve.series.role is not None or not (is_weight or is_easier or _HARDER.search(name)):
            continue
        sign = -1.0 if is_easier else 1.0
        values: Floats = sign * curve.y
        if len(curve) < 4 or not np.isfinite(values).all() or curve.axis_name != loss.axis_name:
            continue
        at = max(0, int(np.searchsorted(curve.x, best, side="right")) - 1)
        then, now = float(values[at]), float(values[-1])
        if not _is_turned(values, then, now):
            continue
        if is_weight and then > 0 and rise > _ROOM * now / then:
            continue
        reached = int(np.argmax(values >= now - 0.02 * (now - then)))
        if _rests(loss, curve.step(reached)):
            quote = f"{sign * then:.3g} -> {sign * now:.3g}"
            what = f"{curve.name} went {quote}"
            return Change(curve.step(at), what, curve.evidence(at, len(curve) - 1, quote))
    return None


def _is_turned(values: Floats, then: float, now: float) -> bool:
    """Turned up by a schedule: it never goes back by more than a rounding."""
    back = float(np.min(np.diff(values), initial=0.0))
    return now > then + 0.02 * abs(now) and -back <= 0.02 * (now - then)


def _rests(loss: Curve, since: float) -> bool:
    later = loss.y[int(np.searchsorted(loss.x, since)) :]
    later = later[np.isfinite(later)]
    if len(later) < 4:
        return True
    few = max(2, len(later) // 5)
    return float(np.median(later[-few:])) <= _ROOM * float(np.median(later[:few]))
