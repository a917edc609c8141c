"""Contests of generator and discriminator that are over: one side always knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Basis, Severity
from ..core.view import RunView
from ..resources.trends import rank_correlation
from .endings import ending, last_level, smooth_levels
from .sign import Sign

_OF_REAL = re.compile(r"(?:train )?(?:d x|d real|real (?:score|prob)|scores? real)")
_OF_FAKE = re.compile(r"(?:train )?(?:d g z1?|d fake|fake (?:score|prob)|scores? fake)")
_APART = 0.9
"""Difference of the probabilities that the discriminator gives real and made samples."""
_LOST = 3.0
"""Loss of a generator that is believed once in twenty times."""
_FAR = 6.0
"""And once in four hundred."""
_HOPELESS = 8.0
"""And once in three thousand: no gradient of use comes from there."""
_WORSE_THAN_ODDS = 2.5
"""Loss of a discriminator that is wrong for sure more often than right; even odds cost 1.39."""
_BELIEVED = 0.1
_LEAST = 12


def lost_contests(
    view: RunView, d_loss: Curve, g_loss: Curve, *, is_all: bool = True
) -> Iterator[Sign]:
    """Scores that lie apart all the time, a side that has nothing left to learn, or to gain."""
    found = _apart(view, g_loss)
    if found is None:
        found = _at_rest(d_loss, g_loss) or _never_believed(d_loss, g_loss, is_all)
    if found is None:
        found = _fooled(d_loss, g_loss)
    if found is not None:
        yield found


def _apart(view: RunView, g_loss: Curve) -> Sign | None:
    real, fake = _scores(view, _OF_REAL), _scores(view, _OF_FAKE)
    if real is None or fake is None or len(real) != len(fake) or len(real) < _LEAST:
        return None
    differences = real.bins[2] - fake.bins[2]
    share = float(np.mean(differences > _APART))
    now = last_level(g_loss)
    # Late in a healthy training they are often as far apart; nearly always is another thing.
    if not (share >= 0.9 and now > _LOST and float(np.median(differences[-5:])) > _APART):
        return None
    return Sign(
        "adversarial",
        f"the discriminator wins: {real.name} and {fake.name} are more than {_APART:g} apart in "
        f"{share:.0%} of the run, and {g_loss.name} is {now:.3g}",
        Severity.WARNING,
        Basis.RESEARCH,
        0.7,
        (fake.evidence(0, len(fake) - 1), g_loss.evidence(0, len(g_loss) - 1)),
        fake.step(0),
        {"share": share},
    )


def _scores(view: RunView, pattern: re.Pattern[str]) -> Curve | None:
    """The longest curve of that name, if it is a probability."""
    found = [c for c in view.all_curves() if pattern.fullmatch(normalise(c.name))]
    curve = max(found, key=len, default=None)
    if curve is None or int(curve.bins[5].sum()) < len(curve):
        return None
    low, high = float(np.min(curve.bins[3])), float(np.max(curve.bins[4]))
    return curve if low >= 0.0 and high <= 1.0 else None


def _at_rest(d_loss: Curve, g_loss: Curve) -> Sign | None:
    """Its loss stands still at a floor, as that of smoothed labels, and the other's climbs away."""
    still, climbing = smooth_levels(d_loss), smooth_levels(g_loss)
    if min(len(still), len(climbing)) < _LEAST or not float(np.min(still)) > 0:
        return None
    half = still[len(still) // 2 :]
    level = float(np.median(half))
    # Even odds cost twice the logarithm of two, or once where it is a mean.
    is_still = float(np.ptp(half)) < 0.05 * level and level < 0.5
    began, now = float(np.min(g_loss.y[:3])), last_level(g_loss)
    has_lost = now > max(_FAR, 2.0 * began) and rank_correlation(climbing) > 0.7
    if not is_still or not level < 0.8 * float(np.max(d_loss.y[:3])) or not has_lost:
        return None
    at = len(d_loss) // 2
    return Sign(
        "adversarial",
        f"the discriminator wins: {d_loss.name} stands still at {level:.3g} over the second half "
        f"of the run while {g_loss.name} rose from {began:.3g} to {now:.3g}",
        Severity.WARNING,
        Basis.RESEARCH,
        0.65,
        (d_loss.evidence(at, len(d_loss) - 1), g_loss.evidence(0, len(g_loss) - 1)),
        g_loss.step(0),
        {"share": 0.5},
    )


def _never_believed(d_loss: Curve, g_loss: Curve, is_all: bool) -> Sign | None:
    """A generator that is not believed through the whole second half, however that half went."""
    seen, lost = smooth_levels(d_loss), smooth_levels(g_loss)
    if min(len(seen), len(lost)) < _LEAST or not float(np.min(seen)) >= 0:
        return None
    half = lost[len(lost) // 2 :]
    began, now = float(np.min(g_loss.y[:3])), float(np.median(half))
    # Terms beside the contest make a generator's loss large, too, but from the start.
    least = max(_HOPELESS, 4.0 * began) if is_all else _HOPELESS
    has_lost = now > least and float(np.quantile(half, 0.1)) > _FAR
    if not has_lost or not float(np.median(seen[len(seen) // 2 :])) < 0.5:
        return None
    above = np.flatnonzero(g_loss.bins[2] <= _LOST)
    at = min((int(above[-1]) + 1) * g_loss.bin_width, len(g_loss) - 1) if len(above) else 0
    return Sign(
        "adversarial",
        f"the discriminator wins: {g_loss.name} rose from {began:.3g} to {now:.3g} and stays there "
        "over the second half of the run",
        Severity.WARNING,
        Basis.RESEARCH,
        0.65,
        (g_loss.evidence(at, len(g_loss) - 1), d_loss.evidence(at, len(d_loss) - 1)),
        g_loss.step(at),
        {"share": 0.5},
    )


def _fooled(d_loss: Curve, g_loss: Curve) -> Sign | None:
    """The other way round: whatever is made passes, so nothing has to be learned to make it."""
    still, easy = smooth_levels(d_loss), smooth_levels(g_loss)
    if min(len(still), len(easy)) < _LEAST or not min(float(still.min()), float(easy.min())) >= 0:
        return None
    end = ending(g_loss, lambda v: v < _BELIEVED, 5, 0.25)
    now = last_level(d_loss)
    if end is None or not float(np.max(g_loss.y[:3])) > 3 * _BELIEVED:
        return None
    if not now > max(_WORSE_THAN_ODDS, 1.5 * float(np.median(d_loss.y[:3]))):
        return None
    return Sign(
        "adversarial",
        f"the generator wins: {g_loss.name} is {end.level:.3g} over the last {end.share:.0%} of "
        f"the run while {d_loss.name} rose to {now:.3g}",
        Severity.WARNING,
        Basis.RESEARCH,
        0.65,
        (g_loss.evidence(end.start, len(g_loss) - 1), d_loss.evidence(0, len(d_loss) - 1)),
        g_loss.step(end.start),
        {"share": end.share},
    )
