"""The files of a session, read beside the main loop before it makes a pack of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from mltd.diagnosis.artifacts import ArtifactBook, ArtifactError, Excerpt
from mltd.diagnosis.artifacts.book import LONGEST_TEXT
from mltd.diagnosis.artifacts.line_reader import READ_SECONDS


class _Wanted(NamedTuple):
    name: str
    first: int
    last: int
    longest: int


class ReadAheadBook(ArtifactBook):
    """First notes which lines are wanted, then reads them, then has them at hand.

    Runs are looked at by the main loop alone, and logs may lie on file systems that take seconds
    to answer: so what a pack quotes is read by another thread in between.
    """

    _wanted: tuple[_Wanted, ...] = ()
    _notes: dict[_Wanted, None] | None = None
    _read: dict[_Wanted, Excerpt | ArtifactError] | None = None

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Read nothing, but remember what is wanted."""
        notes: dict[_Wanted, None] = {}
        self._notes = notes
        try:
            yield
        finally:
            self._notes, self._wanted = None, tuple(notes)

    def read_ahead(self) -> None:
        """Read what was wanted; only this touches files."""
        found: dict[_Wanted, Excerpt | ArtifactError] = {}
        for one in self._wanted:
            try:
                found[one] = super().lines(one.name, one.first, one.last, longest=one.longest)
            except ArtifactError as problem:
                found[one] = problem
        self._read = found

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Answer from what was read ahead; afterwards files are read as they are then."""
        try:
            yield
        finally:
            self._read = None

    def lines(
        self,
        name: str,
        first: int,
        last: int,
        *,
        longest: int = LONGEST_TEXT,
        seconds: float = READ_SECONDS,
    ) -> Excerpt:
        """Lines of a file by their numbers, as they were read ahead if they were."""
        wanted = _Wanted(name, first, last, longest)
        if self._notes is not None:
            self._notes[wanted] = None
            raise ArtifactError(f"{name} is not read yet")
        known = (self._read or {}).get(wanted)
        if isinstance(known, ArtifactError):
            raise known
        return known or super().lines(name, first, last, longest=longest, seconds=seconds)
