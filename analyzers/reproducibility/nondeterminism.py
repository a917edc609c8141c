"""nondeterminism: the same training gives different results.

What it sees: in one run, operations that say that they have no deterministic implementation, and
    replicas whose parameters were equal on all ranks and no longer are (a warning). With several
    runs at once (`check RUN RUN ...`), those whose settings are equal but for the seed: with one
    seed, final metrics that differ by more than 2 % of what the training achieves (a warning over
    10 %); with different seeds, an outlier (over 3.5 robust deviations and 10 % of what the
    training achieves from the median of at least five) or a standard deviation over 10 % of it
    whose bootstrap interval stays over 5 %.
Why it matters: a difference between two single runs then says nothing about what was changed.
Fires on:
    log: t.py:1: UserWarning: scatter_add_cuda does not have a deterministic implementation, but ...
Stays quiet:
    log: t.py:1: UserWarning: Detected call of lr_scheduler.step() before optimizer.step()
    train/loss: 2>1~0.1*100
Try next: report mean and spread of at least five seeds; read the outlier's log; seed the workers
    and use deterministic algorithms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import EventKind

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import RunView
from .replicas import parted_replicas

_SAYS_SO = re.compile(
    r"(?:(?P<what>[\w.:]+) )?does not have a deterministic implementation|"
    r"[Dd]eterministic behavior was enabled .{0,80} but this operation is not deterministic"
)


@analyzer
@dataclass(frozen=True, slots=True)
class Nondeterminism:
    """Report what one run says itself; comparing runs is the sweep's part."""

    id: ClassVar[str] = "nondeterminism"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("warning",)

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look for replicas that differ, then for the operation that says so first."""
        yield from parted_replicas(view, self.id)
        for placed in view.events_of(EventKind.WARNING):
            found = _SAYS_SO.search(placed.text)
            if found is None:
                continue
            what = found["what"] or "an operation"
            yield Finding(
                id=self.id,
                title=f"{what} has no deterministic implementation: repeated runs will differ",
                severity=Severity.INFO,
                confidence=finding_confidence(Basis.OBSERVATION, 0.9),
                basis=Basis.OBSERVATION,
                evidence=(placed.evidence(found[0]),),
                first_step=placed.event.step,
                details={"kind": "operation", "what": what},
            )
            return
