"""What a healthy run with a trap in it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..faults.fault import Injection
from ..recipe import Recipe
from ..voice import Log

EVERY = ("mlp", "cnn", "chargpt", "recurrent", "vae", "gan", "policy")
SUPERVISED = ("mlp", "cnn", "chargpt", "recurrent")


def unchanged(recipe: Recipe, rng: np.random.Generator) -> Injection:
    """The family's own good recipe."""
    return Injection()


@dataclass(frozen=True)
class Trap:
    """A healthy variant that a careless rule alarms on."""

    id: str
    number: int
    """Its row in the list of guards; 0 for a plain run or a trap beyond the list."""
    apply: Callable[[Recipe, np.random.Generator], Injection] = unchanged
    families: tuple[str, ...] = SUPERVISED
    needs: frozenset[str] = field(default_factory=frozenset)
    voice: dict[str, Any] = field(default_factory=dict)
    """Fields of the voice that this trap fixes."""
    dialects: tuple[str, ...] = ()
    polish: Callable[[Log], None] | None = None
    """Changes the log just before it is written."""
