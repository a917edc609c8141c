"""A form: its questions, and how the answers become something that can be done.

MltdError
└── Unfit      answers that cannot be used, with a sentence for each
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from mltd.runs.errors import MltdError

from .field import Field, Values, tidy

Result = TypeVar("Result")
Read_co = TypeVar("Read_co", covariant=True)
NEEDED = "this is needed"


class Unfit(MltdError):
    """Answers that cannot be used, by the key of their field."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(problems.values()))
        self.problems = dict(problems)


@dataclass(frozen=True, slots=True)
class Form(Generic[Read_co]):
    """Questions, and `read`, which turns answers into what they ask for or raises."""

    title: str
    fields: tuple[Field, ...]
    read: Callable[[Values], Read_co]
    note: str = ""
    """What one should know while filling it in."""
    accept_label: str = "Save"
    asides: tuple[str, ...] = ()
    """Lines below the note, each cut where it does not fit."""


def problems_of(
    form: Form[Result], values: Values, attempt: Callable[[Result], object] | None = None
) -> dict[str, str]:
    """What is wrong with the answers, by field; an empty key is about all of them.

    `attempt` may try what came out, such as an action on the session as it is now.
    """
    missing = {
        field.key: NEEDED
        for field in form.fields
        if field.is_required and not tidy(values.get(field.key, ""))
    }
    try:
        read = form.read(values)
        if attempt is not None and not missing:
            attempt(read)
    except Unfit as problem:
        return {**problem.problems, **missing}
    except MltdError as problem:
        return missing or {"": str(problem)}
    except ValueError as problem:
        return missing or _located(problem, {field.key for field in form.fields})
    return missing


def _located(problem: ValueError, keys: set[str]) -> dict[str, str]:
    """A failed check by field, if it says which; pydantic's own does."""
    errors = getattr(problem, "errors", None)
    if not callable(errors):
        return {"": str(problem)}
    located: dict[str, str] = {}
    for error in errors():
        key = next((str(part) for part in reversed(error["loc"]) if part in keys), "")
        located.setdefault(key, error["msg"].removeprefix("Value error, "))
    return located


class Reading:
    """Reads answers one by one and gathers what is wrong, so that all of it is said at once."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self.problems: dict[str, str] = {}

    def text(self, key: str) -> str:
        """An answer as it is kept."""
        return tidy(self._values.get(key, ""))

    def parsed(self, key: str, parse: Callable[[str], Result], default: Result) -> Result:
        """An answer that something else understands, or explains why it does not."""
        try:
            return parse(self.text(key))
        except (MltdError, ValueError) as problem:
            self.fault(key, str(problem))
            return default

    def fault(self, key: str, sentence: str) -> None:
        """Something is wrong with this answer; the first thing said about it stands."""
        if sentence:
            self.problems.setdefault(key, sentence)

    def finish(self) -> None:
        """Raise what was gathered, if anything was."""
        if self.problems:
            raise Unfit(self.problems)
