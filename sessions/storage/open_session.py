"""A session that is worked on: changed at once in memory, and soon after on disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from ..actions.every import AnyAction
from ..errors import Refused, StorageError
from ..model.session import Session
from ..triage import Entry, Triage
from .compacting import whole_journal
from .creating import create_session
from .files import create_private, why
from .lines import as_json, entry_line
from .lock import living_holder
from .opening import Opened, open_to_read
from .places import JOURNAL
from .saver import Clock, Saver, Saving
from .summary import save_card

PATIENCE = 5.0
"""Seconds that closing waits for a slow disk."""


class OpenSession:
    """The session, what is done to it, and how saving goes."""

    def __init__(self, folder: Path, opened: Opened, clock: Clock | None = None) -> None:
        self.path = folder
        self.triage: Triage = opened.triage
        self.notices = opened.notices
        self.on_saving: Callable[[Saving], None] | None = None
        """Called from the saver's thread whenever `saving` changes."""
        self._why_read_only = opened.why_read_only
        self._is_held = opened.is_held
        self._stamp = opened.stamp
        self._clock = clock
        self._doing = threading.RLock()
        self._lost: list[Entry] = []
        self._is_closed = False
        self._place = opened.place
        self._saver = Saver(opened.place, self._tell, clock) if opened.place else None

    # -- asking ---------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The state."""
        return self.triage.session

    @property
    def why_read_only(self) -> str:
        """Why nothing can be changed; empty if it can."""
        if self._is_closed:
            return "it is closed"
        return self._why_read_only or (self._saver.lost if self._saver else "")

    @property
    def saving(self) -> Saving:
        """Whether what was done is on disk."""
        if self._saver is None or self._is_closed:
            why, is_held = self.why_read_only, self._is_held and not self._is_closed
            return Saving("read_only", len(self._lost), why, is_held)
        saving = self._saver.saving
        return saving._replace(is_held=saving.state == "read_only")

    # -- doing ----------------------------------------------------------------------------

    def do(self, action: AnyAction) -> Entry:
        """Do something; `Refused` if the rules do not allow it, or nothing can be changed."""
        with self._doing:
            saver = self._writable()
            as_json(action)  # Before anything has changed: what cannot be written is not done.
            entry = self.triage.do(action)
            saver.put(entry, entry_line(entry))
            return entry

    def undo(self) -> Entry | None:
        """Take the last action of a person back; None if there is none."""
        return self._again(self.triage.undo)

    def redo(self) -> Entry | None:
        """Do again what was taken back last; None if there is nothing."""
        return self._again(self.triage.redo)

    def _again(self, what: Callable[[], Entry | None]) -> Entry | None:
        with self._doing:
            saver = self._writable()
            entry = what()
            if entry is not None:
                saver.put(entry, entry_line(entry))
            return entry

    def _writable(self) -> Saver:
        if self._saver is None or self.why_read_only:
            raise Refused(f"the session is read-only: {self.why_read_only}")
        return self._saver

    # -- the disk -------------------------------------------------------------------------

    def flush(self, timeout: float = PATIENCE) -> bool:
        """Try at once to save everything, and wait for it; True if all is on disk."""
        return self._saver.flush(timeout) if self._saver and not self._is_closed else True

    def refresh(self) -> bool:
        """Read what another process has written since; True if there was something."""
        with self._doing:
            if self._is_closed or not self.why_read_only or self.saving.pending:
                return False
            try:
                found = os.stat(self.path / JOURNAL, follow_symlinks=False)
                holder = living_holder(self.path)
            except OSError as problem:
                raise StorageError(f"{self.path} cannot be read: {why(problem)}") from problem
            if self._is_held and holder is None:
                self._why_read_only = "it is free by now: open it again to change it"
            if (found.st_ino, found.st_size, found.st_mtime_ns) == self._stamp:
                return False
            opened = open_to_read(self.path, self.why_read_only, is_growing=holder is not None)
            self.triage, self.notices, self._stamp = opened.triage, opened.notices, opened.stamp
            self._why_read_only = opened.why_read_only
            return True

    def save_elsewhere(self, folder: Path) -> Path:
        """Keep the whole session below another folder, and go on there; its new folder."""
        with self._doing:
            if self._is_closed:
                raise Refused("the session is closed")
            target, place = create_session(
                Path(folder).expanduser().absolute(), self.path.name, whole_journal(self.triage)
            )
            self._why_read_only, self._is_held = "", False
            if self._saver is None:
                self._saver = Saver(place, self._tell, self._clock)
            else:
                old = self._saver.move(place)
                with contextlib.suppress(OSError, StorageError):
                    old.release()
            self._place, self.path = place, target
            return target

    def rescue(self) -> Path | None:
        """Write a session with unsaved changes to a private temporary file, as a last resort."""
        if not self._lost and not (self._saver and self._saver.unsaved):
            return None
        name = f"mltd-{self.path.name}-{secrets.token_hex(4)}.jsonl"
        path = Path(tempfile.gettempdir(), name)
        try:
            create_private(path, whole_journal(self.triage))
        except OSError:
            return None
        return path

    def close(self) -> list[Entry]:
        """Save, let go of the files, and say what could not be saved."""
        with self._doing:
            if self._is_closed:
                return self._lost
            saver, place = self._saver, self._place
            if saver is not None and place is not None:
                saver.flush(PATIENCE)
                is_over = saver.stop(PATIENCE)
                self._lost = saver.unsaved
                # A thread that hangs in a write means that we would hang as well.
                if is_over and not saver.lost:
                    with contextlib.suppress(OSError):
                        if not self._lost:
                            save_card(self.path, self.triage)
                    with contextlib.suppress(OSError, StorageError):
                        place.release()
            self._is_closed = True
            return self._lost

    def _tell(self, saving: Saving) -> None:
        if self.on_saving is not None:
            self.on_saving(saving)

    def __enter__(self) -> Self:
        """Give the session itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()
