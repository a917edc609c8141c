"""Copies files of any length from another machine, piece by piece, and sees that all is there."""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..checkpoints.safetensors import MOST_HEADER
from ..errors import InputError
from ..sources.looks import shown
from .direct_link import MOST_TRIES, DirectLink
from .far_checkpoint import FarFile
from .far_side import far_name, sent
from .local_copy import explain
from .marks import Mark
from .problems import LinkError, LinkLost
from .quoting import sh_quote
from .stamp import Stamp

BLOCK = 1 << 20
"""What `dd` reads at a time; a copy that was cut goes on at a multiple of it."""
HEAD = 1 << 16
"""Enough for the headers of most files, so that one question brings them."""
SPARE = 64 << 20
"""Bytes of a disk that are left to others."""
Tell = Callable[[int], None]
"""Called with the bytes that have come since the last call; less than none after a cut."""

_REASONS = {
    b"none": "there is no such file over there any more",
    b"denied": "it may not be read by you over there",
    b"kind": "it is not a regular file over there",
}
_SCRIPT = rb"""
f=%s
if [ -f "$f" ]; then
    if { true <"$f"; } 2>/dev/null; then
        say part $(stamps "$f")
        %s <"$f" 2>/dev/null
        say end $(stamps "$f")
    else
        say refused denied
    fi
elif [ -e "$f" ]; then
    say refused kind
else
    say refused none
fi
"""


