"""Bytes of one file as one answer brings them: compared with what is here, then added to it.

Every byte is stored as it comes, so a cut loses none. A decision that would throw bytes away is
made at the end, when the file's stamps before and after are known: a name that changed hands
while its bytes came proves nothing.
"""

from __future__ import annotations

from .far_side import BIG_BYTES, HEAD_BYTES
from .local_copy import free_bytes
from .mirrored_file import MirroredFile, is_packed
from .problems import unreadable
from .stamp import Stamp
from .unpacking import Unpacker

_END_ONLY = "only its end is copied: it is larger than the free space here"
_WAYS = (b"on", b"old", b"copy", b"fresh", b"empty")


class Arrival:
    """What stands between the marks `file` and `end` for one file."""

    def __init__(self, file: MirroredFile, how: bytes, stamp: Stamp, now: float, most: int) -> None:
        if how not in _WAYS:
            raise unreadable()
        self.file = file
        self.stamp = stamp
        self.is_news = False
        """True if the file is not what it was before."""
        self._how = how
        self._now = now
        self._head: bytes | None = None
        self._is_agreed = True
        self._is_skipped = False
        self._is_too_big = False
        self._offset = -1
        self._position = 0
        self._end_before = file.size
        self._unpacker: Unpacker | None = None
        self._left = self._most = most
        """Bytes that the answer may still hold."""

    def start_head(self) -> None:
        """The file's first bytes follow."""
        self._head = b""

    def start_data(self, offset: int, encoding: bytes) -> None:
        """Bytes from that offset on follow."""
        if offset > (self.stamp.size if self._how == b"fresh" else self._end_before):
            raise unreadable("it leaves out a part of a file")
        self._offset = self._position = offset
        self._unpacker = Unpacker(self._most) if encoding == b"gzip" else None
        if self._how == b"fresh":
            self._is_too_big = self.stamp.size > free_bytes(self.file.local)
            # Nothing can be done with the end of a compressed file alone.
            is_useless = offset > 0 and (not self._head or is_packed(self._head))
            self._is_skipped = is_useless or (self._is_too_big and not offset)
        else:
            self._is_agreed = self._head is None or self._head.startswith(self.file.head)

    def take(self, data: bytes) -> None:
        """The bytes that follow."""
        if self._offset < 0:
            if self._head is not None:
                self._head += data
                if len(self._head) > HEAD_BYTES:
                    raise unreadable("it is longer than what was asked for")
            return
        if self._unpacker is not None:
            data = self._unpacker.take(data)
        self._left -= len(data)
        if self._left < 0:
            raise unreadable("it is longer than what was asked for")
        if self._is_skipped or not self._is_agreed or not data:
            return
        try:
            if self._how == b"fresh" and not self.is_news:
                self._begin(data)
            else:
                self._go_on(data)
        except OSError as error:
            self._is_skipped = True
            self.file.set_unstored(error, self._now)

    def finish(self, stamp: Stamp | None, clock_lead: float) -> None:
        """All was sent that was to be sent, and this is what the file was then."""
        file = self.file
        file.is_looked_at = True
        after = stamp if stamp is not None and stamp.key == self.stamp.key else None
        if self._how == b"old":
            if self.is_news:
                file.settle(self.stamp, clock_lead)
                if file.size < (stamp or self.stamp).size:
                    file.known = b""
            return
        file.far_size = (stamp or self.stamp).size
        if self._is_skipped:
            self._explain_skipped()
            return
        self.is_news |= file.set_following()
        if self._how == b"empty":
            self._finish_empty()
        elif self._how == b"fresh":
            file.is_doubtful = self.is_news and after is None
        elif after is not None:
            self._judge(after)
        is_all = after is not None and not file.is_ended and after.key == file.identity
        if after is not None and is_all and after.size == file.size:
            file.settle(after, clock_lead)
            file.known = after.text
            file.lost_at = None
        elif self._how != b"empty":
            file.settle(self.stamp, clock_lead)
            file.known = b""

    def _begin(self, data: bytes) -> None:
        file = self.file
        file.begin(self._offset, data)
        self.is_news = True
        self._position += len(data)
        # Until its end has come, its name may have changed hands.
        file.identity, file.is_doubtful, file.known = self.stamp.key, True, b""
        if self._head is not None:
            file.head = self._head
        if self._is_too_big:
            file.note = _END_ONLY
        self._end_before = file.size

    def _go_on(self, data: bytes) -> None:
        file = self.file
        repeated = min(len(data), max(0, self._end_before - self._position))
        if repeated and file.copy.read(self._position, repeated) != data[:repeated]:
            self._is_agreed = False
            return
        self._position += len(data)
        if repeated < len(data):
            self.is_news = True
            file.append(data[repeated:])

    def _judge(self, after: Stamp) -> None:
        """Is the file still the one that we have?"""
        file = self.file
        if self._is_agreed and self._position >= self._end_before:
            file.identity, file.is_doubtful = after.key, False
        elif self._is_agreed and self._position == self._offset:
            return  # it could not be read just now
        elif file.is_doubtful and self._how == b"copy":
            file.is_doubtful = False
            self.is_news = True
        else:
            file.is_ended = True
            self.is_news = True

    def _finish_empty(self) -> None:
        file = self.file
        file.known = self.stamp.text
        if file.generation < 0:
            try:
                file.begin_empty()
            except OSError as error:
                file.set_unstored(error, self._now)
        elif self.stamp.key == file.identity:
            file.is_ended = True
        elif file.lost_at is None:
            # Its successor has nothing to say yet; the file itself may be written on.
            file.lost_at = self._now

    def _explain_skipped(self) -> None:
        file = self.file
        if file.rests_until > self._now:
            return  # it could not be stored
        file.known = b""
        self.is_news = True
        if self._head is not None:
            file.head = self._head
        elif file.tail_first or self.stamp.size <= BIG_BYTES or is_packed(file.head):
            file.set_unstored(OSError(28, ""), self._now)
        else:
            file.tail_first = True
