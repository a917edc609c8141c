"""Which step is that of the training loop: an optimizer's own may call that of its base class."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.optim import Optimizer


class Nesting:
    """Tells the outermost step from those inside of it; torch calls hooks for each of them."""

    def __init__(self) -> None:
        self._depths: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()

    def enter(self, optimizer: Optimizer) -> bool:
        """True if the step that begins is the outermost one; to be asked by a hook itself."""
        depth = self._depths.get(optimizer, 0)
        if depth and not _is_stepping(optimizer):
            depth = 0  # the step before raised, and nobody said that it was over
        self._depths[optimizer] = depth + 1
        return depth == 0

    def leave(self, optimizer: Optimizer) -> bool:
        """True if the step that ends is the outermost one."""
        depth = max(0, self._depths.get(optimizer, 0) - 1)
        self._depths[optimizer] = depth
        return depth == 0


def _is_stepping(optimizer: Optimizer) -> bool:
    """True if another step of the optimizer is further out on the stack."""
    around = sys._getframe(3)  # the function of torch that calls hooks, behind `enter` and the hook
    frame = around.f_back
    while frame is not None:
        if frame.f_code is around.f_code and frame.f_locals.get("self") is optimizer:
            return True
        frame = frame.f_back
    return False
