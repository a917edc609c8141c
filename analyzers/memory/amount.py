"""Amounts of memory that say how they are known: measured, derived by arithmetic, estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..core.finding import Evidence
from ..resources.shortage import shown_bytes


class Origin(StrEnum):
    """How a number came about; the less sure it is, the later it stands here."""

    MEASURED = "measured"
    """A program or a file says it."""
    DERIVED = "derived"
    """Arithmetic on what is stated: a count times bytes."""
    ESTIMATED = "estimated"
    """A formula or a usual value stands in for something that nothing states."""

    @property
    def rank(self) -> int:
        """For sorting: 0 is the surest."""
        return tuple(Origin).index(self)


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes, as a range where one number would say too much, with their arithmetic and sources."""

    low: float
    high: float
    origin: Origin
    how: str
    """The arithmetic, or what was assumed, in one line."""
    sources: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no amount of memory."""
        if not (0 <= self.low <= self.high < math.inf):
            raise ValueError(f"{self.low}..{self.high} is no amount of memory")

    @property
    def middle(self) -> float:
        """The one number that stands for the range."""
        return (self.low + self.high) / 2

    @property
    def shown(self) -> str:
        """As one reads it: 10.7 GiB, or 0.3 to 1 GiB."""
        if self.high - self.low <= 0.02 * self.high:
            return shown_bytes(self.middle)
        return f"{shown_bytes(self.low)} to {shown_bytes(self.high)}"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of what a training holds on the device; the amount is None where unknown."""

    id: str
    name: str
    amount: Amount | None
    missing: tuple[str, ...] = ()
    """What would have to be known."""


def exactly(size: float, origin: Origin, how: str, sources: Iterable[Evidence] = ()) -> Amount:
    """An amount that is one number."""
    return Amount(size, size, origin, how, tuple(dict.fromkeys(sources)))


def total_of(amounts: Iterable[Amount], how: str = "") -> Amount:
    """The sum; as unsure as the least sure of its parts."""
    parts = list(amounts)
    origin = max((part.origin for part in parts), key=lambda o: o.rank, default=Origin.DERIVED)
    # A sum of measurements is arithmetic already.
    if len(parts) > 1 and origin is Origin.MEASURED:
        origin = Origin.DERIVED
    return Amount(
        sum(part.low for part in parts),
        sum(part.high for part in parts),
        origin,
        how or " + ".join(part.shown for part in parts),
        tuple(dict.fromkeys(source for part in parts for source in part.sources)),
    )
