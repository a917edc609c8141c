"""What a careful look at one line finds: values, coordinates and what frames them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Span = tuple[int, int]


def moved(span: Span, offset: int) -> Span:
    """The same characters, counted from a place `offset` characters further left."""
    return span[0] + offset, span[1] + offset


@dataclass(slots=True)
class Slot:
    """A number with a name."""

    name: str
    span: Span
    value: float
    unit: str = ""
    is_known: bool = False
    """The name speaks of something measured (or is in the user's map)."""
    index_span: Span | None = None
    """A number inside the name that makes a series of its own ("layer 3 ...")."""


@dataclass(slots=True)
class Coordinate:
    """A number that says where on an axis the line is."""

    axis: str
    """step, epoch, tokens, samples, time, or `inner`: an iteration inside its epoch."""
    span: Span
    value: float
    precedence: int = 0
    """Among coordinates of one axis the lowest wins."""
    total: float | None = None
    total_span: Span | None = None
    scale: float = 1.0
    """What the printed number is multiplied by: 1000 for `step 1.2k`."""


def level_of(coordinates: Iterable[Coordinate]) -> str:
    """The finest of some coordinates: "step", "epoch" or nothing."""
    axes = {coordinate.axis for coordinate in coordinates}
    if "step" in axes or "inner" in axes:
        return "step"
    return "epoch" if "epoch" in axes else ""


@dataclass(slots=True)
class Reading:
    """One line, read carefully."""

    slots: list[Slot] = field(default_factory=list)
    coordinates: list[Coordinate] = field(default_factory=list)
    rank: int | None = None
    rank_span: Span | None = None
    split: str = ""
    level: str = ""
    """Finest coordinate in the head of the line: "step", "epoch" or nothing."""
    stamp: str = ""
    stamp_span: Span = (0, 0)
    bar: tuple[Span, Span] | None = None
    """Spans of n and total of a progress bar."""
    is_record: bool = False
    """The line is a dict or JSON object: all its numbers belong to one record."""
    is_setting_like: bool = False
    """The line looks like one of a configuration dump or of source code."""
    config: dict[str, object] | None = None

    @property
    def is_evaluation(self) -> bool:
        """The line speaks of data that the model is not trained on."""
        return self.split in ("val", "test")

    @property
    def is_anchored(self) -> bool:
        """The line itself says where in training it belongs."""
        return bool(self.coordinates) or self.bar is not None

    @property
    def counts_steps(self) -> bool:
        """The line itself says at which step it was printed."""
        return self.bar is not None or any(c.axis in ("step", "inner") for c in self.coordinates)

    @property
    def is_measurement(self) -> bool:
        """All numbers of this line are accepted as metrics at first sight."""
        known = sum(slot.is_known for slot in self.slots)
        return bool(known) and (self.is_anchored or self.is_record or known > 1)
