"""Codebooks of which hardly an entry is used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.finding import Basis, Severity
from ..core.view import RunView
from .endings import ending, smooth_levels
from .sign import Sign

_QUANTISES = re.compile(r"\b(?:vq\w*|codebook|commit(?:ment)?|quanti[sz]\w*|codes?|codewords?)\b")
_PERPLEXITY = re.compile(r"(?:.* )?(?:perplexity|ppl|perp)(?: \w+)?")
_USED = re.compile(
    r"(?:.* )?(?:(?:codes?|codebook|codewords?|vq)(?: \w+)? (?:used|usage|util\w*|active)|"
    r"(?:used|active|unique) (?:codes?|codewords?|codebook \w+)|code(?:book)? usage)(?: \w+)?"
)
_FEW = 2.0
"""Codes that can tell hardly anything apart, whatever the size of the book."""
_LITTLE = 0.05
"""Of the most that were used; few of a large book are used by a small batch anyway."""


def idle_codebook(view: RunView) -> Iterator[Sign]:
    """The first count, share or perplexity of codes that ends with next to none."""
    names = [(normalise(curve.name), curve) for curve in view.all_curves()]
    # A language model's perplexity may well come near 1.
    quantises = any(_QUANTISES.search(name) for name, _ in names)
    for name, curve in names:
        is_use = _USED.fullmatch(name) is not None
        if is_use or (quantises and _PERPLEXITY.fullmatch(name)):
            found = _idle(curve, is_perplexity=not is_use)
            if found is not None:
                yield found
                return


def _idle(curve: Curve, *, is_perplexity: bool) -> Sign | None:
    levels = smooth_levels(curve)
    if len(levels) < 4:
        return None
    most = max(float(levels.max()), float(curve.y[0]))
    is_share = not is_perplexity and most <= 1.0
    # A perplexity of one is a single code; counts begin at one, too.
    limit = _LITTLE * most if is_share else max(_FEW, _LITTLE * most if most > 100 else 0.0)
    end = ending(curve, lambda v: v <= limit, 5, 0.25)
    if end is None or (end.start == 0 and (is_share or most > _FEW)):
        return None
    came = f"fell from {most:.3g} to" if end.start else "never left"
    return Sign(
        "codebook",
        f"{curve.name} {came} {end.level:.3g}: hardly a code is in use",
        Severity.WARNING,
        Basis.RESEARCH,
        0.75,
        (curve.evidence(max(0, end.start - 1), len(curve) - 1),),
        curve.step(end.start),
        {"before": most, "after": end.level},
    )
