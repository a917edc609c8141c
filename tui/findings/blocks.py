"""Blocks: a few lines that belong together, and what stands behind them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .spans import BLANK, Line, Span, fit

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import Fix, RootCause
    from mltd.analyzers.core.finding import Evidence, Finding


@dataclass(frozen=True, slots=True)
class Target:
    """What a user points at when the cursor is on a block."""

    finding: Finding | None = None
    evidence: Evidence | None = None
    cause: RootCause | None = None
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that are read, and pointed at, as one; `key` finds it again in a newer layout."""

    lines: tuple[Line, ...]
    key: Hashable = None
    target: Target | None = None
    """None: the cursor passes over it."""


def heading(title: str, width: int, hint: str = "") -> Block:
    """A heading with a blank line before it."""
    line: Line = (Span(title, "heading"),)
    hinted: Line = (*line, Span(f"  {hint}", "quiet")) if hint else line
    return Block((BLANK, hinted if fit(hinted, width) == hinted else fit(line, width)))


def plain(*lines: Line) -> Block:
    """Lines that the cursor passes over."""
    return Block(tuple(lines))
