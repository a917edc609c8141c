"""Files here that stand for files over there until these are followed or copied.

Each holds the first bytes of its file (or none) and has its time, so that discovery sees here
what it would see there. All of them are below the folder of their host in the mirror.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .stat_lines import Entry
from .wishes import Wish

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_IMPOSSIBLE_HERE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.ENOTDIR, errno.EISDIR)
"""A name that this file system cannot have, or not beside those that it has."""
_TAKEN = "another file has that name on this machine"


@dataclass(slots=True)
class _Kept:
    entry: Entry
    asked: int
    """So many first bytes were asked for; there may have been fewer."""


class Placeholders:
    """All that stands here for files of one host."""

    def __init__(self, root: Path, folder: str) -> None:
        self._root = os.path.realpath(os.fsencode(root))
        self._top = self._root + b"/" + os.fsencode(folder)
        self._files: dict[bytes, _Kept] = {}
        self._folders: dict[bytes, set[bytes]] = {}
        """Folders that are here, and what of ours is in them."""
        self._owners: dict[tuple[int, int], bytes] = {}
        self.left_out: dict[bytes, str] = {}
        """What cannot be here, and why."""

    def place(self, path: bytes) -> str:
        """Where the file of that path over there is here."""
        parts = path.split(b"/")
        if b".." in parts or b"\0" in path or (path and parts[0]):
            raise InputError(f"{os.fsdecode(path)!r} is not a path from the root")
        return os.fsdecode(self._top + path.rstrip(b"/"))

    def make_folder(self, path: bytes, followed: Collection[str] = ()) -> bool:
        """Have a folder here; false if that cannot be."""
        if path in self._folders:
            return True
        place = self.place(path)
        if path in self._files:
            self.remove(path, followed)
        try:
            os.makedirs(place, mode=0o700, exist_ok=True)
            if os.path.realpath(place) != os.path.normpath(place):
                raise InputError(f"{place} leads out of the folder for copies")
            self._claim(path, os.stat(place))
        except OSError as problem:
            self._leave_out(path, problem)
            return False
        self._folders[path] = set()
        self._enter(path)
        return True

    def needs(self, wish: Wish) -> bool:
        """True if bytes of the file have to be asked for."""
        kept = self._files.get(wish.path)
        if kept is None or kept.asked < wish.size:
            return wish.size > 0
        return wish.size > 0 and not _goes_on(kept, wish)

    def missing_part(self, path: bytes) -> Entry | None:
        """The file, if it has a place here and there is more of it to copy."""
        kept = self._files.get(path)
        return None if kept is None or kept.asked >= kept.entry.size else kept.entry

    def size(self, path: bytes) -> int:
        """Length of a file over there when it was listed; 0 if it was not."""
        kept = self._files.get(path)
        return 0 if kept is None else kept.entry.size

    def put(self, wish: Wish, content: bytes | None, *, skew: float = 0.0) -> None:
        """Have a file here; without content, what is here of it stays.

        `skew` is by how many seconds the clock over there is ahead of ours.
        """
        kept = self._files.get(wish.path)
        if kept is not None and content is None and kept.entry == wish.entry:
            return
        if wish.path in self._folders:
            self.remove(wish.path)
        place = self.place(wish.path)
        try:
            descriptor = os.open(place, _FLAGS, 0o600)
            try:
                self._claim(wish.path, os.fstat(descriptor))
                if wish.is_sparse:
                    _stretch(descriptor, wish.entry.size)
                elif content is not None or kept is None or not _goes_on(kept, wish):
                    os.truncate(descriptor, 0)
                    os.write(descriptor, content or b"")
            finally:
                os.close(descriptor)
            moment = wish.entry.modified - skew
            os.utime(place, (moment, moment))
        except OSError as problem:
            self._leave_out(wish.path, problem)
            return
        asked = kept.asked if kept is not None and _goes_on(kept, wish) else 0
        self._files[wish.path] = _Kept(wish.entry, asked if content is None else wish.size)
        self._enter(wish.path)

    def keep_only(
        self, folder: bytes, names: Iterable[bytes], followed: Collection[str] = ()
    ) -> None:
        """Remove what stands for files and folders that are not over there any more."""
        for name in self._folders.get(folder, set()) - set(names):
            self.remove(folder + b"/" + name, followed)

    def remove(self, path: bytes, followed: Collection[str] = ()) -> None:
        """Remove what stands for a file or a folder, but nothing that is being followed."""
        for name in list(self._folders.get(path, ())):
            self.remove(path + b"/" + name, followed)
        place = self.place(path)
        if place in followed:
            return
        try:
            if path in self._files:
                os.unlink(place)
            elif path in self._folders:
                os.rmdir(place)
        except OSError:
            pass  # gone already, or something in it is followed
        self._files.pop(path, None)
        self._folders.pop(path, None)
        above, _, name = path.rpartition(b"/")
        self._folders.get(above, set()).discard(name)

    def _enter(self, path: bytes) -> None:
        above, _, name = path.rpartition(b"/")
        if path and above in self._folders:
            self._folders[above].add(name)

    def _claim(self, path: bytes, status: os.stat_result) -> None:
        """Refuse a name that is another's, where small letters and capitals are the same."""
        owner = self._owners.get((status.st_dev, status.st_ino), path)
        if owner != path and (owner in self._files or owner in self._folders):
            raise OSError(errno.EILSEQ, _TAKEN)
        self._owners[status.st_dev, status.st_ino] = path

    def _leave_out(self, path: bytes, problem: OSError) -> None:
        reason = problem.strerror or str(problem)
        if problem.errno not in _IMPOSSIBLE_HERE:
            raise InputError(
                f"remote files cannot be copied into {os.fsdecode(self._root)}: {reason}",
                hint="`export XDG_CACHE_HOME=DIRECTORY` to one that can be written",
            ) from None
        self.left_out[path] = reason


def _goes_on(kept: _Kept, wish: Wish) -> bool:
    """True if what we have of a file is still its beginning."""
    if (kept.entry.size, kept.entry.modified) == (wish.entry.size, wish.entry.modified):
        return True
    is_same = kept.entry.identity == wish.entry.identity
    # What is only appended to keeps its beginning; settings are written anew.
    return is_same and wish.entry.size >= kept.entry.size >= kept.asked and not wish.is_config


def _stretch(descriptor: int, size: int) -> None:
    """Give a file a size without bytes."""
    try:
        os.truncate(descriptor, size)
    except OSError:  # files may not be that large here
        os.truncate(descriptor, 0)
