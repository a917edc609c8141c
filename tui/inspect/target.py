"""What `inspect` was pointed at: a checkpoint, or a run's folder with the newest one in it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mltd.runs.errors import InputError

from .newest import MOST_ENTRIES, Entry, newest


@dataclass(frozen=True, slots=True)
class Target:
    """A path to read, and how it was come by."""

    path: str
    said: str = ""
    """How it was chosen, if it was not named itself."""
    folder: str = ""
    """The run's folder that it was found in."""
    notes: tuple[str, ...] = ()
    """What else the reader has to know about how it came here."""


def find_target(name: str) -> Target:
    """The checkpoint behind a name of this machine; `InputError` says why there is none."""
    path = os.path.expanduser(name)
    if not name.strip() or "\0" in name:
        raise InputError("an empty name stands for no checkpoint", hint="give a file or a folder")
    if name == "-":
        raise InputError("a checkpoint cannot come through a pipe", hint="give its file")
    if not os.path.isdir(path):
        if not os.path.lexists(path):
            raise InputError(f"there is no {name}", hint="check the name")
        return Target(path)
    chosen, said = newest(path, _entries)
    return Target(path) if chosen == path else Target(chosen, said, path)


def _entries(path: str) -> list[Entry]:
    try:
        with os.scandir(path) as found:
            return [_Local(entry) for _, entry in zip(range(MOST_ENTRIES), found, strict=False)]
    except OSError:
        return []


class _Local:
    """A file or folder of this machine, asked only for what somebody wants to know."""

    def __init__(self, entry: os.DirEntry[str]) -> None:
        self.name, self.path = entry.name, entry.path
        self._entry = entry

    @property
    def is_folder(self) -> bool:
        return self._entry.is_dir(follow_symlinks=False)

    @property
    def is_file(self) -> bool:
        return self._entry.is_file()

    @property
    def modified(self) -> float:
        return self._entry.stat().st_mtime
