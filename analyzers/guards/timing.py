"""When lines come."""

from __future__ import annotations

import numpy as np

from ..core.facts import Facts
from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView

LEAST = 30


def buffered(view: RunView, facts: Facts) -> None:
    """Guard 19: output in bursts, many lines with one timestamp, then nothing for long."""
    for source in view.run.files:
        column = source.coordinates.axes.get("time")
        if column is None or len(column) < LEAST:
            continue
        times = column.view()[-512:]
        gaps = np.diff(times[np.isfinite(times)])
        if len(gaps) < LEAST:
            continue
        if np.mean(gaps == 0) > 0.7 and gaps.max() > 20 * max(1.0, float(np.mean(gaps))):
            facts.is_buffered = True
            name = source.path.rpartition("/")[2]
            facts.notes["buffered"] = Evidence(
                EvidenceKind.LOG,
                f"{name}:{source.lines}",
                f"lines come in bursts, up to {gaps.max():.0f} s apart: output is buffered",
            )
