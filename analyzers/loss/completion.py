"""Whether a run has made all that it meant to make: what was reached then is its result."""

from __future__ import annotations

import re

import numpy as np

from mltd.runs.event import EventKind
from mltd.runs.state import RunState

from ..core.curve import Curve
from ..core.view import RunView

_NEARLY = 0.97
_OUT_OF_ITERATIONS = re.compile(
    r"maximum (?:number of )?iterations \(?\d+\)? reached|ITERATIONS REACHED LIMIT|"
    r"\bmax_iter\b.{0,40}\breached\b|maximum number of iteration reached",
    re.IGNORECASE,
)


def is_complete(view: RunView, curve: Curve) -> bool:
    """All planned steps or epochs are done; where none are planned, the run says it is over."""
    steps, epochs = view.planned_steps, planned_epochs(view)
    if steps is not None and curve.axis_name == "step":
        # Counted from 0, or logged now and then, the last value is not the last step.
        return float(curve.x[-1]) + min(curve.spacing, 0.05 * steps + 1) >= _NEARLY * steps
    if epochs is not None:
        seen = curve.x if curve.axis_name == "epoch" else curve.series.axis("epoch")[-len(curve) :]
        seen = seen[np.isfinite(seen)]
        if len(seen) == 0:
            return False
        # Counted from 0, the last epoch is one less.
        counts_from_0 = float(seen[0]) == 0.0 and bool(np.all(seen == np.round(seen)))
        return float(seen[-1]) >= _NEARLY * (epochs - counts_from_0)
    if steps is not None:
        return False
    return view.state is RunState.FINISHED or _ran_out(view)


def _ran_out(view: RunView) -> bool:
    """A solver says that it has used up its iterations."""
    warnings = view.events_of(EventKind.WARNING)
    return any(_OUT_OF_ITERATIONS.search(placed.text) for placed in warnings)


def planned_epochs(view: RunView) -> float | None:
    """How many epochs the run means to make, if it says so."""
    return view.run.totals.get("epoch") or view.settings.number("epochs")
