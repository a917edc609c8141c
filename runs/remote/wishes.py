"""Which of the files over there discovery has to see here, and how much of each.

Discovery goes by names, by the first bytes of some files, and by the sizes of checkpoints. So a
few bytes of each log, whole settings, and empty files of the right size stand for a tree.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from dataclasses import dataclass

from ..discovery.locate import COMPANIONS
from ..discovery.purposes import HEAD_BYTES, Inspector, is_config_name
from ..discovery.run_files import Purpose
from ..discovery.stems import counterparts, is_timestamp, stem_of
from .listing import Listed, Listing
from .stat_lines import Entry

MOST_HEAD = 1 << 14
"""Enough of a beginning to tell what a file is."""
MOST_CONFIG = 1 << 20
"""No settings that people write are longer."""
_PARAM_BYTES = 1 << 13
_STATE = b"trainer_state.json"
_NAMES_THAT_TELL = (b"last_checkpoint", b"meta.yaml")


@dataclass(frozen=True, slots=True)
class Wish:
    """A file that is to stand here for one over there."""

    path: bytes
    entry: Entry
    size: int = 0
    """So many of its first bytes are wanted; none if its name is enough."""
    is_config: bool = False
    """It is wanted whole, sooner or later."""
    is_sparse: bool = False
    """Its size matters, its bytes do not."""

    @property
    def is_too_large(self) -> bool:
        """True for settings that nobody has written by hand."""
        return self.is_config and self.entry.size > MOST_CONFIG


class _Curious(Inspector):
    """Opens nothing, but tells how much of a file would be read to see what it is for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def head(self, path: str, size: int = HEAD_BYTES) -> bytes | None:
        self.asked = size
        return None

    def look(self, path: str) -> tuple[Purpose | None, int]:
        self.asked = 0
        return self.purpose(path), min(self.asked, MOST_HEAD)


def wishes(listing: Listing, path: bytes) -> Iterator[Wish]:
    """The files that have to be here for the runs at a path, or of a pattern, to be found."""
    curious = _Curious()
    for folder in listing.folders.values():
        if folder.is_picked:
            yield from _of_picked(folder, path.rpartition(b"/")[2], listing.kind, curious)
        elif folder.is_checkpoint:
            yield from _of_checkpoint(folder)
        elif _is_store(folder, listing):
            for place, entry in _files(folder):
                yield Wish(place, entry, min(entry.size, _PARAM_BYTES), is_config=True)
        else:
            yield from _of_folder(folder, curious)


def _of_picked(folder: Listed, name: bytes, kind: str, curious: _Curious) -> Iterator[Wish]:
    """Files that were named themselves, and what lies beside them."""
    names = {os.fsdecode(other): other for other in folder.entries}
    matches = fnmatch.filter(names, os.fsdecode(name))
    named = {name} if kind == "file" else {names[match] for match in matches}
    beside = {other for one in named for other in names_beside(one)}
    for path, entry in _files(folder):
        other = path.rpartition(b"/")[2]
        if other in named:
            yield Wish(path, entry, min(entry.size, MOST_HEAD))
        elif other in beside:
            _, asked = curious.look(os.fsdecode(path))
            is_config = is_config_name(os.fsdecode(other))
            yield Wish(path, entry, min(entry.size, MOST_CONFIG if is_config else asked), is_config)


def names_beside(name: bytes) -> list[bytes]:
    """Names of files that belong to a file of that name, if they are there."""
    own = os.fsdecode(name)
    return [os.fsencode(other) for other in (*counterparts(own), *COMPANIONS) if other != own]


def _files(folder: Listed) -> Iterator[tuple[bytes, Entry]]:
    for name, entry in folder.entries.items():
        if entry.is_file:
            yield folder.path + b"/" + name, entry


def _of_checkpoint(folder: Listed) -> Iterator[Wish]:
    for path, entry in _files(folder):
        if path.endswith(b"/" + _STATE):
            yield Wish(path, entry, min(entry.size, MOST_HEAD))
        else:
            yield Wish(path, entry, is_sparse=True)


def _is_store(folder: Listed, listing: Listing) -> bool:
    """True for the folders in which MLflow keeps a small file per setting."""
    parent, _, name = folder.path.rpartition(b"/")
    above = listing.folders.get(parent)
    return name in (b"params", b"tags") and above is not None and b"metrics" in above.entries


def _of_folder(folder: Listed, curious: _Curious) -> Iterator[Wish]:
    has_stamps = any(is_timestamp(stem_of(os.fsdecode(name))) for name in folder.entries)
    has_other = False
    for path, entry in _files(folder):
        name = path.rpartition(b"/")[2]
        purpose, asked = curious.look(os.fsdecode(path))
        if purpose is Purpose.CHECKPOINT:
            yield Wish(path, entry, is_sparse=True)
        elif is_config_name(os.fsdecode(name)):
            yield Wish(path, entry, min(entry.size, MOST_CONFIG), is_config=True)
        elif asked:
            yield Wish(path, entry, min(entry.size, asked))
        elif name in _NAMES_THAT_TELL or (has_stamps and name.endswith(b".py")):
            yield Wish(path, entry, is_config=name.endswith(b".py"))
        elif not has_other and not name.startswith(b"."):
            # That there is something else as well matters; how much of it does not.
            has_other = True
            yield Wish(path, entry, is_sparse=True)
