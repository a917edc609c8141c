"""A piece of a line while it is read: its text, and what has been found in it so far."""

from __future__ import annotations

import re

from ..roles import Roles
from .numbers import FILLER, parse_number
from .reading import Coordinate, Slot, Span, moved

_GROUP = re.compile(r"(?<!\w)\d*+(?P<name>[^\W\d]\w*+)\[(?=[^\[\]=]*+=[^\[\]]*+\])[^\[\]]*+\]")
"""icefall's `tot_loss[loss=0.6, simple_loss=0.8]`."""


class Passage:
    """Text, vocabulary and finds; the finds have the offsets of the whole line."""

    __slots__ = (
        "_groups",
        "_offset",
        "context",
        "coordinates",
        "head_words",
        "roles",
        "slots",
        "text",
    )

    def __init__(self, text: str, offset: int, roles: Roles) -> None:
        self.text = text
        self.roles = roles
        self.slots: list[Slot] = []
        self.coordinates: list[Coordinate] = []
        self.head_words = ""
        """Words before the first metric that are no name: they may tell the split."""
        self.context = ""
        """Words that a heading gives to all names behind it."""
        self._offset = offset
        self._groups = [
            ((found.start("name"), found.end()), found["name"]) for found in _GROUP.finditer(text)
        ]

    def add_slot(
        self,
        name: str,
        number: re.Match[str],
        *,
        is_known: bool | None = None,
        index_span: Span | None = None,
    ) -> Slot:
        """Keep a number under a name; without a verdict the vocabulary says if it is known."""
        slot = Slot(
            name,
            self.in_line(number.span("number")),
            parse_number(number["number"]),
            number["unit"] or "",
            self.roles.is_known(name) if is_known is None else is_known,
            index_span,
        )
        self.slots.append(slot)
        return slot

    def add_coordinate(
        self,
        axis: str,
        span: Span,
        precedence: int,
        total_span: Span | None = None,
        *,
        scale: float = 1.0,
    ) -> None:
        """Keep the number in `span` as a place on an axis."""
        value = self._integer(span) * scale
        coordinate = Coordinate(axis, self.in_line(span), value, precedence, scale=scale)
        if total_span is not None:
            coordinate.total = self._integer(total_span)
            coordinate.total_span = self.in_line(total_span)
        self.coordinates.append(coordinate)

    def add_head_words(self, words: str) -> None:
        """Keep words that may tell the split."""
        self.head_words += " " + words

    def has_axis(self, axis: str) -> bool:
        """True if a coordinate of that axis has been found."""
        return any(coordinate.axis == axis for coordinate in self.coordinates)

    def group_at(self, position: int) -> str:
        """Name of the group, as in `name[key=0.6, key=0.8]`, that reaches over a position."""
        for (start, end), name in self._groups:
            if start <= position <= end:
                return name
        return ""

    def blank(self, span: Span) -> None:
        """Hide what has been read from those who read later, keeping every offset."""
        start, end = span
        self.text = self.text[:start] + FILLER * (end - start) + self.text[end:]

    def in_line(self, span: Span) -> Span:
        """A span of the text as a span of the line."""
        return moved(span, self._offset)

    def _integer(self, span: Span) -> float:
        return parse_number(self.text[slice(*span)])
