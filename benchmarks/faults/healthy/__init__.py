"""All healthy variants."""

from __future__ import annotations

from . import logging_traps, training_traps
from .trap import Trap

TRAPS: dict[str, Trap] = {
    one.id: one for module in (training_traps, logging_traps) for one in module.TRAPS
}

__all__ = ["TRAPS", "Trap"]
