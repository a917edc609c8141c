"""A log that is looked at: its lines by byte offset, while it grows, is cut or replaced."""

from __future__ import annotations

import errno
import os

from ..errors import InputError
from ..open_artifact import ANYWHERE, Roots
from ..remote.names import is_mirrored
from .open_file import NotAFile, OpenFile
from .pieces import FollowState, FollowStatus
from .text_copy import HEAD_BYTES, TextCopy, needs_copy
from .text_lines import TextLines

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})


class TextFile:
    """Reads lines of a path as it is at the last look; for one thread at a time."""

    def __init__(self, path: str | os.PathLike[str], root: Roots = ANYWHERE) -> None:
        self.path = os.fspath(path)
        self._root = root
        self.generation = 0
        """How many beginnings were seen; 0 before the first byte."""
        self.status = FollowStatus(FollowState.MISSING, "not read yet")
        self._held: OpenFile | None = None
        self._copy: TextCopy | None = None
        self._head = b""
        self._tail = b""
        self._is_mirrored = is_mirrored(self.path)
        """The end of a remote log is copied first, then what is before it."""
        self._lines = TextLines(self.read_at)
        self.lines_from = self._lines.lines_from
        self.lines_before = self._lines.lines_before
        self.last_lines = self._lines.last_lines
        self.line_start = self._lines.line_start

    @property
    def start(self) -> int:
        """Where the text begins."""
        return self._lines.start

    @property
    def size(self) -> int:
        """Where the text ends, as far as it was looked at."""
        return self._lines.size

    @property
    def descriptor(self) -> int | None:
        """What the text can be read from; None if there is nothing."""
        if self._copy is not None:
            return self._copy.descriptor
        return self._held.descriptor if self._held is not None else None

    @property
    def note(self) -> str:
        """What is missing of the text, in words."""
        if self.is_partial:
            return "what is before this is still being copied"
        return self._copy.note if self._copy is not None else ""

    @property
    def is_partial(self) -> bool:
        """True while only the end of a remote log is here."""
        return self._is_mirrored and self._lines.start > 0

    @property
    def has_copy(self) -> bool:
        """True if the file cannot be read in place."""
        return self._copy is not None

    @property
    def is_packed(self) -> bool:
        """True if the file is compressed."""
        return self._copy is not None and self._copy.is_packed

    def look(self) -> None:
        """See what the path holds now."""
        try:
            seen = OpenFile.at(self.path, self._root)
        except (OSError, ValueError) as error:
            self.status = _explain(error)
            self._refresh_held()
            return
        self.status = FollowStatus(FollowState.FOLLOWING)
        try:
            self._take(seen)
        except (OSError, InputError) as error:
            self.status = _explain(error)
        if self._held is not seen:
            seen.close()

    def copy_more(self) -> bool:
        """Copy some more of a file that cannot be read in place; true if there is more to do."""
        if self._copy is None:
            return False
        goes_on = self._copy.step()
        self._lines.size = self._copy.size
        return goes_on

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes from an offset; empty if they cannot be read."""
        descriptor = self.descriptor
        if descriptor is None:
            return b""
        try:
            return os.pread(descriptor, length, offset)
        except OSError as error:
            self.status = _explain(error)
            return b""

    def close(self) -> None:
        """Let go of the file."""
        if self._copy is not None:
            self._copy.close()
        if self._held is not None:
            self._held.close()
        self._copy = self._held = None

    def _take(self, seen: OpenFile) -> None:
        """Go on with the file that has the name now, or begin anew with it."""
        if self._held is None or not self._is_same(seen):
            if self._held is not None and seen.size == 0 and seen.key != self._held.key:
                # The successor has nothing to say yet: what was there is still worth reading.
                return
            self._begin(seen)
        else:
            # Also if it is the same file: opening it made a network client ask its server.
            self._held.close()
            self._held = seen
        self._grow(seen)

    def _is_same(self, seen: OpenFile) -> bool:
        """True if the file goes on from what was seen of it, also if it is a newer copy of it."""
        if not self._tail:
            return True
        end = self._lines.size if self._copy is None else len(self._head)
        if seen.size < end:
            return False
        first = self._lines.start if self._copy is None else 0
        if os.pread(seen.descriptor, len(self._head), first) != self._head:
            return False
        return os.pread(seen.descriptor, len(self._tail), end - len(self._tail)) == self._tail

    def _begin(self, seen: OpenFile) -> None:
        self.close()
        self._held = seen
        self._head = self._tail = b""
        self._lines.start = self._lines.size = 0

    def _grow(self, seen: OpenFile) -> None:
        if self._copy is not None:
            return
        if not self._head:
            self._see_first_bytes(seen)
        elif len(self._head) < HEAD_BYTES:
            self._head = os.pread(seen.descriptor, HEAD_BYTES, self._lines.start)
        if self._is_mirrored and self._lines.start > 0:
            self._see_what_came_before(seen)
        if self._copy is None:
            size = self._lines.size = max(seen.size, self._lines.start)
            length = min(HEAD_BYTES, size - self._lines.start)
            self._tail = os.pread(seen.descriptor, length, size - length)

    def _see_what_came_before(self, seen: OpenFile) -> None:
        first = seen.first_data(has_hole=True)
        if first < self._lines.start:
            self._lines.start = first
            self._head = os.pread(seen.descriptor, HEAD_BYTES, first)

    def _see_first_bytes(self, seen: OpenFile) -> None:
        first = seen.first_data(has_hole=self._is_mirrored)
        head = os.pread(seen.descriptor, HEAD_BYTES, first)
        if needs_copy(head):
            self._copy = TextCopy(self.path, self._root)
            self._tail = head
        else:
            self._lines.start = first
        self._head = head
        self.generation += bool(head)

    def _refresh_held(self) -> None:
        """A file without a name may still be written to."""
        if self._held is not None and self._copy is None:
            self._held.refresh()
            self._lines.size = max(self._held.size, self._lines.size)


def _explain(error: Exception) -> FollowStatus:
    if isinstance(error, InputError):
        return FollowStatus(FollowState.UNREADABLE, str(error))
    if not isinstance(error, OSError):
        return FollowStatus(FollowState.UNREADABLE, "not a possible file name")
    if error.errno in _GONE:
        return FollowStatus(FollowState.MISSING, "no such file yet")
    reason = str(error.strerror) if isinstance(error, NotAFile) else os.strerror(error.errno or 0)
    return FollowStatus(FollowState.UNREADABLE, reason[:1].lower() + reason[1:])
