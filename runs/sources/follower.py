"""Following one path: every byte that can be seen there, once, generation by generation.

A *generation* is what the path held from one beginning to the next: renaming and creating,
truncating (`copytruncate`), rewriting, deleting and creating again all start a new one. A file
that was replaced by a longer copy of itself (rsync, editors) goes on in the same generation.
A generation counts once it showed a byte.

A log that was rotated is read to its end before its successor: from the descriptor that is still
open, or under its new name, where its content identifies it. So is the copy that `copytruncate`
makes. Logs that were rotated as well between two reads come in their turn (`train.log.2`, then
`train.log.1`). Where the end of a generation is beyond reach, its last piece `has_gap`: the file
was truncated without a copy, or deleted on a file system that does not keep it for us.

What nobody can see from here: a file that came and went between two reads, or one rewritten in
place with the same first kibibyte, the same kibibyte before the read position, and more behind
it; a rewrite in place that keeps both and the length, if more than 16 MiB were read.

The open file is held until it is replaced, also when it was deleted: its writer may go on.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections import deque
from pathlib import Path
from typing import Self

from ..errors import InputError
from ..open_artifact import ANYWHERE, Roots
from .fingerprint import Fingerprint
from .looks import kind_of, shown
from .open_file import NotAFile, OpenFile
from .pieces import FollowState, FollowStatus, Piece
from .rotation import MOST_NUMBERS, RotatedLogs

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_ROUNDS = 16
"""A file that is rewritten as fast as we look must not keep us in one call for ever."""
_COMPARED_BYTES = 4096
_DRAINED_BYTES = 1 << 20
_IDLE_NS = 60 * 1_000_000_000
"""A log that nobody wrote to for so long before it was truncated counts as read to its end."""


class FileFollower:
    """Reads a path as it grows and is replaced; for one thread at a time."""

    def __init__(self, path: str | os.PathLike[str], root: Roots = ANYWHERE) -> None:
        self.path = Path(path)
        self._root = root
        self._rotated = RotatedLogs(self.path, root)
        self._held: OpenFile | None = None
        self._key = (-1, -1)
        self._print = Fingerprint()
        self._ended: deque[Fingerprint] = deque(maxlen=MOST_NUMBERS)
        """Of the generations before, to know their files again under rotated names."""
        self._number = 0
        """Number at the end of the held file's name, where only its content identifies it."""
        self._emptied: OpenFile | None = None
        """The file that was truncated after the held copy of it was made; its turn comes next."""
        self._is_outdated = False
        """True if the held file is no longer what was read; only a look can tell what to do."""
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
        if self._held is None or self._is_outdated:
            return 0
        return max(0, self._held.size - self.offset)

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
        for file in (self._held, self._emptied):
            if file is not None:
                file.close()
        self._held = self._emptied = None

    def __enter__(self) -> Self:
        """Follow for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Let go of the file."""
        self.close()

    def _take(self, room: int, pieces: list[Piece]) -> int:
        """Read the next bytes of the held file; nothing if it is no longer what was read."""
        held = self._held
        if held is None:
            return 0
        length = min(room, held.size - self.offset)
        data = self._next_of_name(held, length) if held.is_by_name else self._next(held, length)
        self._is_outdated = not data
        self._deliver(data, pieces)
        return len(data)

    def _next(self, held: OpenFile, length: int) -> bytes:
        if not self._fits(held):
            return b""
        data = os.pread(held.descriptor, length, self.offset)
        # Rewritten while we read: the bytes may belong to either side, so they are let go.
        is_rewritten = not self._fits(held) or held.size < self.offset + len(data)
        return b"" if is_rewritten else data

    def _next_of_name(self, held: OpenFile, length: int) -> bytes:
        # Each read asks the server, so what is compared and what is new come in one answer.
        tail = self._print.tail
        data = os.pread(held.descriptor, len(tail) + length, self.offset - len(tail))
        return data[len(tail) :] if data.startswith(tail) else b""

    def _deliver(self, data: bytes, pieces: list[Piece]) -> None:
        if data:
            self._generation += self._print.is_empty
            pieces.append(Piece(self._generation, self._print.offset, data))
            self._print.extend(data)

    def _look(self, pieces: list[Piece]) -> bool:
        """See what the path holds now; true if the held file then has something to read."""
        seen = self._open()
        if seen is None:
            return self._read_on_without_name(pieces)
        try:
            if not self._goes_on_in(seen):
                if self._has_rest(seen, pieces):
                    seen.close()
                    return self.unread > 0
                seen = self._end_before(seen, pieces)
        except OSError:
            seen.close()
            raise
        # Also if it is the same file: opening it made a network client ask its server.
        self._hold(seen)
        return self.unread > 0

    def _goes_on_in(self, seen: OpenFile) -> bool:
        """True if the file at the path is the one that was read so far, or a newer copy of it."""
        held = self._held
        if seen.is_by_name and not self._print.is_empty:
            if held is not None and held.path != seen.path:
                return False  # known by its rotated name
            if held is not None and _is_one_file(held, seen, self.offset):
                return self._fits(seen)
            return self._is_copied_in(seen) and not self._hold_rotated()
        if seen.is_by_name or seen.key == self._key:
            return self._fits(seen)
        if held is not None:
            held.refresh()
            # Rotation keeps the old file under another name; a copy moved over it does not.
            if held.status.st_nlink > 0:
                return False
        return self._is_copied_in(seen)

    def _has_rest(self, successor: OpenFile, pieces: list[Piece]) -> bool:
        """True if the old file has unread bytes, or its successor has nothing to say yet."""
        held = self._held
        if held is not None and not held.is_by_name and held.key != successor.key:
            self._reread(held, pieces)
        elif not self._hold_rotated():
            return successor.is_by_name and successor.is_empty
        return self.unread > 0 or (successor.is_empty and not self._is_written_again())

    def _reread(self, held: OpenFile, pieces: list[Piece]) -> None:
        """Go on with a file that lost its name; if it was rewritten, with a copy of what it was."""
        if not self._fits(held):
            if self._hold_rotated():
                return
            self._end(pieces, has_gap=not self._was_idle(held))
        self._hold(held)

    def _is_written_again(self) -> bool:
        """True if the file that was truncated after it was copied has content again."""
        if self._emptied is None:
            return False
        self._emptied.refresh()
        return not self._emptied.is_empty

    def _end_before(self, seen: OpenFile, pieces: list[Piece]) -> OpenFile:
        """End the generation; the file to go on with, which may have been rotated as well."""
        held, following = self._held, None
        is_whole, number = False, 0
        if self._is_written_again():
            is_whole, following, self._emptied = True, self._emptied, None
        elif held is not None and not held.is_by_name:
            is_whole = held.key != seen.key
            number, following = self._next_rotated(held) if is_whole else (0, None)
        elif held is not None:
            number, following = self._next_rotated(held)
            is_whole = number > 0 or self._drain(held, pieces)
        unseen = None
        if is_whole and following is None and not number:
            unseen = self._rotated.find_unseen(self._print, self._ended)
        has_gap = unseen is not None or not (is_whole or self._was_idle(seen))
        self._end(pieces, has_gap=has_gap)
        if unseen is not None:
            # It was missed once, and is not missed again behind the next generation.
            self._ended.append(unseen)
        self._let_go_of_emptied()
        if following is None:
            return seen
        seen.close()
        return following

    def _was_idle(self, successor: OpenFile) -> bool:
        """True if nobody had written for so long that the last lines must have been read."""
        return successor.status.st_mtime_ns - self._print.modified_ns > _IDLE_NS

    def _read_on_without_name(self, pieces: list[Piece]) -> bool:
        """Read on in a file that was deleted or renamed: its writer may go on."""
        held = self._held
        if held is None:
            return False
        if not held.is_by_name:
            self._reread(held, pieces)
            if not self.unread and self._is_written_again() and self._emptied is not None:
                self._end(pieces, has_gap=False)
                self._hold(self._emptied)
        elif not self._print.is_empty and not self._hold_rotated():
            # The server still has the file, even if the kernel says that there is none.
            with contextlib.suppress(OSError):
                self._drain(held, pieces)
        if not self.unread and not self._print.is_empty:
            self._go_on_without_name(pieces)
        return self.unread > 0

    def _go_on_without_name(self, pieces: list[Piece]) -> None:
        """Go on with what was rotated after the held file, while nothing has the name."""
        following = self._next_rotated(self._held)[1] if self._held is not None else None
        if following is not None:
            self._end(pieces, has_gap=False)
            self._hold(following)

    def _next_rotated(self, held: OpenFile) -> tuple[int, OpenFile | None]:
        """The number of the held file, and the file that was rotated after it."""
        for _ in range(_ROUNDS):
            number = self._number if held.is_by_name else self._rotated.number_of(held)
            following = self._rotated.next_after(number, self._print, self._ended)
            # Names are shifted from the oldest on: if it has its own, the next one had its own.
            if number < 2 or self._rotated.has_number(held, number, self._print):
                return number, following
            if following is not None:
                following.close()
            if held.is_by_name:
                self._hold_rotated()
                held = self._held or held
        return 0, None

    def _hold(self, file: OpenFile) -> None:
        """Read this file from now on."""
        held = self._held
        if held is not None and held is not file and held is not self._emptied:
            held.close()
        if self._emptied is file:
            self._emptied = None
        self._held, self._key, self._number, self._is_outdated = file, file.key, 0, False
        if self._print.is_empty:
            self._print = Fingerprint(file.first_data())
        self._print.keep_times(file.status)

    def _hold_rotated(self) -> bool:
        """Go on with the file under its rotated name, or with the copy that was made of it."""
        self._number = 0
        found = None
        if not self._print.is_empty:
            found = self._rotated.find(self._print, self._ended)
        if found is None:
            return False
        if self._held is not None and not self._held.is_by_name:
            self._let_go_of_emptied()
            self._emptied = self._held
        self._hold(found.file)
        self._number = found.number
        return True

    def _drain(self, held: OpenFile, pieces: list[Piece]) -> bool:
        """Read the rest of a file that has no name any more; true if nothing is left of it."""
        is_last = False
        while not is_last:
            tail = self._print.tail
            data, is_last = held.read_rest(self.offset - len(tail), len(tail) + _DRAINED_BYTES)
            if data[: len(tail)] != tail or not self._print.begins(held.descriptor):
                return False
            if len(data) == len(tail):
                break
            self._deliver(data[len(tail) :], pieces)
        return is_last

    def _fits(self, file: OpenFile) -> bool:
        file.refresh()
        return self._print.fits(file.descriptor, file.status)

    def _is_copied_in(self, file: OpenFile) -> bool:
        return self._print.is_copied_in(file.descriptor, file.status)

    def _end(self, pieces: list[Piece], *, has_gap: bool) -> None:
        if not self._print.is_empty:
            if not pieces or pieces[-1].generation != self._generation:
                pieces.append(Piece(self._generation, self._print.offset, b""))
            pieces[-1] = pieces[-1]._replace(ends=True, has_gap=has_gap)
            self._ended.append(self._print)
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

    def _let_go_of_emptied(self) -> None:
        if self._emptied is not None:
            self._emptied.close()
        self._emptied = None


def _is_one_file(held: OpenFile, seen: OpenFile, offset: int) -> bool:
    """True if nothing tells two open files apart: a file shows later what it showed before."""
    last = max(offset, seen.size - _COMPARED_BYTES)
    for start in {offset, last}:
        data = os.pread(seen.descriptor, _COMPARED_BYTES, start)
        if data and os.pread(held.descriptor, len(data), start) != data:
            return False
    return True


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
