"""All sessions of a user: a folder each, below one that belongs to nobody else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mltd.runs.state_files import private_folder, state_directory

from ..errors import StorageError
from .files import read_regular, why
from .finding import find_by_run, find_session
from .places import JOURNAL, clean_title, folder_of, is_id, new_id
from .summary import Card, SessionSummary, read_card

if TYPE_CHECKING:
    from ..model.run_ref import FilePrint
    from ..triage import Triage
    from .open_session import OpenSession
    from .saver import Clock

__all__ = ["SessionStore", "SessionSummary"]


class SessionStore:
    """Creates, opens, lists, finds and deletes sessions."""

    def __init__(self, folder: Path | None = None, *, clock: Clock | None = None) -> None:
        self.folder = folder if folder is not None else state_directory() / "sessions"
        self._is_usual = folder is None
        self._clock = clock

    def create(self, title: str) -> OpenSession:
        """A new session, on disk; `StorageError` if there is no room for one."""
        # Imported here and below: listing sessions should not wait for the model.
        from ..model.session import Session
        from ..triage import Triage, now
        from .compacting import whole_journal
        from .creating import create_session
        from .open_session import OpenSession
        from .opening import Opened

        moment = now()
        name = clean_title(title)
        id = new_id(name, moment)  # noqa: A001 - what it is
        triage = Triage(Session(id=id, title=name, created=moment))
        if self._is_usual and self.folder.is_dir():
            with suppress(OSError):
                private_folder(self.folder)
        folder, place = create_session(self.folder, id, whole_journal(triage))
        return OpenSession(folder, Opened(triage, place=place), self._clock)

    def open(
        self,
        id: str,  # noqa: A002 - what it is
        *,
        take_over: bool = False,
        read_only: bool = False,
    ) -> OpenSession:
        """A session to work on; read-only, with the reason, if another process has it."""
        from .lock import living_holder
        from .open_session import OpenSession
        from .opening import open_to_read, open_to_write

        folder = self._existing(id)
        if read_only:
            reason, is_growing = "it was opened only to be read", living_holder(folder) is not None
            opened = open_to_read(folder, reason, is_growing=is_growing)
        else:
            opened = open_to_write(folder, take_over=take_over)
        return OpenSession(folder, opened, self._clock)

    def load(self, id_or_path: str | Path) -> Triage:
        """A session as it is on disk, from here or from a folder or file elsewhere."""
        return self.load_with_notices(id_or_path)[0]

    def load_with_notices(self, id_or_path: str | Path) -> tuple[Triage, tuple[str, ...]]:
        """The same, with what a person should know about the state of the file."""
        from .journal import read_journal

        name = str(id_or_path)
        path = Path(os.path.expanduser(name))
        if is_id(name) and (self.folder / name / JOURNAL).exists():
            path = self._existing(name)
        path = path / JOURNAL if path.is_dir() else path
        try:
            content = read_regular(path, follow=True)
            journal = read_journal(content.data, path.parent.name if path.name == JOURNAL else "")
            return journal.triage, journal.notices
        except FileNotFoundError:
            raise StorageError(
                f"there is no session {name!r}", hint="`mltd-tui sessions` lists them"
            ) from None
        except OSError as problem:
            raise StorageError(f"{path} cannot be read: {why(problem)}") from problem
        except ValueError as problem:
            raise StorageError(f"{name!r} is no name of a file: {problem}") from problem
        except StorageError as problem:
            raise StorageError(f"{path}: {problem.message}", hint=problem.hint) from problem

    def summaries(self) -> list[SessionSummary]:
        """All sessions, the one that was changed last first."""
        return [card.summary for card in self._cards()]

    def find(self, name: str) -> str:
        """The id of the session that a user means: by id, title, the path of a run, or `last`."""
        return find_session(self._cards(), name)

    def find_for_run(self, location: str, files: Sequence[FilePrint] = ()) -> str | None:
        """The newest session about a run that is not archived; None if there is none."""
        cards = [card for card in self._cards() if not card.summary.is_archived]
        return find_by_run(cards, location, files)

    def delete(self, id: str) -> None:  # noqa: A002 - what it is
        """Remove a session for good; `StorageError` while a living process has it open."""
        from .creating import remove_session
        from .holder import is_this_process
        from .lock import HeldError, SessionLock, living_holder

        folder = self._existing(id)
        try:
            holder = None
            SessionLock(folder)
        except HeldError as held:
            holder = held.holder
        except OSError:
            # On a full disk there is no room for a lock, and deleting is what helps.
            holder = living_holder(folder)
        if holder is not None and not is_this_process(holder):
            raise StorageError(
                f"{id} cannot be deleted: {holder} has it open", hint="close it there first"
            )
        left = remove_session(folder)
        if left:
            raise StorageError(
                f"{folder} is not removed: there is something else in it ({', '.join(left[:5])})"
            )

    def _existing(self, id: str) -> Path:  # noqa: A002 - what it is
        folder = folder_of(self.folder, id)
        try:
            kind = os.lstat(folder).st_mode
        except OSError:
            kind = 0
        if not stat.S_ISDIR(kind) or not os.path.lexists(folder / JOURNAL):
            raise StorageError(
                f"there is no session {id} in {self.folder}",
                hint="`mltd-tui sessions` lists them",
            )
        return folder

    def _cards(self) -> list[Card]:
        cards = [read_card(folder) for folder in self._folders()]
        return sorted(cards, key=lambda card: card.summary.changed, reverse=True)

    def _folders(self) -> Iterator[Path]:
        try:
            with os.scandir(self.folder) as found:
                names = [one.name for one in found if one.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return
        except OSError as problem:
            raise StorageError(f"{self.folder} cannot be read: {why(problem)}") from problem
        for name in names:
            if is_id(name) and os.path.lexists(self.folder / name / JOURNAL):
                yield self.folder / name
