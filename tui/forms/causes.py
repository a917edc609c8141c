"""Ids of the failure modes in the catalogue, without the analyzers that need numbers."""

from __future__ import annotations

import pkgutil


def catalogue_causes() -> tuple[str, ...]:
    """Every root cause that comes with the program: each is a module named for its id."""
    from mltd.analyzers import causes

    return tuple(sorted(found.name for found in pkgutil.iter_modules(causes.__path__)))
