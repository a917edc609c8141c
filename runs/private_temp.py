"""Folders in the temporary directory that no other user can prepare, replace or look into."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

_NOBODY = 65534
"""Whom the system's own directories belong to, as seen from some containers."""


def private_temp_folder(name: str, parent: Path | None = None) -> Path:
    """The folder of this name in the temporary directory if it is ours alone, or else a fresh one.

    A name that stays the same lets a later start find what an earlier one left; anybody may have
    made something by that name before.
    """
    above = parent or Path(tempfile.gettempdir())
    folder = above / name
    try:
        is_private = not why_not_private(folder)
    except OSError:
        is_private = False
    return folder if is_private else Path(tempfile.mkdtemp(prefix=f"{name}-", dir=above))


def why_not_private(folder: Path, *, is_parent_private: bool = False) -> str:
    """Make a folder if need be; why it is not ours alone, in words, or nothing if it is.

    `is_parent_private` asks the folder above to be ours alone as well.
    """
    reason = _openness(folder.parent, must_be_private=is_parent_private)
    if not reason:
        _make(folder)
        reason = _strangeness(folder)
    return reason


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return
    folder.chmod(0o700)  # the umask and inherited rights have had their say


def _openness(parent: Path, *, must_be_private: bool) -> str:
    """Why somebody else could put a directory of their own in the place of ours."""
    status = parent.stat()
    is_ours = status.st_uid == os.geteuid()
    if must_be_private and not is_ours:
        return f"{parent} is not yours"
    if must_be_private and status.st_mode & 0o077:
        return f"others may look into {parent}"
    if not (is_ours or status.st_uid in (0, _NOBODY)):
        return f"{parent} belongs to another user"
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        return f"others may replace what is in {parent}"
    return ""


def _strangeness(folder: Path) -> str:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return f"{folder} is not a directory; remove it"
    if status.st_uid != os.geteuid():
        return f"{folder} belongs to another user"
    if status.st_mode & 0o077:
        return f"others may look into {folder}; `chmod 700` it"
    return ""
