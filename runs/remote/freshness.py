"""Whether anything has appeared, gone or begun over there since a listing, at little cost."""

from __future__ import annotations

from .listing import FarSide, Listing, read_listing
from .listing_script import stamps_script
from .stat_lines import Entry

MOST_FOLDERS = 2_000
MOST_FILES = 200
SETTLED = 1 << 12
"""A file of so many bytes has shown what it is."""
_JUST_NOW = 3
"""Seconds within which a folder may change again and keep its time."""
_MINUTE = 61
"""The same where times are known to the minute only, because there is no `stat`."""

Stamps = dict[bytes, tuple[int, int] | None]
"""Size and time of folders and files; none if they may have changed since unseen."""


def stamps_of(listing: Listing) -> Stamps:
    """What would tell of news: times of folders, and sizes of files that just began."""
    folders = {path or b"/": entry for path, entry in listing.stamps.items()}
    files: dict[bytes, Entry] = {}
    for folder in listing.folders.values():
        for name, entry in folder.entries.items():
            path = folder.path + b"/" + name
            if entry.is_folder and path in listing.folders:
                folders[path] = entry
            elif entry.is_file and entry.size < SETTLED and not folder.is_checkpoint:
                files[path] = entry
    watched = [*_newest(folders, MOST_FOLDERS), *_newest(files, MOST_FILES)]
    return {path: _stamp(entry, listing.now) for path, entry in watched}


def has_news(far: FarSide, stamps: Stamps) -> bool:
    """True if a listing would be another one now."""
    if None in stamps.values():
        return True
    now = read_listing(far.ask(stamps_script(list(stamps)))).stamps
    return any(
        path not in now or (now[path].size, now[path].modified) != stamp
        for path, stamp in stamps.items()
    )


def _newest(entries: dict[bytes, Entry], most: int) -> list[tuple[bytes, Entry]]:
    return sorted(entries.items(), key=lambda item: -item[1].modified)[:most]


def _stamp(entry: Entry, now: float) -> tuple[int, int] | None:
    vague = _JUST_NOW if entry.device else _MINUTE
    is_settled = entry.modified < now - vague or entry.is_file
    return (entry.size, entry.modified) if is_settled else None
