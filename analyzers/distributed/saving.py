"""How often a run saves itself, and what that would leave of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mltd.runs.event import EventKind

from ..core.view import PlacedEvent, RunView
from .memo import once_per_update
from .progress import last_step, spoken


@dataclass(frozen=True, slots=True)
class Saves:
    """The checkpoints that the log reports, by their steps."""

    steps: tuple[float, ...]
    placed: tuple[PlacedEvent, ...]
    since: float
    """Steps since the last one."""

    @property
    def interval(self) -> float | None:
        """Steps from one to the next; None for fewer than two."""
        if len(self.steps) < 2:
            return None
        return float(np.median(np.diff(self.steps)))

    def lost_at(self, step: float, first: float) -> float | None:
        """Steps that are lost if the run ends there and goes on saving as it did.

        None if nothing is known about checkpoints.
        """
        if not self.steps:
            return None
        last = self.steps[-1]
        # A lone checkpoint has the interval that it took to get there.
        interval = self.interval or (last - first)
        if interval <= 0 or step <= last:
            return max(0.0, step - last)
        return (step - last) % interval

    def shown(self, seconds: float, lost: float | None) -> str:
        """For the title of a finding; `seconds` is what a step takes."""
        if lost is None:
            return "no checkpoint was reported, so all of it may be lost"
        interval = self.interval
        often = (
            f"it saves every {interval:.10g} steps ({spoken(interval * seconds)})"
            if (interval)
            else f"its only checkpoint is of step {self.steps[-1]:.10g}"
        )
        ago = f", last {spoken(self.since * seconds)} ago" if self.since > 0 else ""
        return f"{often}{ago}: about {lost:.0f} steps will be lost"


@once_per_update
def saves(view: RunView) -> Saves:
    """The checkpoints of the newest attempt, in the order of their steps."""
    last = last_step(view)
    found: dict[float, PlacedEvent] = {}
    for placed in view.events_of(EventKind.CHECKPOINT):
        step = placed.event.step
        if step is None or not placed.event.title.startswith("Checkpoint saved"):
            continue
        if last is None or step <= last:
            found[step] = placed
    steps = sorted(found)
    since = last - steps[-1] if last is not None and steps else 0.0
    return Saves(tuple(steps), tuple(found[step] for step in steps), since)
