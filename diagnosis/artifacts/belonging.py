"""Whether a path lies where the session's files lie, whatever links are on the way."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from mltd.runs.sources.looks import kind_of, shown

from .errors import ArtifactError

_NO_FILES = ("/proc", "/sys")
"""What the kernel makes up looks like regular files, and tells of other processes."""


def is_within(path: str, folder: str) -> bool:
    """True for a folder itself and what is below it, by their names alone."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def real_folders(folders: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Where some folders really are; those that do not exist are left out."""
    found: dict[str, None] = {}
    for folder in folders:
        try:
            real = os.path.realpath(folder, strict=True)
        except (OSError, ValueError):
            continue
        if os.path.isdir(real):
            found[real] = None
    return tuple(found)


def real_place(path: str, allowed: Iterable[str], *, may_be_folder: bool = False) -> str:
    """Where a path leads, if that is a regular file in one of the allowed real folders."""
    name = shown(path)
    try:
        real = os.path.realpath(path, strict=True)
        mode = os.stat(real).st_mode
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{name} {_reason(error)}") from None
    if any(is_within(real, folder) for folder in _NO_FILES):
        raise ArtifactError(f"{name} is made up by the kernel and no file of a run")
    if not any(is_within(real, folder) for folder in allowed):
        raise ArtifactError(
            f"{name} is a link that leads out of the run's folder, so it is not read",
            hint="whoever wants it read adds the folder of its target as a source root",
        )
    if stat.S_ISDIR(mode) and may_be_folder:
        return real
    if kind := kind_of(mode):
        raise ArtifactError(f"{name} is {kind}, not a file that can be read")
    return real


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):
        return "is not a possible file name"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "is not there any more"
    if error.errno == errno.ELOOP:
        return "is a symbolic link that leads back to itself"
    return f"cannot be read: {os.strerror(error.errno or 0)}"
