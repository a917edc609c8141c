"""What citations are checked against, and how much time there is for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..artifacts.errors import ArtifactError

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.runs.run import Run

    from ..artifacts.artifact import Excerpt, Hits, Place


class Cleaner(Protocol):
    """Takes secrets out of a text, as it was done before the text was sent."""

    def clean(self, text: str) -> str:
        """The text without them."""

    def clean_value(self, value: Any) -> Any:
        """The same for all that JSON can hold."""


class Book(Protocol):
    """The session's files, as `ArtifactBook` has them."""

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by what they are called in names."""

    def run_called(self, name: str) -> str:
        """What a run is called."""

    def place(self, name: str) -> Place:
        """The file that is meant."""

    def lines(
        self, name: str, first: int, last: int, *, longest: int = ..., seconds: float = ...
    ) -> Excerpt:
        """Lines of a file by their numbers."""

    def search(
        self, name: str, pattern: str, *, most: int = ..., context: int = ..., first: int = ...,
        longest: int = ..., seconds: float = ...,
    ) -> Hits:  # fmt: skip
        """Lines of a file that match."""


class Struck(Exception):
    """The artifact shows something else; says what, in a sentence."""


class Unreadable(Exception):
    """The artifact could not be looked at; says why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The artifacts of a session, laid out."""

    book: Book
    diagnoses: Sequence[Diagnosis]
    cleaner: Cleaner | None
    clock: Callable[[], float]
    deadline: float

    def seconds(self, most: float) -> float:
        """Time for one look."""
        left = self.deadline - self.clock()
        if left <= 0:
            raise Unreadable("the time for checking was over")
        return min(most, left)

    def runs(self, name: str) -> list[tuple[str, Run]]:
        """The runs that a citation means: the named one, or all if it names none."""
        if not name:
            return list(self.book.runs.items())
        try:
            called = self.book.run_called(name)
        except ArtifactError as problem:
            raise Struck(str(problem)) from None
        return [(called, self.book.runs[called])]


def closest(name: str, names: Iterable[str]) -> str:
    """Names that somebody may have meant, as the end of a sentence; empty if there is none."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(dict.fromkeys(names)), 3, 0.5)
    return f"; the closest: {', '.join(found)}" if found else ""
