"""shape_mismatch: tensors whose sizes do not fit together.

What it sees: messages about sizes that PyTorch, TensorFlow, Keras, JAX, NumPy, PyG and DGL give
    when they stop, and the warning that a target is broadcast against the output.
Why it matters: the program stops, or (broadcast) goes on and learns the mean of the target.
Fires on:
    log: RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x1433 and 500x16)
    log: UserWarning: Using a target size (4) that is different to the input size (4, 1).
Stays quiet:
    log: Epoch 1 loss 0.5 | input shape (32, 3, 224, 224) | Epoch 2 loss 0.4
    log: RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB
Try next: print the shapes right before the line that raised it; iterate over the loader alone.
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
class ShapeMismatch:
    """Sizes that do not fit, by message."""

    id: ClassVar[str] = "shape_mismatch"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