def check_room(folder: Path, size: int, said: str) -> None:
    """Refuse what does not fit on the disk here; one that does not tell counts as endless."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return
    free = status.f_bavail * status.f_frsize
    if status.f_blocks and free < size + SPARE:
        raise InputError(
            f"there is no room for {said} in {folder.parent}: {free / 1e6:,.0f} MB are free",
            hint="`export XDG_CACHE_HOME=DIRECTORY` to one with more room",
        )


def fetch_file(link: DirectLink, file: FarFile, local: Path, tell: Tell = lambda _: None) -> None:
    """Have a whole copy of a file; over a cut it goes on where it was.

    `InputError` if it is not the file that was listed, or changes on its way.
    """
    name = _name(file)
    try:
        with _made(local) as copy:
            _Download(link, file, copy, tell).run()
    except OSError as error:
        raise InputError(f"{name} is not copied: {explain(error)}") from None
    _set_time(local, file)


def fetch_header(link: DirectLink, file: FarFile, local: Path) -> int:
    """Have a copy of a safetensors file that holds its header alone; gives the bytes that came."""
    head = _range(link, file, 0, 1)
    (length,) = struct.unpack("<Q", head[:8].ljust(8, b"\0"))
    end = min(8 + length, file.size)
    if len(head) < end and length <= MOST_HEADER:
        head += _range(link, file, 1, -(-end // HEAD) - 1)
        if len(head) < end:
            raise InputError(f"{_name(file)}: its header could not be read over there")
    try:
        with _made(local) as copy:
            copy.write(head)
            copy.truncate(file.size)
    except OSError as error:
        raise InputError(f"{_name(file)} is not copied: {explain(error)}") from None
    _set_time(local, file)
    return len(head)


def place_empty(file: FarFile, local: Path) -> None:
    """Stand in for a file of which only name and size are looked at."""
    with contextlib.suppress(OSError):
        with _made(local) as copy:
            copy.truncate(file.size)
        _set_time(local, file)


class _Download:
    """One file on its way, over as many connections as it takes."""

    def __init__(self, link: DirectLink, file: FarFile, copy: BinaryIO, tell: Tell) -> None:
        self._link = link
        self._file = file
        self._copy = copy
        self._tell = tell
        self._stamp: Stamp | None = None
        self._cuts = 0
        """Since the last byte came."""

    def run(self) -> None:
        while True:
            before = self._copy.tell()
            try:
                return self._stream()
            except LinkLost as cut:
                has_moved = self._copy.tell() > before
                self._cuts = 1 if has_moved else self._cuts + 1
                if self._cuts > MOST_TRIES:
                    raise self._given_up(cut, "and it is cut again and again") from None
                self._go_on(cut)

    def _go_on(self, cut: LinkLost) -> None:
        try:
            self._link.reopen()
        except LinkError as problem:
            raise self._given_up(cut, f"and there is no new one: {problem.message}") from None

    def _given_up(self, cut: LinkLost, why: str) -> LinkError:
        done, size = self._copy.tell(), self._file.size
        return LinkError(
            f"the connection to {self._link.host.label} was cut after {done:,} of {size:,} bytes "
            f"of {_name(self._file)} ({cut.message}), {why}",
            hint="what had come is removed; try again when the host answers",
            kind=cut.kind,
        )

    def _stream(self) -> None:
        done = self._copy.tell()
        start = done // BLOCK * BLOCK
        self._copy.seek(start)
        self._tell(start - done)
        # Without a count, because a short read of `dd` would count as a whole one.
        command = b"dd bs=%d skip=%d" % (BLOCK, start // BLOCK)
        last: Stamp | None = None
        most = sent(self._file.size - start + BLOCK)
        for item in self._link.stream(_script(self._file, command), most=most):
            if not isinstance(item, Mark):
                if self._copy.tell() + len(item) > self._file.size:
                    raise _changed(self._file, "it grows")
                self._copy.write(item)
                self._tell(len(item))
            elif item.words[0] == b"part":
                self._begin(Stamp.of(item.words[1:]))
            elif item.words[0] == b"end":
                last = Stamp.of(item.words[1:])
            else:
                raise _refused(self._file, item)
        self._check(last)

    def _begin(self, stamp: Stamp | None) -> None:
        if stamp is None or stamp.size != self._file.size:
            now = "it is gone" if stamp is None else f"{stamp.size:,} bytes now"
            raise _changed(self._file, f"{self._file.size:,} bytes when it was listed, {now}")
        if self._stamp is not None and self._stamp.text != stamp.text:
            raise _changed(self._file, "it was written to during a cut")
        self._stamp = stamp

    def _check(self, last: Stamp | None) -> None:
        if last is None or self._stamp is None or last.text != self._stamp.text:
            raise _changed(self._file, "it was written to, or replaced")
        if self._copy.tell() != self._file.size:
            raise InputError(
                f"{_name(self._file)} came short: {self._copy.tell():,} of {self._file.size:,} "
                "bytes; it could not be read to its end over there",
                hint="see whether the file system over there is well: md5sum must read it",
            )


def _range(link: DirectLink, file: FarFile, start: int, count: int) -> bytes:
    """Some blocks of a file; those at its end may be short."""
    command = b"dd bs=%d skip=%d count=%d" % (HEAD, start, count)
    pieces: list[bytes] = []
    for item in link.stream(_script(file, command), most=sent(count * HEAD)):
        if not isinstance(item, Mark):
            pieces.append(item)
        elif item.words[0] in (b"part", b"end"):
            stamp = Stamp.of(item.words[1:])
            if stamp is None or stamp.size != file.size:
                raise _changed(file, "its length is another one by now")
        else:
            raise _refused(file, item)
    return b"".join(pieces)


def _script(file: FarFile, command: bytes) -> bytes:
    return _SCRIPT % (sh_quote(far_name(file.path)), command)


def _made(local: Path) -> BinaryIO:
    local.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(local, flags, 0o600), "wb")


def _set_time(local: Path, file: FarFile) -> None:
    with contextlib.suppress(OSError, OverflowError, ValueError):
        os.utime(local, (file.modified, file.modified))


def _changed(file: FarFile, why: str) -> InputError:
    return InputError(
        f"{_name(file)} changed while it was copied: {why}",
        hint="wait until the job has saved it, then try again",
    )


def _refused(file: FarFile, mark: Mark) -> InputError:
    reason = _REASONS.get(b"".join(mark.words[1:]), "the host does not say why")
    return InputError(f"{_name(file)} is not copied: {reason}")


def _name(file: FarFile) -> str:
    return shown(os.fsdecode(file.path))
