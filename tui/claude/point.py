"""What a user points at in the diagnosis pane."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..findings.blocks import Target

if TYPE_CHECKING:
    from ..engine.consult_protocol import Cited, OpinedCause, OpinedFix


@dataclass(frozen=True, slots=True)
class Point(Target):
    """A cause or a fix of Claude's, a place it cites, something folded, or the way to ask."""

    opined: OpinedCause | None = None
    """The cause, also while the cursor is on a place that is cited for it."""
    cited: Cited | None = None
    remedy: OpinedFix | None = None
    fold: Hashable = None
    is_start: bool = False
