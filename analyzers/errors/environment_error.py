"""environment_error: packages, drivers or shells do not fit.

What it sees: missing packages, versions and compiled parts that do not fit, missing libraries,
    no usable GPU, shells without the environment, consoles that are not UTF-8.
Why it matters: the program does not start on this node, although the code may be right.
Fires on:
    log: ModuleNotFoundError: No module named 'flash_attn'
    log: RuntimeError: No CUDA GPUs are available
Stays quiet:
    log: Using GPU 0: NVIDIA A100 | step 1 loss 2.5
Try next: compare the environment with one that works; activate it in the batch script.
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
class EnvironmentProblem:
    """An environment that does not fit, by message."""

    id: ClassVar[str] = "environment_error"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
