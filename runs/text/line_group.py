"""What lines that were read together say: where they are, their coordinates and their values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..harvest import ColumnKey, Floats, Ints
from .template import Template

Mask = npt.NDArray[np.bool_]


class Part(NamedTuple):
    """Values of one series in some of the rows of a group; all rows if there is no mask."""

    key: ColumnKey
    mask: Mask | None
    values: Floats
    is_certain: bool


@dataclass(slots=True)
class LineGroup:
    """Lines that were read together."""

    places: Ints
    """Pieces of the chunk; negative for a record that began before it."""
    axes: dict[str, Floats] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    bar: tuple[Floats, Floats] | None = None
    """How far the bar of the training was drawn, and its total."""
    template: Template | None = None
    """What its lines were read by."""


class Told(NamedTuple):
    """A group and the numbers of its lines, from 1 on."""

    group: LineGroup
    lines: Ints

    @property
    def names(self) -> frozenset[ColumnKey]:
        """What it measures."""
        return frozenset(part.key for part in self.group.parts)

    def last_line(self) -> Told:
        """The last line alone, as seen from the next chunk."""
        group = LineGroup(self.group.places[-1:], template=self.group.template)
        group.axes = {axis: values[-1:] for axis, values in self.group.axes.items()}
        group.parts = [
            Part(part.key, None, part.values[-1:], part.is_certain) for part in self.group.parts
        ]
        return Told(group, np.zeros(1, dtype=np.int64))
