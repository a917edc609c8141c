"""The failure modes that the catalogue knows by name."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def cause_ids() -> tuple[str, ...]:
    """Ids of all root causes, ours and those of third parties."""
    from mltd.analyzers.core.registry import registry

    return tuple(sorted(registry().causes))


@lru_cache(maxsize=1)
def known_ids() -> frozenset[str]:
    """Ids of all root causes and findings."""
    from mltd.analyzers.core.registry import registry

    parts = registry()
    return frozenset((*parts.causes, *parts.analyzers))
