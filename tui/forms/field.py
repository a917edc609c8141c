"""One question of a form, and the answer as it may be kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..escaping import printable

Values = Mapping[str, str]
"""Answers by the key of their field."""
_LINE_ENDS = re.compile(r"\r\n?|\n")


class Kind(StrEnum):
    """How a question is answered."""

    LINE = "line"
    TEXT = "text"
    """Several lines."""
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Field:
    """One question."""

    key: str
    label: str
    value: str = ""
    """The answer to begin with; for a choice one of its values, or the first is taken."""
    kind: Kind = Kind.LINE
    choices: tuple[tuple[str, str], ...] = ()
    """Values of a choice with the words that stand for them."""
    hint: str | Callable[[Values], str] = ""
    """What to enter, shown while one is there; it may depend on the other answers."""
    is_required: bool = False
    is_locked: bool = False
    """Shown, but not to be changed."""
    suggestions: tuple[str, ...] = ()
    """Answers that are completed as one types; others are as good."""

    def __post_init__(self) -> None:
        """Refuse a choice between nothing."""
        if (self.kind is Kind.CHOICE) != bool(self.choices):
            raise ValueError(f"{self.key}: choices belong to a choice, and to nothing else")

    def hinted(self, values: Values) -> str:
        """What to enter, given the other answers."""
        return self.hint if isinstance(self.hint, str) else self.hint(values)

    @property
    def first_value(self) -> str:
        """The answer as it stands before anybody has touched it."""
        if self.kind is not Kind.CHOICE:
            return neutral(self.value) if self.kind is Kind.TEXT else one_line(self.value)
        known = [value for value, _ in self.choices]
        return self.value if self.value in known else known[0]


def fitting_kind(text: str) -> Kind:
    """A line for what is usually one, unless it has become longer."""
    return Kind.TEXT if "\n" in text.strip() else Kind.LINE


def neutral(text: str) -> str:
    """Text with nothing in it that a terminal could act on; its lines stay."""
    return "\n".join(printable(line) for line in _LINE_ENDS.split(text))


def one_line(text: str) -> str:
    """The same on a single line."""
    return neutral(text).replace("\n", " ")


def tidy(text: str) -> str:
    """An answer as it is kept: neutral, without blanks around it or at the ends of its lines."""
    return "\n".join(line.rstrip() for line in neutral(text).split("\n")).strip()
