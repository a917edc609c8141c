"""Facts: how this log was made, known before anything in it is judged.

Most false alarms come from reading a log wrongly. Each guard in `analyzers/guards/` looks at
the run once and leaves facts here; analyzers ask, and quote them in their evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .finding import Evidence

if TYPE_CHECKING:
    from .curve import Curve
    from .view import RunView


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change of what the run is fed or how: batch size, sequence length, stage."""

    step: float
    what: str
    evidence: Evidence


@dataclass(slots=True)
class Facts:
    """What the guards found out. The defaults mean: nothing special."""

    smoothed: dict[str, str] = field(default_factory=dict)
    """Curve name to the sentence that says so: logged as a running mean or an average."""
    quantised: dict[str, str] = field(default_factory=dict)
    """Curve name to the sentence: few digits, or half-precision values."""
    warmup_until: float | None = None
    """Step at which the learning rate reached its peak after rising from near 0."""
    is_cyclic: bool = False
    """The learning rate has several maxima on purpose."""
    is_decayed: bool = False
    """The learning rate is below a tenth of its peak at the end, as planned."""
    changes: list[Change] = field(default_factory=list)
    is_monotone: bool = True
    """False where a falling loss is not what the objective promises: GAN, RL, VAE warm-up."""
    objective: str = ""
    """Why it is not monotone, in a sentence."""
    grad_norm_flaw: str = ""
    """Why the logged gradient norm cannot be judged, in a sentence."""
    is_grad_norm_scaled: bool = False
    """The gradient norm is logged multiplied by the loss scale."""
    skipped: set[int] = field(default_factory=set)
    """Positions in the gradient-norm curve that repeat the value of a step before."""
    is_buffered: bool = False
    """Output comes in bursts, so silence means little."""
    recovered: set[int] = field(default_factory=set)
    """`id` of events that were overcome: the run went on making progress after them."""
    notes: dict[str, Evidence] = field(default_factory=dict)
    """Guard name to what it saw, for all guards that had something to say."""

    def is_smoothed(self, curve: Curve) -> bool:
        """True if the curve was averaged before it was logged."""
        return curve.name in self.smoothed

    def is_quantised(self, curve: Curve) -> bool:
        """True if the curve has too few digits to tell small changes."""
        return curve.name in self.quantised

    def remarks(self, curve: Curve) -> tuple[Evidence, ...]:
        """What a reader should know about a curve, as evidence."""
        said = (self.smoothed.get(curve.name), self.quantised.get(curve.name))
        return tuple(curve.remark(sentence) for sentence in said if sentence)

    def change_near(self, step: float, before: float, after: float = 0.0) -> Change | None:
        """The planned change closest before a step (or up to `after` behind it)."""
        near = [c for c in self.changes if step - before <= c.step <= step + after]
        return min(near, key=lambda change: abs(change.step - step), default=None)


Guard = Callable[["RunView", Facts], None]


def gather(view: RunView) -> Facts:
    """Ask all guards, each once."""
    from ..guards import GUARDS

    facts = Facts()
    # Differences of huge values may overflow; such a curve shows nothing that a guard looks for.
    with np.errstate(over="ignore", invalid="ignore"):
        for guard in GUARDS:
            guard(view, facts)
    return facts
