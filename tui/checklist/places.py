"""References of a session, each with its place, as evidence of a finding is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ..findings.blocks import Block
from ..findings.places import evidence_blocks, ref_column
from .pick import Pick

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Evidence
    from mltd.sessions.model.evidence import EvidenceRef


def reference_blocks(
    pieces: Sequence[EvidenceRef], width: int, owner: Pick, *, sign: str = " ", column: int = 0
) -> list[Block]:
    """A block per reference; `sign` tells what speaks for the owner from what speaks against."""
    # Only place and quote are looked at, and a reference has both.
    blocks = evidence_blocks(
        cast("Sequence[Evidence]", pieces), width, owner.id, sign=sign, column=column
    )
    is_against = sign.strip() not in ("", "+")
    return [
        replace(block, target=replace(owner, reference=piece, is_against=is_against))
        for block, piece in zip(blocks, pieces, strict=True)
    ]


def place_column(pieces: Sequence[EvidenceRef], width: int) -> int:
    """How wide the column of places is, so that most of them fit."""
    return ref_column(cast("Sequence[Evidence]", pieces), width)
