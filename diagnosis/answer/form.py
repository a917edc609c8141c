"""One object of an answer, read field by field: kind about form, strict about meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from .json_text import loads
from .wording import one_line, some_lines

_Choice = TypeVar("_Choice", bound=StrEnum)
_NUMBER = re.compile(r"[-+]?(?:\d[\d,_]{0,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,4})?")
_TRUE = frozenset({"true", "yes", "y", "1"})
_FALSE = frozenset({"false", "no", "n", "0"})
_SHOWN = 40


class Form:
    """A JSON object and where it stands; what is wrong with it is noted, not raised."""

    def __init__(self, values: Mapping[str, Any], where: str, faults: list[str]) -> None:
        self.values = values
        self.where = where
        self.faults = faults

    def get(self, *names: str) -> Any:
        """The first of these fields that is there and not null."""
        return next((v for name in names if (v := self.values.get(name)) is not None), None)

    def fault(self, name: str, problem: str) -> None:
        """Note what is wrong with a field."""
        self.faults.append(f"{self.where}{name} {problem}")

    def line(self, *names: str, most: int, is_needed: bool = False) -> str:
        """A text on one line."""
        return one_line(self._said(names, is_needed), most)

    def text(self, *names: str, most: int, is_needed: bool = False) -> str:
        """A text with its lines."""
        return some_lines(self._said(names, is_needed), most)

    def _said(self, names: tuple[str, ...], is_needed: bool) -> str:
        value = self.get(*names)
        said = said_by(value)
        if said is None and value is not None:
            self.fault(names[0], f"is {kind_of(value)}; give a text")
        elif is_needed and not (said or "").strip():
            self.fault(names[0], "is missing or empty")
        return said or ""

    def number(self, *names: str) -> float | None:
        """A finite number, also one that was written as text; None with a fault if it is none."""
        value = self.get(*names)
        found = number_in(value)
        if found is None:
            is_there = value is not None
            self.fault(names[0], f"is {shown(value)}; give a number" if is_there else "is missing")
        return found

    def flag(self, *names: str, default: bool) -> bool:
        """True or false."""
        value = self.get(*names)
        if isinstance(value, bool):
            return value
        word = (said_by(value) or "").strip().casefold()
        if value is not None and word not in _TRUE | _FALSE:
            self.fault(names[0], f"is {shown(value)}; give true or false")
        return word in _TRUE or (word not in _FALSE and default)

    def choice(
        self,
        name: str,
        kind: type[_Choice],
        meant: Mapping[str, _Choice],
        default: _Choice | None = None,
    ) -> _Choice | None:
        """One of a few words; `meant` has others for the same."""
        value = self.get(name)
        if value is None and default is not None:
            return default
        word = re.sub(r"[\s-]+", "_", (said_by(value) or "").strip().casefold())
        choices = {one.value: one for one in kind}
        if word in choices or word in meant:
            return choices[word] if word in choices else meant[word]
        self.fault(name, f"is {shown(value)}; give one of {', '.join(choices)}")
        return None

    def items(self, *names: str) -> list[Any]:
        """A list; a lone thing is a list of one, and one that was sent as JSON text is read."""
        value = self.get(*names)
        if isinstance(value, str):
            value = self._unpacked(names[0], value)
        if value is None or value == "":
            return []
        return list(value) if isinstance(value, list | tuple) else [value]

    def forms(self, *names: str) -> Iterator[Form]:
        """The objects of a list."""
        for index, value in enumerate(self.items(*names)):
            if isinstance(value, Mapping):
                yield self.inner(f"{names[0]}[{index}]", value)
            else:
                self.fault(f"{names[0]}[{index}]", f"is {kind_of(value)}; give an object")

    def inner(self, name: str, values: Mapping[str, Any]) -> Form:
        """An object inside this one."""
        return Form(values, f"{self.where}{name}.", self.faults)

    def _unpacked(self, name: str, text: str) -> Any:
        if not text.lstrip().startswith(("[", "{")):
            return text.strip()
        try:
            return loads(text)
        except ValueError as problem:
            self.fault(name, f"is a text that is no JSON ({problem}); give a list")
            return None


def said_by(value: object) -> str | None:
    """A text, or what can only be one; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _digits(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return None


def number_in(value: object) -> float | None:
    """A finite number, as such or as text with nothing else in it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if _NUMBER.fullmatch(value.strip()) is None:
            return None
        value = re.sub("[,_]", "", value.strip())
    try:
        found = float(value) if isinstance(value, int | float | str) else math.nan
    except (OverflowError, ValueError):
        return None
    return found if math.isfinite(found) else None


def kind_of(value: object) -> str:
    """What a value is, in words."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return shown(value)


def shown(value: object) -> str:
    """A value, fit to be repeated in a sentence."""
    if value is None:
        return "missing"
    said = said_by(value)
    return kind_of(value) if said is None else repr(one_line(said, _SHOWN))


def _digits(value: int | float) -> str:
    try:
        return repr(value)
    except ValueError:
        # Python refuses to write thousands of digits.
        return "inf" if value > 0 else "-inf"
