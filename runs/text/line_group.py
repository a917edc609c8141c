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
    """Values of one series in some of the rows of a group."""

    key: ColumnKey
    among: Ints | None
    """Numbers of those rows, ascending; None for all. A group may have as many series as rows,
    so a mask for each would take the square of them."""
    values: Floats
    """For every row of the group."""
    is_certain: bool

    def where(self, wanted: Mask) -> Part:
        """The same values, in rows of the group that are wanted alone."""
        among = np.flatnonzero(wanted) if self.among is None else self.among[wanted[self.among]]
        return self._replace(among=among)


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
