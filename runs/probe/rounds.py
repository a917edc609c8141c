"""Several optimizers of one model: which of them belong to a step, and what is still to come."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .gathering import Measured

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from .layers import LayerList


@dataclass(slots=True)
class Draft:
    """A record that waits for the optimizers that step after the first one."""

    step: int
    measured: Measured
    outputs: dict[str, dict[str, float]]
    bad_outputs: dict[str, tuple[int, int]]
    is_skipped: bool
    missing: set[int]
    layers: LayerList
    modules: list[str]

    def add(self, optimizer: Optimizer, measured: Measured) -> None:
        """What another optimizer did in this step."""
        self.missing.discard(id(optimizer))
        for name in ("gradients", "weights", "updates"):
            getattr(self.measured, name).update(getattr(measured, name))
        wanting = {*self.measured.without_gradient, *measured.without_gradient}
        self.measured.without_gradient = sorted(wanting - set(self.measured.gradients))


class Rounds:
    """The optimizers of a training, and the order in which they take their turns."""

    def __init__(self) -> None:
        self._known: list[weakref.ref[Optimizer]] = []
        self.main_leads: bool | None = None
        """True if the others step after the main one; None until its first step."""
        self._has_followers = False

    def add(self, optimizers: Iterable[Optimizer]) -> None:
        """These step the model."""
        for optimizer in optimizers:
            if all(known() is not optimizer for known in self._known):
                self._known.append(weakref.ref(optimizer))

    def alive(self) -> list[Optimizer]:
        """Those that still exist."""
        return [one for known in self._known if (one := known()) is not None]

    def note_other(self) -> None:
        """One that is not the main one has stepped."""
        self._has_followers = True

    def note_main(self, taken: set[int]) -> set[int]:
        """The main one has stepped: which of the others are still to come in this step."""
        if self.main_leads is None:
            self.main_leads = not self._has_followers
        if not self.main_leads:
            return set()
        return {id(one) for one in self.alive()} - taken
