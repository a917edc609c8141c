"""Runs on another machine, found by the same rules as local ones.

What is over there is listed in one question, the beginnings of some files are asked for in a
second, and then local discovery looks at the placeholders in the mirror.
"""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..discovery.locate import explore
from ..discovery.run_files import Discovery, Purpose, RunFiles
from ..discovery.tree import Limits
from ..errors import InputError
from .address import Address, Host, absolute
from .freshness import Stamps, has_news, stamps_of
from .globs import glob_commands, is_pattern
from .heads import MOST_CONFIGS, chosen, fetch
from .listing import FarSide, Listing, read_listing
from .listing_script import path_script
from .placeholders import Placeholders
from .refusals import NotThere, refusal
from .wishes import MOST_CONFIG, Wish, names_beside, wishes

Paths = Collection[str | os.PathLike[str]]


@dataclass(slots=True)
class _Seen:
    """What the last look at an address brought, beside the placeholders."""

    kind: str
    notes: list[str]
    problem: InputError | None
    stamps: Stamps = field(default_factory=dict)
    placed: set[bytes] = field(default_factory=set)
    """Files and folders that have a place here because of it, if it is a pattern."""
    waiting: int = 0
    """Files whose beginnings were too many to be asked for at once."""


class RemoteTree:
    """The runs of one host; remembers what it has seen, so that looking again is cheap."""

    def __init__(self, host: Host, far: FarSide, root: Path) -> None:
        self.host = host
        self._far = far
        self._kept = Placeholders(root, host.folder)
        self._seen: dict[Address, _Seen] = {}
        self._lock = threading.RLock()

    def place(self, address: Address) -> str:
        """Where the copy of a file or directory is here."""
        return self._kept.place(self._path(address))

    def explore(
        self,
        address: Address,
        limits: Limits | None = None,
        followed: Paths = (),
        *,
        skew: float = 0.0,
    ) -> Discovery:
        """List what is over there now, and find its runs; files that are followed are left alone.

        `skew` is by how many seconds the clock over there is ahead of ours.
        """
        limits = limits or Limits()
        with self._lock:
            self._look(address, limits, {os.fspath(path) for path in followed}, skew)
            found = self.explore_copies(address, limits)
            self._complete(found.runs, MOST_CONFIGS, skew)
            return found

    def refreshed(
        self,
        address: Address,
        limits: Limits | None = None,
        followed: Paths = (),
        *,
        skew: float = 0.0,
    ) -> Discovery | None:
        """As `explore`, if anything has appeared, gone or begun since the last look; else None."""
        with self._lock:
            seen = self._seen.get(address)
            is_known = seen is not None and not seen.waiting and bool(seen.stamps)
            if seen is not None and is_known and not has_news(self._far, seen.stamps):
                return None
            return self.explore(address, limits, followed, skew=skew)

    def explore_copies(self, address: Address, limits: Limits | None = None) -> Discovery:
        """The runs among what was there at the last look; asks nobody."""
        seen = self._seen.get(address) or _Seen("", [], None)
        if seen.problem is not None:
            raise seen.problem
        place = self.place(address)
        if seen.kind == "pattern":
            top = self._kept.place(b"")
            place = glob.escape(top) + place.removeprefix(top)
        try:
            found = explore(place, limits=limits)
        except InputError as problem:
            hint = seen.notes[0] if seen.notes else self._shown(problem.hint)
            raise InputError(self._shown(problem.message), hint=hint) from None
        for run in found.runs:
            run.name = self._shown(run.name)
        notes = [*seen.notes, *(self._shown(note) for note in found.notes)]
        return Discovery(found.runs, list(dict.fromkeys(notes)))

    def size_of(self, place: str) -> int:
        """Length of a file over there when it was listed, by where its copy is."""
        return self._kept.size(self._far_path(place))

    def is_partial(self, place: str) -> bool:
        """True if what stands for a file here is only its beginning."""
        return self._kept.missing_part(self._far_path(place)) is not None

    def _far_path(self, place: str) -> bytes:
        return os.fsencode(place)[len(os.fsencode(self._kept.place(b""))) :]

    def complete(self, run: RunFiles, *, skew: float = 0.0) -> None:
        """Copy those settings of a run that were left until it is opened."""
        with self._lock:
            self._complete([run], None, skew)

    def _path(self, address: Address) -> bytes:
        return absolute(address.path, self._far.home).rstrip(b"/")

    def _look(self, address: Address, limits: Limits, followed: set[str], skew: float) -> None:
        path = self._path(address)
        folder, _, name = path.rpartition(b"/")
        otherwise = glob_commands(path) if is_pattern(path) else b""
        script = path_script(path, names_beside(name), limits, otherwise)
        listing = read_listing(self._far.ask(script))
        problem = refusal(listing, path, self.host.folder)
        notes = listing.notes(self.host.folder, limits)
        before = self._seen.get(address)
        seen = self._seen[address] = _Seen(listing.kind, notes, problem)
        if problem is None:
            self._kept.left_out.clear()
            self._make_folders(listing, name, followed)
            wished = list(wishes(listing, path))
            seen.waiting = self._place_files(wished, notes, followed, skew)
            seen.stamps = stamps_of(listing)
            if listing.kind == "pattern":
                walked = (one.path for one in listing.folders.values() if not one.is_picked)
                seen.placed = {wish.path for wish in wished}.union(walked)
                if before is not None and not listing.too_many:
                    for gone in before.placed - seen.placed:
                        self._kept.remove(gone, followed)
        elif isinstance(problem, NotThere):
            self._kept.remove(path, followed)
            if problem.may_appear:
                self._kept.make_folder(folder, followed)

    def _make_folders(self, listing: Listing, name: bytes, followed: set[str]) -> None:
        """Have the folders of a listing here, and nothing in them that is gone over there."""
        for top in listing.walked:
            self._kept.make_folder(top, followed)
        for folder in listing.folders.values():
            if not self._kept.make_folder(folder.path, followed):
                continue
            if folder.is_whole:
                self._kept.keep_only(folder.path, folder.entries, followed)
            elif listing.kind == "file":
                for other in {name, *names_beside(name)} - set(folder.entries):
                    self._kept.remove(folder.path + b"/" + other, followed)
            if not folder.is_picked and not folder.is_checkpoint:
                for inner, entry in folder.entries.items():
                    if entry.is_folder:
                        self._kept.make_folder(folder.path + b"/" + inner, followed)

    def _place_files(
        self, wished: Sequence[Wish], notes: list[str], followed: set[str], skew: float
    ) -> int:
        """Have these files here, as far as that goes at once; gives how many have to wait."""
        wished = [wish for wish in wished if self._kept.place(wish.path) not in followed]
        large = [wish for wish in wished if wish.is_too_large]
        free = [wish for wish in wished if not wish.is_too_large]
        picked, waiting = chosen([wish for wish in free if self._kept.needs(wish)])
        contents = fetch(self._far, picked)
        for wish in free:
            self._kept.put(wish, contents.get(wish.path), skew=skew)
        for wish in large:
            self._kept.remove(wish.path, followed)
            notes.append(
                f"{self._name(wish.path)} is too large for settings "
                f"({wish.entry.size:,} bytes); it was left out"
            )
        if waiting:
            notes.append(
                f"{waiting:,} files were not looked into yet; they are judged by name alone"
            )
        if self._kept.left_out:
            path, reason = next(iter(self._kept.left_out.items()))
            others = len(self._kept.left_out) - 1
            more = f" and {others:,} more" if others else ""
            notes.append(f"{self._name(path)}{more} cannot be copied here: {reason}")
        return waiting

    def _complete(self, runs: list[RunFiles], most: int | None, skew: float) -> None:
        """Copy settings of runs whole, unless there are more than the most."""
        top = len(os.fsencode(self._kept.place(b"")))
        wanted = []
        for run in runs:
            for place in _settings(run):
                path = os.fsencode(place)[top:]
                entry = self._kept.missing_part(path)
                if entry is not None and entry.size <= MOST_CONFIG:
                    wanted.append(Wish(path, entry, entry.size, is_config=True))
        if most is not None and len(wanted) > most:
            return
        for start in range(0, len(wanted), MOST_CONFIGS):
            few = wanted[start : start + MOST_CONFIGS]
            contents = fetch(self._far, few)
            for wish in few:
                if wish.path in contents:
                    self._kept.put(wish, contents[wish.path], skew=skew)

    def _name(self, path: bytes) -> str:
        return self.host.folder + os.fsdecode(path or b"/")

    def _shown(self, text: str) -> str:
        """Text in which copies are called as their files are called over there."""
        top = self._kept.place(b"")
        for written in (top, glob.escape(top)):
            text = text.replace(written + os.sep, self._name(b""))
            text = text.replace(written, self._name(b""))
        return text


def explore_remote(
    address: Address,
    far: FarSide,
    root: Path,
    *,
    limits: Limits | None = None,
    followed: Paths = (),
    skew: float = 0.0,
) -> Discovery:
    """The runs behind an address, looked at once; a `RemoteTree` is for looking again."""
    return RemoteTree(address.host, far, root).explore(address, limits, followed, skew=skew)


def _settings(run: RunFiles) -> list[str]:
    """Files that are read whole when a run is opened: settings, and MLflow's small files."""
    found = run.paths(Purpose.CONFIG)
    if any(os.path.basename(path) == "meta.yaml" for path in run.paths(Purpose.METRICS)):
        for name in ("params", "tags"):
            folder = os.path.join(run.root, name)
            if os.path.isdir(folder):
                found += [os.path.join(folder, inner) for inner in os.listdir(folder)]
    return found
