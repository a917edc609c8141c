"""What a name on another machine stands for: a checkpoint, or the newest one of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mltd.runs.remote.address import Address, Host, absolute
from mltd.runs.remote.direct_link import DirectLink
from mltd.runs.remote.far_checkpoint import FarCheckpoint, checkpoint_at, look
from mltd.runs.remote.far_host import FarHost
from mltd.runs.remote.listing import Listing
from mltd.runs.remote.stat_lines import Entry as Stat

from .newest import Entry, newest


@dataclass(frozen=True, slots=True)
class FarTarget:
    """A checkpoint over there, and how it was come by."""

    link: DirectLink
    checkpoint: FarCheckpoint
    said: str = ""

    @property
    def host(self) -> Host:
        """Whose checkpoint it is."""
        return self.link.host

    def place(self, root: Path, path: bytes | None = None) -> Path:
        """Where the copy of it, or of one of its files, is here."""
        there = os.fsdecode(self.checkpoint.path if path is None else path)
        return Path(f"{root}/{self.host.folder}{there}")


def find_far_target(link: DirectLink, address: Address, *, needs_values: bool) -> FarTarget:
    """Look it up over there; `InputError` says why there is none."""
    far = FarHost(link)
    place = link.host.folder
    path = absolute(address.path, far.home).rstrip(b"/")
    listing = look(far, path, place)
    chosen, said = path, ""
    if listing.kind == "folder":
        name, said = newest(os.fsdecode(path), _Seen(listing).entries)
        chosen = os.fsencode(name)
    if chosen != path:
        # What is inside a checkpoint's own folders was not listed with the run.
        found = checkpoint_at(far, chosen, place, needs_values=needs_values)
    else:
        found = checkpoint_at(far, path, place, needs_values=needs_values, listing=listing)
    return FarTarget(link, found, said)


class _Seen:
    """A listing as a tree of entries."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def entries(self, folder: str) -> Sequence[Entry]:
        held = self._listing.folders.get(os.fsencode(folder))
        return [_Far(folder, n, e) for n, e in held.entries.items()] if held is not None else []


class _Far:
    """A file or folder of another machine."""

    def __init__(self, folder: str, name: bytes, entry: Stat) -> None:
        self.name = os.fsdecode(name)
        self.path = f"{folder}/{self.name}"
        self.is_folder = entry.is_folder and not entry.is_link
        self.is_file = entry.is_file
        self.modified = float(entry.modified)
