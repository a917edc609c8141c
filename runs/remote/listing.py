"""What a listing script printed, read back: folders with their entries, and what was left out."""

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..discovery.tree import SKIPPED_FOLDERS, Limits
from ..open_artifact import leads_out
from .far_numbers import LATEST_TIME, whole_number
from .marks import Mark
from .problems import LinkLost, unreadable
from .stat_lines import Entry, read_line

MOST_BYTES = 64 << 20
"""More than any listing within the limits takes."""
_KINDS = (b"folder", b"file", b"link", b"pattern", b"nothing")


class FarSide(Protocol):
    """Another machine that runs scripts of ours."""

    @property
    def home(self) -> bytes:
        """The home over there, from the root."""

    def ask(self, script: bytes, *, most: int = MOST_BYTES) -> Sequence[bytes | Mark]:
        """Run a script over there and give all that it printed, so many bytes at most."""


@dataclass(slots=True)
class Listed:
    """A folder over there; `path` has no slash at its end, so the root's is empty."""

    path: bytes
    entries: dict[bytes, Entry] = field(default_factory=dict)
    is_whole: bool = True
    """False if only some names were asked for."""
    is_checkpoint: bool = False
    is_picked: bool = False
    """True if it was listed for the sake of some files in it."""


@dataclass(slots=True)
class Nearest:
    """The folder nearest to something that is missing."""

    path: bytes
    next_is_there: bool
    """The next part of the path exists, but is no folder."""
    may_list: bool
    may_enter: bool
    names: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class Listing:
    """All that one question brought."""

    now: float
    """The time over there when it was asked."""
    folders: dict[bytes, Listed] = field(default_factory=dict)
    stamps: dict[bytes, Entry] = field(default_factory=dict)
    """The folders at which walks began, and whatever else was asked for by its path."""
    walked: list[bytes] = field(default_factory=list)
    data_sets: dict[bytes, int] = field(default_factory=dict)
    closed: dict[bytes, str] = field(default_factory=dict)
    """Folders that cannot be looked into, and why."""
    outside: dict[bytes, bytes] = field(default_factory=dict)
    """Links that are not followed, and where they lead; empty if that is unknown."""
    too_deep: list[bytes] = field(default_factory=list)
    too_many: list[bytes] = field(default_factory=list)
    unreadable: list[bytes] = field(default_factory=list)
    kind: str = ""
    """What the path is: `folder`, `file`, `link` (that leads nowhere), `pattern`, `nothing`."""
    nearest: Nearest | None = None

    def notes(self, place: str, limits: Limits) -> list[str]:
        """What was left out, in the words that are used for local directories."""

        def shown(path: bytes) -> str:
            return place + os.fsdecode(path or b"/")

        return [
            *(f"cannot look into {shown(path)}: {why}" for path, why in self.closed.items()),
            *(
                f"{shown(path)} holds {count:,} files that are no logs; it was not looked into"
                for path, count in self.data_sets.items()
            ),
            *(
                f"{shown(path)} {leads_out(os.fsdecode(target))}"
                for path, target in self.outside.items()
            ),
            *(
                f"folders deeper than {limits.depth} levels in {shown(path)} were not looked at"
                for path in self.too_deep
            ),
            *(
                f"stopped looking after {limits.entries:,} directory entries in {shown(path)}; "
                "name a directory further down"
                for path in self.too_many
            ),
        ]


def unpacked(answer: Sequence[bytes | Mark], most: int = MOST_BYTES) -> bytes:
    """The bytes of an answer that may have come through gzip."""
    marks = [item for item in answer if isinstance(item, Mark)]
    data = b"".join(item for item in answer if isinstance(item, bytes))
    if Mark((b"packed",)) not in marks:
        return data[:most]
    try:
        return zlib.decompressobj(31).decompress(data, most)
    except zlib.error:
        raise _unexpected() from None


def read_listing(answer: Sequence[bytes | Mark]) -> Listing:
    """The listing in an answer."""
    reader = _Reader(unpacked(answer).split(b"\0"))
    try:
        reader.read()
    except (ValueError, IndexError, StopIteration):
        raise _unexpected() from None
    return reader.listing


def _unexpected() -> LinkLost:
    return unreadable("it is no list of files")


