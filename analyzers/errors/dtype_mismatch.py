"""dtype_mismatch: number types that do not fit together.

What it sees: messages about float, half, double or integer tensors that meet where they must be
    equal.
Why it matters: the program stops; the usual reasons are labels of the wrong type and half
    precision by hand.
Fires on:
    log: RuntimeError: Found dtype Long but expected Float
    log: RuntimeError: mat1 and mat2 must have the same dtype, but got Half and Float
Stays quiet:
    log: Using dtype bfloat16 | step 1 loss 2.5
Try next: convert where the batch is made; run the forward pass under autocast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding
from ..core.registry import analyzer
from ..core.view import RunView
from .told import report


@analyzer
@dataclass(frozen=True, slots=True)
class DtypeMismatch:
    """Number types that do not fit, by message."""

    id: ClassVar[str] = "dtype_mismatch"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
