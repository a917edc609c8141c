"""Two checkpoints side by side, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from .checkpoint_summary import Position
from .plain_json import from_json, to_json


@dataclass(frozen=True, slots=True)
class TensorChange:
    """How far one tensor moved; NaN and infinities in either are left out of the distances."""

    name: str
    """In the first checkpoint."""
    other_name: str
    """In the second; different if one of them has a prefix."""
    shape: tuple[int, ...]
    elements: int
    role: str
    norm: float
    other_norm: float
    update: float
    """Norm of the difference."""
    largest: float
    """Largest change of a single number."""
    is_equal: bool
    """Not one value differs."""
    new_bad: int
    """NaN and infinities that the second has where the first has numbers."""
    dtypes: tuple[str, str]

    @property
    def relative(self) -> float | None:
        """Update over norm; None if the tensor was all zero."""
        return self.update / self.norm if self.norm > 0 else None


@dataclass(frozen=True, slots=True)
class ShapeMismatch:
    """A name that both have, with different shapes."""

    name: str
    other_name: str
    shape: tuple[int, ...]
    other_shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClosestName:
    """A name that only one has, and what may be meant in the other."""

    name: str
    is_in_first: bool
    closest: str
    similarity: float
    """From 0 to 1."""
    is_same_shape: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What moved from the first checkpoint to the second, and what does not fit."""

    path: str
    other_path: str
    position: Position
    other_position: Position
    changes: tuple[TensorChange, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    mismatches: tuple[ShapeMismatch, ...]
    closest: tuple[ClosestName, ...]
    prefix: str
    """Of all names in the first alone, for example `module.`."""
    other_prefix: str
    """Of all names in the second alone."""
    notes: tuple[str, ...]

    @property
    def unmoved(self) -> tuple[TensorChange, ...]:
        """Parameters of which not one value differs."""
        return tuple(c for c in self.changes if c.role == "parameter" and c.is_equal)

    @property
    def is_loadable(self) -> bool:
        """True if `load_state_dict` would take the second in place of the first."""
        strange = self.only_first or self.only_second or self.mismatches
        return not strange and self.prefix == self.other_prefix

    def to_json(self) -> bytes:
        """As JSON, from which `from_json` makes an equal comparison."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """The comparison that was written by `to_json`."""
        return from_json(cls, data)