def _count(text: bytes) -> int:
    count = whole_number(text)
    if count is None:
        raise ValueError("not a count")
    return count


class _Reader:
    """Goes through the tokens; which there are, the scripts' module says."""

    def __init__(self, tokens: list[bytes]) -> None:
        if tokens.pop():
            raise _unexpected()
        self._tokens = iter(tokens)
        self.listing = Listing(time.time())
        self._present = Listed(b"")
        self._names: list[bytes] = []
        self._are_ends = False

    def read(self) -> None:
        for tag in self._tokens:
            self._read_one(tag, self._tokens)
        for top in self.listing.walked:
            self._drop_links(top)

    def _read_one(self, tag: bytes, rest: Iterator[bytes]) -> None:
        listing = self.listing
        match tag:
            case b"Q":
                now = whole_number(next(rest), LATEST_TIME)
                listing.now = listing.now if now is None else float(now)
            case b"W":
                self._present = Listed(next(rest))
                listing.walked.append(self._present.path)
            case b"F" | b"C" | b"G" | b"P":
                path = next(rest)
                found = Listed(path, {}, tag != b"P", tag == b"C", tag in (b"G", b"P"))
                self._present = listing.folders.setdefault(path, found)
            case b"N" | b"L":
                count = _count(next(rest))
                self._names = [next(rest) for _ in range(count)]
                self._are_ends = tag == b"L"
                if listing.nearest is not None:
                    listing.nearest.names = [name.removeprefix(b"./") for name in self._names]
            case b"S":
                lines, status = next(rest), next(rest)
                if status == b"0":
                    self._take(lines)
            case b"R":
                self._take(next(rest))
            case b"B":
                count = _count(next(rest))
                listing.data_sets[next(rest)] = count
            case b"E":
                path, target = next(rest), next(rest)
                if os.fsdecode(path.rpartition(b"/")[2]) not in SKIPPED_FOLDERS:
                    listing.outside[path] = target
            case b"X":
                path = next(rest)
                listing.closed[path] = next(rest).decode()
            case b"M":
                path, is_there, may = next(rest), next(rest), next(rest)
                listing.nearest = Nearest(path, bool(is_there), b"r" in may, b"x" in may)
            case b"K":
                kind = next(rest)
                if kind not in _KINDS:
                    raise ValueError("no such kind")
                listing.kind = kind.decode()
            case _:
                lists = {
                    b"D": listing.too_deep,
                    b"O": listing.too_many,
                    b"U": listing.unreadable,
                }
                if tag not in lists:
                    raise ValueError("no such token")
                lists[tag].append(next(rest))

    def _take(self, lines: bytes) -> None:
        """Lines of `stat` for the names that came before."""
        found = lines.split(b"\n")
        if len(found) != len(self._names) + 1:
            raise ValueError("not one line per name")
        for name, line in zip(self._names, found, strict=False):
            entry = read_line(line, self.listing.now)
            if entry is None:
                continue
            if name == b".":
                self.listing.stamps[self._present.path] = entry
            elif name.startswith(b"/"):
                self.listing.stamps[name] = entry
            else:
                self._add(name.removeprefix(b"./"), entry)

    def _add(self, name: bytes, entry: Entry) -> None:
        # No file is called so; a host that says so would have us write elsewhere.
        if b"/" in name or name in (b"", b".", b".."):
            raise ValueError("not a name")
        if self._are_ends:
            is_link = not self._present.is_picked
            self._present.entries[name] = replace(entry, is_link=is_link)
        elif not stat.S_ISLNK(entry.mode):
            self._present.entries[name] = entry

    def _drop_links(self, top: bytes) -> None:
        """Leave out links to files: they are found at their own place, or lead out of the tree."""
        inside = [
            folder
            for folder in self.listing.folders.values()
            if (folder.path == top or folder.path.startswith(top + b"/"))
        ]
        own = {
            entry.identity
            for folder in inside
            for entry in folder.entries.values()
            if entry.is_file and not entry.is_link
        }
        for folder in inside:
            for name, entry in list(folder.entries.items()):
                if entry.is_link and entry.is_file:
                    del folder.entries[name]
                    if entry.identity not in own:
                        self.listing.outside[folder.path + b"/" + name] = b""
