"""Following one path: every byte that can be seen there, once, generation by generation.

A *generation* is what the path held from one beginning to the next: renaming and creating,
truncating (`copytruncate`), rewriting, deleting and creating again all start a new one. A file
that was replaced by a longer copy of itself (rsync, editors) goes on in the same generation.
A generation counts once it showed a byte.

What nobody can see from here: bytes that came and went between two reads (written just before
a truncation, or in a file that was rotated in and out again); a file rewritten in place with
the same first kibibyte, the same kibibyte before the read position, and more behind it; a
rewrite in place that keeps both and the length, if more than 16 MiB were read. On sshfs an open
file shows its successor's bytes after a rotation, so there the unread rest of the old one (what
was written since the last read) is lost instead of mixed up.

The open file is held until it is replaced, also when it was deleted: its writer may go on.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Self

from ..errors import InputError
from ..open_artifact import ANYWHERE, Roots
from .fingerprint import Fingerprint
from .looks import kind_of, shown
from .open_file import NotAFile, OpenFile
from .pieces import FollowState, FollowStatus, Piece

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_ROUNDS = 16
"""A file that is rewritten as fast as we look must not keep us in one call for ever."""


class FileFollower:
    """Reads a path as it grows and is replaced; for one thread at a time."""

    def __init__(self, path: str | os.PathLike[str], root: Roots = ANYWHERE) -> None:
        self.path = Path(path)
        self._root = root
        self._held: OpenFile | None = None
        self._key = (-1, -1)
        self._print = Fingerprint()
        self._generation = -1
        self._status = FollowStatus(FollowState.MISSING, "not read yet")
        _refuse_what_is_no_file(self.path)

    @property
    def status(self) -> FollowStatus:
        """How the path was doing at the last read."""
        return self._status

    @property
    def generation(self) -> int:
        """Number of the latest generation that showed a byte; -1 before the first."""
        return self._generation

    @property
    def offset(self) -> int:
        """How far the generation under way was read."""
        return self._print.offset

    @property
    def unread(self) -> int:
        """Bytes that the last look showed and that were not read yet."""
        return max(0, self._held.size - self.offset) if self._held else 0

    def read(self, max_bytes: int = 1 << 20) -> list[Piece]:
        """What is new, in order, at most `max_bytes` of it; an empty list if nothing is."""
        pieces: list[Piece] = []
        room = max_bytes
        is_retry = False
        for _ in range(_ROUNDS):
            try:
                if room <= 0 or not (self.unread or self._look(pieces)):
                    break
                room -= self._take(room, pieces)
            except OSError as error:
                # A stale handle says nothing about the file that has the name now.
                self._lose(error)
                if is_retry:
                    break
                is_retry = True
        return pieces

    def close(self) -> None:
        """Let go of the file; another read would open it again and go on."""
        if self._held is not None:
            self._held.close()
        self._held = None

    def __enter__(self) -> Self:
        """Follow for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Let go of the file."""
        self.close()

    def _take(self, room: int, pieces: list[Piece]) -> int:
        """Read the next bytes of the held file, or notice that it was rewritten."""
        held = self._held
        if held is None or not self._recheck(held, pieces):
            return 0
        start = self._print.offset
        data = os.pread(held.descriptor, min(room, held.size - start), start)
        held.refresh()
        # Rewritten while we read: the bytes may belong to either side, so they are let go.
        if held.size < start + len(data) or not self._print.fits(held.descriptor, held.status):
            self._recheck(held, pieces)
            return 0
        if data:
            self._generation += self._print.is_empty
            self._print.extend(data)
            pieces.append(Piece(self._generation, start, data))
        return len(data)

    def _look(self, pieces: list[Piece]) -> bool:
        """See what the path holds now; true if the held file then has something to read."""
        seen = self._open()
        if seen is None:
            return self._held is not None and self._recheck(self._held, pieces)
        try:
            if seen.key != self._key and not self._is_newer_copy(seen):
                if self._is_still_needed(seen, pieces):
                    seen.close()
                    return self.unread > 0
                self._end(pieces)
        except OSError:
            seen.close()
            raise
        # Also if it is the same file: opening it made a network client ask its server.
        self.close()
        self._held, self._key = seen, seen.key
        return self._recheck(seen, pieces)

    def _is_still_needed(self, successor: OpenFile, pieces: list[Piece]) -> bool:
        """True if the held file has unread bytes, or its successor has nothing to say yet."""
        if self._held is None:
            return False
        return self._recheck(self._held, pieces) or successor.size == 0

    def _is_newer_copy(self, seen: OpenFile) -> bool:
        if self._held is not None:
            self._held.refresh()
            # Rotation keeps the old file under another name; a copy moved over it does not.
            if self._held.status.st_nlink > 0:
                return False
        return self._print.is_copied_in(seen.descriptor, seen.status)

    def _recheck(self, held: OpenFile, pieces: list[Piece]) -> bool:
        """Start a generation if the held file was rewritten; true if there is more to read."""
        held.refresh()
        if not self._print.fits(held.descriptor, held.status):
            self._end(pieces)
        if self._print.is_empty:
            self._print = Fingerprint(held.first_data())
        return held.size > self._print.offset

    def _end(self, pieces: list[Piece]) -> None:
        if not self._print.is_empty:
            if pieces and pieces[-1].generation == self._generation:
                pieces[-1] = pieces[-1]._replace(ends=True)
            else:
                pieces.append(Piece(self._generation, self._print.offset, b"", ends=True))
        self._print = Fingerprint()

    def _open(self) -> OpenFile | None:
        """Open what is at the path now, and let `status` say how that went."""
        try:
            seen = OpenFile.at(self.path, self._root)
        except OSError as error:
            self._status = self._explain(error)
            return None
        self._status = FollowStatus(FollowState.FOLLOWING)
        return seen

    def _explain(self, error: OSError) -> FollowStatus:
        if error.errno not in _GONE:
            return _unreadable(error)
        if self._held is not None:
            reason = "deleted or renamed; what is still open is read to its end"
            return FollowStatus(FollowState.MISSING, reason)
        return FollowStatus(FollowState.MISSING, "no such file yet")

    def _lose(self, error: OSError) -> None:
        self.close()
        self._status = _unreadable(error)


def _unreadable(error: OSError) -> FollowStatus:
    reason = str(error.strerror) if isinstance(error, NotAFile) else os.strerror(error.errno or 0)
    return FollowStatus(FollowState.UNREADABLE, reason[:1].lower() + reason[1:])


def _refuse_what_is_no_file(path: Path) -> None:
    try:
        kind = kind_of(os.stat(path).st_mode)
    except ValueError:
        raise InputError(f"{shown(path)} is not a possible file name") from None
    except OSError:
        return
    if kind:
        is_pipe = kind == "a named pipe"
        hint = "read a pipe through standard input: ... | mltd-tui -" if is_pipe else ""
        raise InputError(f"{shown(path)} is {kind}; only a regular file can be followed", hint=hint)
