"""What a tool is: a name, arguments that explain themselves, and a page as its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from ..artifacts import ArtifactBook, ArtifactError

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.runs.run import Run
    from mltd.sessions.masking import Masker


class ToolSpec(NamedTuple):
    """A tool as the model is told about it."""

    name: str
    description: str
    schema: dict[str, Any]
    """JSON schema of the arguments."""


class ToolResult(NamedTuple):
    """What came of a call."""

    text: str
    """For the model: at most 8 kB, secrets masked, what files say marked as data."""
    is_error: bool
    brief: str
    """One line for the screen."""


class Arguments(BaseModel):
    """Arguments of a tool; what is not asked for is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Row(NamedTuple):
    """One line of an answer; only the text is from a file."""

    text: str
    label: str = ""
    is_secret: bool = False
    """Nothing in the text itself may tell that it must be masked."""
    left_out: int = 0
    """Characters of the line that the text does not have."""
    is_hidden: bool = False
    """It is not shown, but may tell what must be masked in its neighbour."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer before it is cut to size: our words, then rows from files."""

    brief: str
    head: str = ""
    rows: Sequence[Row] = ()
    about: Callable[[int], Mapping[str, str]] | Mapping[str, str] = field(default_factory=dict)
    """What the data is, by how many of the rows are shown."""
    rest: Callable[[int], str] | str = "ask for less at once"
    """How to get the rows that did not fit, by how many are shown."""
    tail: str = ""
    is_error: bool = False


@dataclass(slots=True)
class Bench:
    """What tools work with; nothing of it is ever changed by them."""

    book: ArtifactBook
    runs: Mapping[str, Run]
    """By the names that the book has for them."""
    diagnoses: Mapping[str, Diagnosis]
    masker: Masker
    kept_source: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Lines of code that runs themselves have kept: place to the run and the text."""

    def run(self, name: str | None) -> tuple[str, Run]:
        """A run and what it is called; the only one there is needs no name."""
        if name is None:
            if len(self.runs) == 1:
                return next(iter(self.runs.items()))
            known = ", ".join(self.runs) or "none"
            raise ArtifactError("say which run is meant", hint=f"there is {known}")
        called = self.book.run_called(name)
        return called, self.runs[called]


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One thing that the model may ask for."""

    name: str
    description: str
    arguments: type[A]
    work: Callable[[Bench, A], Page]
    reads_runs: bool
    """It looks at columns, events or settings, which change while a run is read; the others look
    at files alone, and take as long as those do."""

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model is told about it."""
        schema = self.arguments.model_json_schema()
        return ToolSpec(self.name, self.description, _without_titles(schema))

    def call(self, bench: Bench, arguments: Mapping[str, object]) -> Page:
        """Check the arguments and do the work."""
        return self.work(bench, self.arguments.model_validate(dict(arguments)))


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Pydantic names every field twice, and explains the class to nobody in particular."""
    kept = {k: v for k, v in schema.items() if k not in ("title", "description")}
    for field_schema in kept.get("properties", {}).values():
        field_schema.pop("title", None)
    return kept
