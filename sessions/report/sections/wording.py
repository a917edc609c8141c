"""Words that several sections use."""

from __future__ import annotations

from ..pen import Pen
from ..pieces import Piece

NOT_KNOWN = "*not known*"
NONE_YET = "*None recorded.*"


def evidence_line(pen: Pen, piece: Piece) -> str:
    """A reference and what stands there."""
    shown = pen.code(piece.ref)
    return f"{shown}: {pen.code(piece.quote, 240)}" if piece.quote.strip() else shown


def listed(pen: Pen, names: tuple[str, ...]) -> str:
    """Ids as code, divided by commas."""
    return ", ".join(pen.code_cell(name, 60) for name in names)
