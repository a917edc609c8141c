"""The evidence pack: what is known about some runs, as text that may leave the machine."""

from __future__ import annotations

from .build import DEFAULT_TOKENS, build_pack
from .evidence_pack import EvidencePack, PackSection, tokens_of
from .material import PackConstraints, PackMaterial

__all__ = [
    "DEFAULT_TOKENS",
    "EvidencePack",
    "PackConstraints",
    "PackMaterial",
    "PackSection",
    "build_pack",
    "tokens_of",
]
