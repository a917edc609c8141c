"""A checkpoint over there: which of its files have to come here, and how much that is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from ..checkpoints.needed import LATEST, has_latest, needed_files, shards_of
from ..discovery.tree import Limits
from ..errors import InputError
from .far_side import far_name, sent
from .listing import FarSide, Listing, read_listing
from .listing_script import path_script
from .problems import unreadable
from .quoting import sh_quote
from .refusals import refusal
from .stat_lines import Entry

LIMITS = Limits(depth=6, entries=20_000, folder=20_000)
"""A folder of shards is no data set, however many there are."""
MOST_UNASKED = 16 << 20
"""Bytes of settings and indexes that may come with headers."""
_HEADED = ".safetensors"
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class FarFile:
    """A file over there that belongs to the checkpoint."""

    path: bytes
    size: int
    modified: int
    is_headed: bool = False
    """Only its header is needed."""


@dataclass(frozen=True, slots=True)
class FarCheckpoint:
    """What is copied, what is only listed, and what is left out."""

    path: bytes
    """The file or folder that is the checkpoint, from the root over there."""
    copied: tuple[FarFile, ...]
    listed: tuple[FarFile, ...] = ()
    left_out: tuple[FarFile, ...] = ()
    """Would have to be copied whole, though only shapes are wanted."""

    @property
    def whole(self) -> tuple[FarFile, ...]:
        """What is copied from end to end."""
        return tuple(file for file in self.copied if not file.is_headed)

    @property
    def is_cheap(self) -> bool:
        """True if headers are all that comes, and settings that are as small."""
        is_headed = any(file.is_headed for file in self.copied)
        return is_headed and self.bytes <= MOST_UNASKED

    @property
    def bytes(self) -> int:
        """What has to come, but for headers."""
        return sum(file.size for file in self.whole)


def look(far: FarSide, path: bytes, place: str) -> Listing:
    """What is at a path over there; `InputError` if that is nothing to read."""
    listing = read_listing(far.ask(path_script(path, [], LIMITS)))
    problem = refusal(listing, path, place)
    if problem is not None:
        raise problem
    return listing


def checkpoint_at(
    far: FarSide, path: bytes, place: str, *, needs_values: bool, listing: Listing | None = None
) -> FarCheckpoint:
    """The checkpoint that a file or folder over there is."""
    listing = listing or look(far, path, place)
    if listing.kind != "folder":
        return _file(far, listing, path, place, needs_values)
    names = _names(listing, path)
    if has_latest(list(names)) and names[LATEST].is_file:
        inner = path + b"/" + os.fsencode(_latest(far, path))
        if inner in listing.folders:
            found = checkpoint_at(far, inner, place, needs_values=needs_values)
            return _with(found, path, [(path + b"/" + LATEST.encode(), names[LATEST])])
    return _folder(listing, path, needs_values)


def _file(
    far: FarSide, listing: Listing, path: bytes, place: str, needs_values: bool
) -> FarCheckpoint:
    folder, _, name = path.rpartition(b"/")
    beside_it = listing.folders.get(folder)
    entry = None if beside_it is None else beside_it.entries.get(name)
    if entry is None:
        raise unreadable("it is no list of files")
    if name.endswith(b".index.json"):
        beside = _names(look(far, folder, place), folder)
        shards = shards_of(os.fsdecode(name), list(beside))
        wanted = [(folder + b"/" + os.fsencode(shard), beside[shard]) for shard in shards]
        return _sorted_out(path, [(path, entry), *wanted], [], needs_values)
    return _sorted_out(path, [(path, entry)], [], needs_values)


def _folder(listing: Listing, path: bytes, needs_values: bool) -> FarCheckpoint:
    names = _names(listing, path)
    inner: dict[str, dict[str, Entry]] = {}
    for name, entry in names.items():
        below = path + b"/" + os.fsencode(name)
        if entry.is_folder and below in listing.folders:
            inner[name] = _names(listing, below)
    files = {name: entry for name, entry in names.items() if entry.is_file}
    for folder, held in inner.items():
        files |= {f"{folder}/{name}": entry for name, entry in held.items() if entry.is_file}
    needed = needed_files(list(names), {name: list(held) for name, held in inner.items()})
    wanted = [name for name in needed if name in files]
    full = {name: path + b"/" + os.fsencode(name) for name in files}
    return _sorted_out(
        path,
        [(full[name], files[name]) for name in wanted],
        [(full[name], files[name]) for name in files if name not in set(wanted)],
        needs_values,
    )


def _sorted_out(
    path: bytes,
    wanted: Iterable[tuple[bytes, Entry]],
    others: Iterable[tuple[bytes, Entry]],
    needs_values: bool,
) -> FarCheckpoint:
    copied = [_far_file(*pair, has_values=needs_values) for pair in wanted]
    listed = tuple(_far_file(*pair) for pair in others)
    left_out: list[FarFile] = []
    if any(file.is_headed for file in copied):
        left_out = [f for f in copied if not f.is_headed and not f.path.endswith(b".json")]
    kept = tuple(file for file in copied if file not in left_out)
    return FarCheckpoint(path, kept, listed, tuple(left_out))


def _far_file(path: bytes, entry: Entry, *, has_values: bool = True) -> FarFile:
    is_headed = not has_values and path.endswith(_HEADED.encode())
    return FarFile(path, entry.size, entry.modified, is_headed)


def _with(found: FarCheckpoint, path: bytes, more: Iterable[tuple[bytes, Entry]]) -> FarCheckpoint:
    also = tuple(_far_file(*pair) for pair in more)
    return FarCheckpoint(path, (*also, *found.copied), found.listed, found.left_out)


def _names(listing: Listing, folder: bytes) -> dict[str, Entry]:
    held = listing.folders.get(folder)
    if held is None:
        return {}
    return {os.fsdecode(name): entry for name, entry in held.entries.items() if _is_either(entry)}


def _is_either(entry: Entry) -> bool:
    return stat.S_ISREG(entry.mode) or stat.S_ISDIR(entry.mode)


def _latest(far: FarSide, path: bytes) -> str:
    """What is written in DeepSpeed's own note about its newest folder."""
    name = sh_quote(far_name(path + b"/" + LATEST.encode()))
    script = b"dd bs=%d count=1 <%s 2>/dev/null" % (_LONGEST_NAME, name)
    answer = far.ask(script, most=sent(_LONGEST_NAME))
    said = b"".join(item for item in answer if isinstance(item, bytes))
    text = os.fsdecode(said[:_LONGEST_NAME]).strip()
    if "/" in text or "\0" in text or text in ("", ".", ".."):
        raise InputError(
            f"{os.fsdecode(path)}/{LATEST} over there names no folder beside it",
            hint="name one of the global_step folders",
        )
    return text
