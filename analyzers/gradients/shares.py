"""Named measurements of how well gradients get through: shares of zeros, of dead units, ratios."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mltd.runs.harvest import Floats
from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.view import RunView

_PART = r"(?:frac\w*|share|ratio|pct|percent\w*|rate|proportion|sparsity)"
_NAMES = {
    "dead_units": re.compile(
        rf"\b(?:dead|inactive|dormant)\b.*\b(?:{_PART}|relus?\d*|units?|neurons?|act\w*)\b|"
        r"\brelus?\d*\b.*\b(?:dead|inactive|dormant)\b|"
        rf"\b{_PART}\b.*\b(?:dead|dormant|inactive)\b|^(?:dead|dormant)$"
    ),
    "zero_gradients": re.compile(
        rf"\bzeros?\b.*\bgrad\w*\b.*\b{_PART}\b|\bgrad\w*\b.*\bzeros?\b.*\b{_PART}\b|"
        rf"\b{_PART}\b.*\bzeros?\b.*\bgrad\w*|\bgrad\w* sparsity\b|\bzero frac\w*\b|\bfrac zeros?\b"
    ),
    "zero_activations": re.compile(
        rf"\bzeros?\b.*\bact\w*\b.*\b{_PART}\b|\bact\w*\b.*\bzeros?\b.*\b{_PART}\b|"
        r"\bact\w* (?:sparsity|zeros?)\b|\bzero act\w*\b|"
        r"\brelus?\d*\b.*\b(?:zeros?|sparsity)\b|\b(?:zeros?|sparsity)\b.*\brelus?\d*\b"
    ),
    "saturation": re.compile(r"\bsaturat\w*"),
    "update_ratio": re.compile(
        r"\bupdate\b.*\bratio\b|\bratio\b.*\bupdate\b|\bupdate (?:to )?(?:weight|param\w*)\b|"
        r"\brel(?:ative)? update\b|\bupdate\b.*\brel(?:ative)?\b"
    ),
    "logits": re.compile(
        r"\b(?:max|attn|attention|abs)\b.*\blogits?\b|\blogits?\b.*\bmax\b|\bz loss\b"
    ),
}


@dataclass(frozen=True, slots=True)
class Share:
    """A measurement of one kind, and what to divide it by to get a share."""

    curve: Curve
    unit: float = 1.0

    @property
    def values(self) -> Floats:
        """The values as shares."""
        with np.errstate(all="ignore"):
            return self.curve.y / self.unit

    def level(self, part: float = 1 / 3) -> float:
        """The median of the last part of the finite values, NaN if there are too few."""
        tail = self.curve.y[-max(3, min(4096, int(len(self.curve) * part))) :]
        finite = tail[np.isfinite(tail)]
        return float(np.median(finite / self.unit)) if len(finite) >= 2 else float("nan")


def measured(view: RunView, kind: str) -> list[Share]:
    """Series of a kind, those of the whole model before those of single layers."""
    found = list(_named(view, _NAMES[kind], is_share=kind not in ("update_ratio", "logits")))
    return sorted(found, key=lambda share: len(normalise(share.curve.name).split()))


def _named(view: RunView, pattern: re.Pattern[str], *, is_share: bool) -> Iterator[Share]:
    for series in view.series:
        name = normalise(series.name)
        if not len(series) or not pattern.search(name) or "log" in name.split():
            continue
        curve = view.curve_of(series)
        if not is_share:
            yield Share(curve)
            continue
        _, _, _, low, high, counts = curve.bins
        if not (counts > 0).any():
            continue
        least, most = float(low[counts > 0].min()), float(high[counts > 0].max())
        if least < 0 or most > 100:
            continue  # a count, not a share
        is_percent = "%" in series.unit or re.search(r"\b(?:pct|percent\w*)\b", name) is not None
        if most > 1 and not is_percent:
            continue
        yield Share(curve, 100.0 if is_percent else 1.0)
