"""Which runs there are, with the answers that are right about them."""

from __future__ import annotations

from dataclasses import replace

from . import data, endings, healthy, healthy_tuning, machine, numerics, objectives, rates, tuning
from .planned import Kind, Planned

PARTS = (rates, data, numerics, objectives, tuning, machine, endings, healthy, healthy_tuning)

__all__ = ["Kind", "Planned", "trained_runs"]


def trained_runs(seed_base: int) -> list[Planned]:
    """All runs that the bench trains itself, numbered."""
    runs = [one for part in PARTS for one in part.plan()]
    return [replace(one, number=number, seed_base=seed_base) for number, one in enumerate(runs, 1)]
