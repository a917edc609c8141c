"""A session and everything that was done to it: the state is what its entries add up to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal

from .actions.every import AnyAction, is_automatic
from .errors import Refused
from .model.base import Part
from .model.session import Session


class Entry(Part):
    """One thing that was done, as the journal keeps it."""

    n: int
    """Counts up from 1 within a session."""
    at: datetime
    kind: Literal["do", "undo", "redo"] = "do"
    action: AnyAction | None = None
    """What was done; None for undo and redo."""
    of: int = 0
    """Number of the entry that is undone or redone."""

    @property
    def is_automatic(self) -> bool:
        """True if the app did it by itself."""
        return self.action is not None and is_automatic(self.action)


def now() -> datetime:
    """This moment, as it is written down."""
    return datetime.now(UTC)


class Triage:
    """The state of a session, with undo and redo; knows nothing of files.

    Undo leaves out an entry and adds up the rest anew, so that what the app saw by itself in
    the meantime stays.
    """

    def __init__(
        self,
        base: Session,
        entries: Iterable[Entry] = (),
        clock: Callable[[], datetime] = now,
        spent: Iterable[str] = (),
        last: int = 0,
    ) -> None:
        self.base = base
        self.spent = tuple(spent)
        """Ids that were given away before the base, the highest of each kind."""
        self.last = last
        """The highest number ever given, even to an entry that cannot be read any more."""
        self.entries: list[Entry] = []
        self.skipped: list[str] = []
        """Entries of the journal that could not be applied, in a sentence each."""
        self._clock = clock
        self._undone: set[int] = set()
        self._done: list[int] = []
        """Numbers of what undo would take back, the last first to go."""
        self._redoable: list[int] = []
        self.session = base
        for entry in entries:
            self._note(entry)
        # Once for all: adding up at every undo on the way would take a minute for a long journal.
        self._add_up()

    # -- doing ----------------------------------------------------------------------------

    def do(self, action: AnyAction) -> Entry:
        """Do something; `Refused` if the rules do not allow it, and then nothing has changed."""
        entry = Entry(n=self._next(), at=self._clock(), action=action)
        try:
            self.session = action.apply(self.session, entry.at)
        except ValueError as problem:
            raise Refused(_sentence(problem)) from problem
        self._note(entry)
        return entry

    def undo(self) -> Entry | None:
        """Take the last action of a person back; None if there is none."""
        if not self._done:
            return None
        entry = Entry(n=self._next(), at=self._clock(), kind="undo", of=self._done[-1])
        self.replay(entry)
        return entry

    def redo(self) -> Entry | None:
        """Do again what was taken back last; None if there is nothing."""
        if not self._redoable:
            return None
        entry = Entry(n=self._next(), at=self._clock(), kind="redo", of=self._redoable[-1])
        self.replay(entry)
        return entry

    def replay(self, entry: Entry) -> None:
        """Take in an entry that was made before; one that does not fit is skipped and noted."""
        if entry.kind == "do" and entry.action is not None:
            self.session = self._applied(self.session, entry)
        self._note(entry)
        if entry.kind != "do":
            self._add_up()

    def _note(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.last = max(self.last, entry.n)
        if entry.kind == "undo":
            self._undone.add(entry.of)
            if entry.of in self._done:
                self._done.remove(entry.of)
            self._redoable.append(entry.of)
        elif entry.kind == "redo":
            self._undone.discard(entry.of)
            if entry.of in self._redoable:
                self._redoable.remove(entry.of)
            self._done.append(entry.of)
        elif not entry.is_automatic:
            self._done.append(entry.n)
            self._redoable.clear()

    def _add_up(self) -> None:
        session = self.base
        for entry in self.entries:
            if entry.kind == "do" and entry.n not in self._undone:
                session = self._applied(session, entry)
        self.session = session

    def _applied(self, session: Session, entry: Entry) -> Session:
        if entry.action is None:
            return session
        try:
            return entry.action.apply(session, entry.at)
        except (Refused, ValueError) as problem:
            # What it was done to may have been undone: then it has nothing to act on.
            said = f"entry {entry.n} ({entry.action.op}) has no effect: {_sentence(problem)}"
            if said not in self.skipped:
                self.skipped.append(said)
            return session

    # -- asking ---------------------------------------------------------------------------

    @property
    def undoable(self) -> str:
        """What undo would take back, in words; empty if nothing."""
        return self._said(self._done)

    @property
    def redoable(self) -> str:
        """What redo would do again, in words; empty if nothing."""
        return self._said(self._redoable)

    def _said(self, numbers: list[int]) -> str:
        if not numbers:
            return ""
        found = next((e for e in reversed(self.entries) if e.n == numbers[-1]), None)
        return found.action.said(self.session) if found is not None and found.action else ""

    def new_id(self, letter: str) -> str:
        """An id that nothing ever had in this session, such as H3: not even what was undone."""
        actions = (entry.action for entry in self.entries if entry.action is not None)
        known = [*self.spent, *_ids_in(self.base), *(action.makes for action in actions)]
        used = [int(one[len(letter) :]) for one in known if re.fullmatch(rf"{letter}\d+", one)]
        return f"{letter}{max(used, default=0) + 1}"

    def _next(self) -> int:
        return self.last + 1


def _ids_in(session: Session) -> Iterator[str]:
    for parts in (
        session.runs,
        session.hypotheses,
        session.experiments,
        session.notes,
        session.decisions,
        session.prevention,
    ):
        yield from (part.id for part in parts)


def _sentence(problem: Exception) -> str:
    """What a failed check says, without pydantic's decoration."""
    from pydantic import ValidationError

    if isinstance(problem, ValidationError):
        said = (error["msg"].removeprefix("Value error, ") for error in problem.errors())
        return "; ".join(said)
    return str(problem)
