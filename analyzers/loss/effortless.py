"""Text that is foretold with less surprise than any text holds: the answer is in the input."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mltd.runs.roles import normalise

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.view import RunView
from .levels import begins_at_start

_BITS = re.compile(r"\b(?:bpc|bpb|bits per (?:char|character|byte))\b")
_LEAST = 8
_TEXT = 0.5
"""Bits per character; the best models of language need about twice as many."""
_UNLEARNED = 1.5


def no_surprise(view: RunView, identity: str) -> Iterator[Finding]:
    """Bits per character of validation far below those of any text, for a third of the run.

    A memory of the training text would not help there: whoever sees the next character does.
    """
    for curve in view.all_curves():
        is_validation = (curve.series.role or "").startswith(("val/", "test/"))
        if not is_validation or not _BITS.search(normalise(curve.name)):
            continue
        values = curve.bins[2]
        if len(curve) < _LEAST or not np.isfinite(values).all() or not begins_at_start(curve):
            continue
        low = values < _TEXT
        if float(values[0]) < _UNLEARNED or not low[-(len(low) // 3) :].all():
            continue
        first = min((len(low) - int(np.argmin(low[::-1]))) * curve.bin_width, len(curve) - 1)
        yield Finding(
            id=identity,
            title=f"{curve.name} is below {_TEXT:g} since {curve.axis_name} "
            f"{curve.step(first):.10g} and {values[-1]:.2g} at the end: no text is so easy to "
            "foretell",
            severity=Severity.WARNING,
            confidence=finding_confidence(Basis.RESEARCH, 0.75),
            basis=Basis.RESEARCH,
            evidence=(curve.evidence(0, first), curve.evidence(len(curve) - 1)),
            first_step=curve.step(first),
            details={"kind": "too_good"},
        )
        return
