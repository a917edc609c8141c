"""One remote file and its copy here: how far it is, and what is known of the original."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

from ..sources.pieces import FollowState, FollowStatus
from . import far_side
from .local_copy import LocalCopy, explain
from .stamp import Stamp

_numbers = itertools.count(1)
_TROUBLES = {
    b"none": FollowStatus(FollowState.MISSING, "no such file yet"),
    b"directory": FollowStatus(FollowState.UNREADABLE, "it is a directory over there"),
    b"pipe": FollowStatus(FollowState.UNREADABLE, "it is a named pipe over there"),
    b"socket": FollowStatus(FollowState.UNREADABLE, "it is a socket over there"),
    b"device": FollowStatus(FollowState.UNREADABLE, "it is a device over there"),
}
_DELETED = FollowStatus(FollowState.MISSING, "deleted or renamed over there")
_FOLLOWING = FollowStatus(FollowState.FOLLOWING)
_SEARCH_SECONDS = 10.0
"""A file that lost its name is written on for a while; so long its new name is looked for."""
_UNREADABLE_REST = 5.0
_UNSTORED_REST = 30.0
"""Seconds until bytes are sent again that could not be stored."""


class MirroredFile:
    """A remote file that is followed; one thread changes it, any may read the public fields.

    The copy holds the bytes from `start` to `size`; before `start` it is a hole that is still to
    be filled.
    """

    def __init__(self, remote: bytes, local: Path, *, tail_first: bool = True) -> None:
        self.remote = remote
        self.local = local
        self.status = FollowStatus(FollowState.MISSING, "not looked at yet")
        self.generation = -1
        """Number of the latest beginning that showed a byte; -1 before the first."""
        self.size = 0
        self.start = 0
        self.identity = b""
        self.modified: float | None = None
        """When the original was written last, by the clock here."""
        self.far_size: int | None = None
        """Its length over there at the last look; None before the first."""
        self.note = ""
        """Why the copy will stay incomplete, if it will."""
        self.tail_first = tail_first
        self.number = next(_numbers)
        self.lock = threading.RLock()
        self.copy = LocalCopy(local)
        self.head = b""
        self.known = b""
        """The stamp of which everything is here."""
        self.is_ended = True
        """The next byte begins a generation."""
        self.is_doubtful = False
        """The name changed hands while the bytes came: they may be of either file."""
        self.lost_at: float | None = None
        """Since when the file has not had its name any more."""
        self.is_looked_at = False
        self.rests_until = 0.0
        """A file that cannot be read is not asked for before."""

    @property
    def is_complete(self) -> bool:
        """True if all that the last look showed is here."""
        return self.is_looked_at and not self.start and self.is_caught_up

    @property
    def is_caught_up(self) -> bool:
        """True if the copy reaches as far as the last look did."""
        is_followed = self.status.state is FollowState.FOLLOWING
        return self.is_looked_at and (not is_followed or self.known != b"")

    @property
    def awaits_rest(self) -> bool:
        """True if the copy has a hole that is to be filled."""
        return self.start > 0 and not self.note

    def wanted(self, now: float, *, tail_first: bool) -> bytes:
        """The line of a poll that asks for what is new."""
        is_lost = self.lost_at is not None and now - self.lost_at < _SEARCH_SECONDS
        letters = {
            "t": self.tail_first and tail_first and not self.is_packed,
            "z": not self.is_packed,
            "f": self.is_ended,
            "s": is_lost,
            "d": self.is_doubtful,
        }
        how = "".join(letter for letter, is_set in letters.items() if is_set)
        return far_side.want(self.number, self.known, self.identity, self.size, self.start, how)

    @property
    def is_packed(self) -> bool:
        """True for a compressed file: nothing can be done with its end alone."""
        return is_packed(self.head)

    def begin(self, offset: int, data: bytes) -> None:
        """Start a generation with these bytes."""
        with self.lock:
            self.copy.begin(offset, data)
            self.start = offset
            self.size = offset + len(data)
            self.generation += 1
            self.is_ended = False
            self.lost_at = None
            self.note = ""
            if not offset:
                self.head = data[: far_side.HEAD_BYTES]

    def begin_empty(self) -> None:
        """Have a file here, so that a reader waits for its bytes instead of for its name."""
        with self.lock:
            if self.generation < 0:
                self.copy.begin(0, b"")

    def append(self, data: bytes) -> None:
        """Add bytes at the end; on a full disk as many as can be, before it raises."""
        with self.lock:
            if self.size < far_side.HEAD_BYTES:
                self.head = (self.head + data)[: far_side.HEAD_BYTES]
            while data:
                end = self.copy.append(data, self.size)
                data = data[end - self.size :]
                self.size = end

    def prepend(self, data: bytes, generation: int) -> bool:
        """Fill the end of the hole; false if the file has begun anew meanwhile."""
        with self.lock:
            if generation != self.generation or len(data) > self.start:
                return False
            self.copy.prepend(data, self.start)
            self.start -= len(data)
            return True

    def settle(self, stamp: Stamp | None, clock_lead: float) -> None:
        """Note what the file was when its bytes had been sent."""
        with self.lock:
            if stamp is not None and stamp.modified is not None:
                self.modified = max(0.0, stamp.modified - clock_lead)
                self.copy.set_time(self.modified)

    def set_trouble(self, why: bytes, reason: str, now: float) -> None:
        """It cannot be read over there."""
        status = _TROUBLES.get(why) or FollowStatus(FollowState.UNREADABLE, reason)
        if why == b"none" and self.generation >= 0:
            status = _DELETED
            if self.lost_at is None:
                self.lost_at = now
        if status.state is FollowState.UNREADABLE:
            self.rests_until = now + _UNREADABLE_REST
        self.status = status
        self.known = b"!" + why
        self.is_looked_at = True

    def set_following(self) -> bool:
        """It can be read; true if that is new."""
        is_new = self.status is not _FOLLOWING
        self.status = _FOLLOWING
        return is_new

    def set_unstored(self, error: OSError, now: float) -> None:
        """It cannot be written here; what was written counts."""
        self.rests_until = now + _UNSTORED_REST
        self.status = FollowStatus(FollowState.UNREADABLE, explain(error))
        self.known = b""
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            # The copy itself is gone, so there is nothing to go on with.
            self.is_ended = True


def is_packed(head: bytes) -> bool:
    """True if a file that begins so is compressed."""
    from ..sources.decompression import recognise

    return recognise(head) is not None
