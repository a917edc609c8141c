"""Which runs the picker lists, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .engine.protocol import Health, RunRow
from .recent import is_below

_NUMBER = re.compile(r"([0-9]+)")
READING = "reading..."
_WORST_FIRST = (Health.CRITICAL, Health.WARNING, Health.INFO, Health.UNKNOWN, Health.FINE)
_STATES = ("failed", "stalled", "running", "", "unknown", "finished")
"""Among runs of one health, those that need somebody first."""


class Order(StrEnum):
    """How runs are sorted."""

    NEWEST = "newest"
    WORST = "worst"
    NAME = "name"

    @property
    def described(self) -> str:
        """The order in words."""
        return {"newest": "newest first", "worst": "worst first", "name": "by name"}[self.value]

    @property
    def following(self) -> Order:
        """The order that comes after this one."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


@dataclass(frozen=True, slots=True)
class Heading:
    """A line between runs."""

    title: str


Line = Heading | RunRow


def arrange(
    rows: Iterable[RunRow], wanted: str, order: Order, directories: Sequence[str] = ()
) -> list[Line]:
    """The lines of the list: matching runs here, then those opened lately elsewhere."""
    found = sorted(matching(list(rows), wanted), key=_KEYS[order])
    if not directories:
        return list(found)
    here = [row for row in found if is_below(row.path, directories)]
    elsewhere = [row for row in found if not is_below(row.path, directories)]
    if not elsewhere:
        return list(here)
    title = Heading("recent, in other directories")
    return [*here, title, *elsewhere]


def matching(rows: list[RunRow], wanted: str) -> list[RunRow]:
    """Runs that hold every wanted word; where none does, those with its letters in order."""
    words = wanted.casefold().split()
    if not words:
        return rows
    found = [row for row in rows if _holds(row, words)]
    letters = "".join(words)
    return found or [row for row in rows if _has_in_order(row.name.casefold(), letters)]


def state_word(row: RunRow) -> str:
    """The state as it is shown."""
    return row.state or READING


def _holds(row: RunRow, words: list[str]) -> bool:
    text = f"{row.name}\n{state_word(row)}\n{row.health}\n{row.headline}".casefold()
    return all(word in text for word in words)


def _has_in_order(text: str, letters: str) -> bool:
    remaining = iter(text)
    return all(letter in remaining for letter in letters)


def _newest(row: RunRow) -> tuple[float, str]:
    return (-(row.modified or 0.0), row.name)


def _worst(row: RunRow) -> tuple[int, int, float, str]:
    state = _STATES.index(row.state) if row.state in _STATES else len(_STATES)
    return (_WORST_FIRST.index(row.health), state, *_newest(row))


def _name(row: RunRow) -> tuple[list[tuple[int, int, str]], str]:
    return (_natural(row.name.casefold()), row.path)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key that puts `version_10` after `version_9`."""
    parts = enumerate(_NUMBER.split(text))
    return [(1, int(part[:18]), "") if place % 2 else (0, 0, part) for place, part in parts]


_KEYS = {Order.NEWEST: _newest, Order.WORST: _worst, Order.NAME: _name}
