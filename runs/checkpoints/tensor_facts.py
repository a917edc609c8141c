"""What is known about one tensor of a checkpoint, its values included if they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["parameter", "buffer", "average", "optimizer", "other"]


@dataclass(frozen=True, slots=True)
class TensorStats:
    """Numbers about the values; those about size and place leave out NaN and infinities."""

    least: float | None
    most: float | None
    mean: float | None
    std: float | None
    norm: float | None
    """Euclidean, over all finite values."""
    zeros: int
    nans: int
    infs: int
    is_constant: bool
    """All values are the same number."""
    dead_rows: int | None
    """Slices along the first axis that are all zero: output channels; None below two axes."""
    first_dead: tuple[int, ...]
    """Up to eight of their numbers."""
    fingerprint: str
    """Equal for equal bytes."""

    @property
    def is_bad(self) -> bool:
        """True if there is a NaN or an infinity."""
        return self.nans + self.infs > 0


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """A tensor, by its name in the model or in the state of the optimizer."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """As torch calls it: `float32`, `bfloat16`, `float8_e4m3fn`, `int64`, `bool`."""
    elements: int
    bytes: int
    role: Role
    section: str
    """The key under which it was saved: `model`, `state_dict`, `ema`; often empty."""
    file: str
    """Name of the file that holds it."""
    tied_to: str = ""
    """The tensor before it that has the same storage; its numbers are counted there."""
    is_trainable: bool | None = None
    """Whether the optimizer changes it, where that can be told."""
    stats: TensorStats | None = None

    @property
    def is_optimizer(self) -> bool:
        """True for what an optimizer remembers about a parameter."""
        return self.role == "optimizer"

    @property
    def rms(self) -> float | None:
        """Root mean square of the finite values."""
        if self.stats is None or self.stats.norm is None:
            return None
        count = self.elements - self.stats.nans - self.stats.infs
        return self.stats.norm / float(count) ** 0.5 if count > 0 else None
