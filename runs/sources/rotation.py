"""Finding a log under the name that a rotation gave it, by its inode or by its content."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..open_artifact import Roots, folder_of
from .fingerprint import HEAD_BYTES, Fingerprint
from .open_file import OpenFile

MOST_NUMBERS = 9
"""Rotations between two looks that are followed up; the names are `train.log.1` and so on."""
_MOST_ENTRIES = 4096
"""Entries of a directory that are looked through for other names, such as `train.log-20260131`."""
_MOST_OPENED = 16
_SLACK_NS = 2_000_000_000
"""sshfs tells times in seconds, and may tell that of a successor while a log is rotated."""


Ended = Collection[Fingerprint]
"""Fingerprints of the latest generations that are over."""


class Rotated(NamedTuple):
    """A rotated log, opened, and its number if its name ends in one."""

    file: OpenFile
    number: int = 0


class RotatedLogs:
    """The files beside a log that a rotation may have made of it; all lie in its root."""

    def __init__(self, path: Path, root: Roots) -> None:
        self._path = path
        self._root = root or folder_of(path)
        """A log that the user named may be a link; what is found beside it may not lead out."""

    def find(self, print_: Fingerprint, ended: Ended) -> Rotated | None:
        """Find the log with this fingerprint under another name.

        A file that was modified last before the fingerprint was taken is another one, and so is
        one with the fingerprint of a generation that has `ended`.
        """
        for number in range(1, MOST_NUMBERS + 1):
            if found := self._open_if_fits(self._numbered(number), print_, ended):
                return Rotated(found, number)
        for name in islice(self._other_names(print_), _MOST_OPENED):
            if found := self._open_if_fits(name, print_, ended):
                return Rotated(found)
        return None

    def number_of(self, file: OpenFile) -> int:
        """The number at the end of the name that this very file has now; 0 if it has none."""
        for number in range(1, MOST_NUMBERS + 1):
            if _is_named(self._numbered(number), file):
                return number
        return 0

    def has_number(self, file: OpenFile, number: int, print_: Fingerprint) -> bool:
        """True if the file with this fingerprint still has the number."""
        if not file.is_by_name:
            return _is_named(self._numbered(number), file)
        found = self._open_if_fits(self._numbered(number), print_, ())
        if found is not None:
            found.close()
        return found is not None

    def next_after(self, number: int, print_: Fingerprint, ended: Ended) -> OpenFile | None:
        """The log that was rotated after the one with this number and fingerprint, if any was."""
        for later in range(number - 1, 0, -1):
            if found := self._open_if_unseen(self._numbered(later), print_, ended):
                return found
        return None

    def find_unseen(self, print_: Fingerprint, ended: Ended) -> Fingerprint | None:
        """The beginning of the latest rotated log, if it is younger and was not read."""
        found = self._open_if_unseen(self._numbered(1), print_, ended)
        if found is None:
            return None
        beginning = Fingerprint()
        with contextlib.suppress(OSError):
            beginning.extend(os.pread(found.descriptor, HEAD_BYTES, 0))
        found.close()
        return beginning

    def _numbered(self, number: int) -> str:
        """The name that the log has after so many rotations."""
        return f"{self._path}.{number}"

    def _other_names(self, print_: Fingerprint) -> Iterator[str]:
        numbers = {Path(self._numbered(number)).name for number in range(1, MOST_NUMBERS + 1)}
        with contextlib.suppress(OSError), os.scandir(self._path.parent) as entries:
            for entry in islice(entries, _MOST_ENTRIES):
                if entry.name == self._path.name or entry.name in numbers:
                    continue
                if entry.name.startswith(self._path.stem) and entry.is_file():
                    status = entry.stat()
                    is_long_enough = status.st_size >= print_.offset
                    if is_long_enough and _is_recent(status, print_, is_by_name=True):
                        yield entry.path

    def _open_if_unseen(self, name: str, print_: Fingerprint, ended: Ended) -> OpenFile | None:
        """Open a file with content that is younger than the fingerprint and no ended generation.

        Numbers may also count upwards: then the lower one is the older one.
        """
        try:
            file = OpenFile.at(name, self._root)
        except OSError:
            return None
        with contextlib.suppress(OSError):
            is_seen = file.is_empty or any(_fits(file, other) for other in (print_, *ended))
            if not is_seen and _is_recent(file.status, print_, is_by_name=file.is_by_name):
                return file
        file.close()
        return None

    def _open_if_fits(self, name: str, print_: Fingerprint, ended: Ended) -> OpenFile | None:
        try:
            file = OpenFile.at(name, self._root)
        except OSError:
            return None
        with contextlib.suppress(OSError):
            if (
                _is_recent(file.status, print_, is_by_name=file.is_by_name)
                and _fits(file, print_)
                and not any(_fits(file, other) for other in ended if other.offset > print_.offset)
            ):
                return file
        file.close()
        return None


def _is_named(name: str, file: OpenFile) -> bool:
    try:
        status = os.stat(name)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == file.key


def _is_recent(status: os.stat_result, print_: Fingerprint, *, is_by_name: bool) -> bool:
    slack_ns = _SLACK_NS if is_by_name else 0
    return status.st_mtime_ns >= print_.modified_ns - slack_ns


def _fits(file: OpenFile, print_: Fingerprint) -> bool:
    return print_.is_copied_in(file.descriptor, file.status)
