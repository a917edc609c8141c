"""What a fault class declares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..hooks import Hook
from ..recipe import Recipe
from ..trace import Trace

CLASSIFIERS = ("mlp", "cnn")
SUPERVISED = ("mlp", "cnn", "chargpt", "recurrent")


@dataclass
class Injection:
    """One fault in one training: its hooks and when it strikes."""

    hooks: Sequence[Hook] = ()
    onset: int | None = None
    """Step index at which the fault acts; None if it is there from the start."""
    finish: Callable[[Trace], Trace] | None = None
    """What becomes of the trace after the training (ranks, for example)."""
    is_finished: bool = True
    silent_seconds: float = 60.0
    """How long ago the log was last written when somebody looks at it."""


AFTERMATH = ("not_learning", "plateau", "dead_units", "vanishing_gradients")
"""What is true of a run whose weights were ruined on the way."""
Apply = Callable[[Recipe, np.random.Generator], Injection]
Shows = Callable[[Trace, Trace], bool]


@dataclass(frozen=True)
class Fault:
    """A fault class: what it does and which answers about it are right."""

    id: str
    apply: Apply
    families: tuple[str, ...]
    findings: tuple[str, ...]
    """Acceptable finding ids."""
    causes: tuple[str, ...]
    """Acceptable root-cause ids, best first."""
    needs: frozenset[str] = field(default_factory=frozenset)
    """Signals without which nobody could see it."""
    in_config: bool = False
    """The project's configuration shows the changed settings."""
    observable: bool = True
    shows: Shows | None = None
    """An expert's eye: given the faulty and the clean trace, can the fault be seen?"""
    is_gated: bool = True
    """False where the fault is visible by construction (a log that falls silent)."""
    also: tuple[str, ...] = ()
    """Findings that are true as well but do not name this fault."""
    done: tuple[str, ...] = ()
    """Causes that name what was really done, if it is more than the first one."""

    @property
    def named(self) -> tuple[str, ...]:
        """The causes that are true; the other acceptable ones are what the log allows to think."""
        return self.done or self.causes[:1]


def midway(recipe: Recipe, rng: np.random.Generator, low: float = 0.4, high: float = 0.7) -> int:
    """A step somewhere in the middle of a run."""
    return int(recipe.steps * rng.uniform(low, high))


def stays_high(faulty: Trace, clean: Trace) -> bool:
    """Well above what the clean run reaches, by a quarter of its progress."""
    start, end, now = clean.head("loss"), clean.tail("loss"), faulty.tail("loss")
    return not now < end + 0.25 * (start - end)


def shows_alone(faulty: Trace, clean: Trace) -> bool:
    """Wrong even to somebody who has never seen the clean run.

    Not finite in the end, hardly any progress, far above its start at some point after the first
    tenth, or much noisier than the clean run.
    """
    first, last = min(faulty.series("loss")[0], clean.series("loss")[0]), faulty.tail("loss")
    late = faulty.series("loss")[len(faulty.series("loss")) // 10 :]
    if not math.isfinite(last) or last > 0.75 * first or max(late) > 1.3 * first:
        return True
    return _jitter(late) > 3 * _jitter(clean.series("loss")[len(late) // 9 :])


def _jitter(values: list[float]) -> float:
    """Typical change from step to step, relative to the level."""
    series = np.asarray(values)
    return float(np.median(np.abs(np.diff(series))) / np.median(np.abs(series)))


def hardly_learns(faulty: Trace, clean: Trace) -> bool:
    """Keeps more than four fifths of its first loss."""
    return not faulty.tail("loss") < 0.8 * faulty.head("loss")
