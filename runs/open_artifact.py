"""Opens the files of a run: the only way to read one, so that no link leads out of its folder.

A file that the user names may be a link to anywhere: the user typed it. A file that was *found* (in
a folder, beside a log, by an index of shards) has a root, the folder that it was found in or below,
and is read only if what is open really lies in there. Another user who can write to a run's folder
could otherwise have a link there send somebody's private file into a report.

The path is never checked for this, only the open descriptor, so nothing is gained by swapping a
file, a link or a folder on the way between the check and the reading. A hard link cannot be told
from the file itself; most systems let users make hard links to files that they may write, alone
(`fs.protected_hardlinks`).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from .sources.looks import OPEN_FLAGS, kind_of, shown

ANYWHERE = ""
"""The root of a file that the user named."""
Path = str | os.PathLike[str]
Roots = str | Sequence[str]
"""In what a file must lie: a folder, which may be reached by links (`ANYWHERE` for a file that the
user named), or several real folders, which are compared as they are."""
OUTSIDE_HINT = "to have it read, name the file it leads to as well"
_DESCRIPTORS = "/proc/self/fd"
_KERNEL_FOLDERS = ("/proc", "/sys")
"""Their files look regular, and tell about other processes and the machine."""


class NotAFile(OSError):
    """What stands at the path has no bytes to read back: a directory, a pipe, a device."""

    def __init__(self, code: int, words: str, kind: str = "") -> None:
        super().__init__(code, f"it {words}")
        self.words = words
        """What goes behind the name of the file: `is a named pipe`."""
        self.kind = kind
        """What it is instead of a regular file: `a named pipe`."""


class OutsideRoot(NotAFile):
    """The path leads to a file that does not belong to the run."""

    def __init__(self, place: str) -> None:
        super().__init__(errno.EPERM, leads_out(place))
        self.place = place
        """Where it leads."""


def open_artifact(path: Path, root: Roots, flags: int = 0) -> int:
    """Open a regular file for reading, without waiting, and check where it really is.

    The caller closes the descriptor. `flags` are for `os.open`, beside the usual ones. Raises
    `OSError`, of which `OutsideRoot` and `NotAFile` have a readable `strerror`, and `ValueError`
    for a path with a NUL character.
    """
    # A device or a pipe is refused before it is touched: opening some of them has effects.
    _require_regular(os.stat(path))
    if not os.path.isdir(_DESCRIPTORS):
        return _open_step_by_step(path, root)
    descriptor = os.open(path, OPEN_FLAGS | flags)
    try:
        _require_regular(os.fstat(descriptor))
        _require_inside(_place_of(descriptor), _folder_places(root))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def artifact_descriptor(path: Path, root: Roots) -> Iterator[int]:
    """A descriptor of the file for the length of a `with` block."""
    descriptor = open_artifact(path, root)
    try:
        yield descriptor
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def open_artifact_file(path: Path, root: Roots) -> BinaryIO:
    """The file as a binary stream; the caller closes it."""
    return os.fdopen(open_artifact(path, root), "rb")


def reason_not_read(path: Path, root: Roots) -> str:
    """Why a file is not read although it is there, in words; empty if it can be opened."""
    try:
        os.close(open_artifact(path, root))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return describe_refusal(error)
    except ValueError:
        return "is not a possible file name"
    return ""


def describe_refusal(error: OSError) -> str:
    """What goes behind the name of a file that could not be opened."""
    if isinstance(error, NotAFile):
        return error.words
    if error.errno == errno.ELOOP:
        return "is a symbolic link that leads back to itself"
    return f"cannot be read: {os.strerror(error.errno or 0)}"


def place_of(descriptor: int, path: Path) -> str:
    """The real path of what is open; the real path of `path` where the system does not tell."""
    if os.path.isdir(_DESCRIPTORS):
        return _place_of(descriptor)
    return os.path.realpath(os.fspath(path))


def folder_of(path: Path) -> str:
    """The folder that holds a file: the root of what was found without a folder being named."""
    return os.path.dirname(os.fspath(path)) or os.curdir


def is_within(path: str, folder: str) -> bool:
    """True for a folder itself and what is below it, by their names alone."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def leads_out(target: str = "") -> str:
    """What goes behind the name of a link that is not followed."""
    where = f" (to {shown(target)})" if target else ""
    return f"leads out of the run's folder{where}, so it is not read"


def _require_regular(status: os.stat_result) -> None:
    if kind := kind_of(status.st_mode):
        raise NotAFile(errno.EINVAL, f"is {kind}", kind)


def _require_inside(place: str, folders: Sequence[str] | None) -> None:
    """Raise unless a real path lies in one of some real folders; anywhere if there are none."""
    if any(is_within(place, folder) for folder in _KERNEL_FOLDERS):
        raise NotAFile(errno.EPERM, "is made up by the kernel, so it is not read")
    if folders is not None and not any(is_within(place, folder) for folder in folders):
        raise OutsideRoot(place)


def _place_of(descriptor: int) -> str:
    """The path of what is open, without a link on the way."""
    # One that was deleted since ends in " (deleted)"; the folders before that are still right.
    return os.readlink(f"{_DESCRIPTORS}/{descriptor}")


def _folder_places(root: Roots) -> Sequence[str] | None:
    """Where the roots really are; None if the file may be anywhere."""
    if not isinstance(root, str):
        return root
    if root == ANYWHERE:
        return None
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return [_place_of(descriptor)]
    finally:
        os.close(descriptor)


def _open_step_by_step(path: Path, root: Roots) -> int:
    """Open where the system does not tell the path of a descriptor (no /proc).

    Links are resolved first. Then each folder from the root on is opened in the one before, and
    none of these steps follows a link, so a swap since then ends in an error.
    """
    place = os.path.realpath(os.fspath(path), strict=True)
    folders: Sequence[str] = [os.sep]
    if not isinstance(root, str):
        folders = root
    elif root != ANYWHERE:
        folders = [os.path.realpath(root, strict=True)]
    _require_inside(place, folders)
    start = next(folder for folder in folders if is_within(place, folder))
    descriptor = os.open(start, OPEN_FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW)
    parts = os.path.relpath(place, start).split(os.sep)
    try:
        for part in parts:
            inner = os.open(part, OPEN_FLAGS | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        _require_regular(os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
