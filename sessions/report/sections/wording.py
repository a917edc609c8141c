"""Words that several sections use."""

from __future__ import annotations

from collections.abc import Callable

from ...model.constraints import Fact
from ..pen import Pen
from ..pieces import Piece

NOT_KNOWN = "*not known*"
NONE_YET = "*None recorded.*"
CLAUDE = "claude"
FROM_CLAUDE = "Taken over from the second opinion of Claude, a language model."


def fact_said(fact: Fact | None, write: Callable[[str], str]) -> str:
    """An answer as Markdown; what is only around one is a remark on not knowing it."""
    if fact is None:
        return NOT_KNOWN
    said = write(fact.value)
    return said if fact.is_complete else f"{NOT_KNOWN} ({said})"


def evidence_line(pen: Pen, piece: Piece) -> str:
    """A reference and what stands there."""
    shown = pen.code(piece.ref)
    return f"{shown}: {pen.code(piece.quote, 240)}" if piece.quote.strip() else shown


def by(pen: Pen, source: str) -> str:
    """Who said something."""
    return "Claude" if source == CLAUDE else pen.cell(source)


def listed(pen: Pen, names: tuple[str, ...]) -> str:
    """Ids as code, divided by commas."""
    return ", ".join(pen.code_cell(name, 60) for name in names)
