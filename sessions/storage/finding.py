"""Sessions found again: by what a user calls them, or by the run that they are about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mltd.runs.name_text import path_of

from ..errors import StorageError
from .places import twin_mark
from .summary import Card, KnownFile, SessionSummary

if TYPE_CHECKING:
    from ..model.run_ref import FilePrint

MOST_SHOWN = 5
"""Candidates in an error message."""


def find_session(cards: Sequence[Card], name: str) -> str:
    """The id of the session that a name or the path of a run means; `cards` are newest first."""
    rows = [card.summary for card in cards]
    is_name = name.strip() == "last" or any(row.id == name for row in rows)
    if not is_name and _may_be_path(name):
        known = find_by_path(cards, os.path.expanduser(name))
        if known is not None:
            return known
    return find_by_name(rows, name)


def find_by_path(cards: Sequence[Card], path: str) -> str | None:
    """The newest session about the run of a log; one that is put away only if there is no other."""
    from ..prints import print_of

    place = path if "://" in path else os.path.abspath(path)
    files = [print_of(place)] if os.path.isfile(place) else []
    current = [card for card in cards if not card.summary.is_archived]
    archived = [card for card in cards if card.summary.is_archived]
    return find_by_run(current, place, files) or find_by_run(archived, place, files)


def _may_be_path(name: str) -> bool:
    """True also for a log that is gone: the session remembers where it was."""
    if not name.strip() or "\0" in name:
        return False
    return "/" in name or os.path.lexists(os.path.expanduser(name))


def find_by_name(rows: Sequence[SessionSummary], name: str) -> str:
    """The id of the one session that a name can mean; `rows` are newest first."""
    wished = " ".join(name.split()).casefold()
    if not rows:
        raise StorageError(f"there is no session {name!r}: there are none at all yet")
    if wished == "last":
        return next((row.id for row in rows if not row.is_archived), rows[0].id)
    for matches in (
        [row for row in rows if row.id.casefold() == wished],
        [row for row in rows if wished and row.id.casefold().startswith(wished)],
        [row for row in rows if row.title.casefold() == wished],
        [row for row in rows if wished and twin_mark(row.id).casefold() == wished],
        [row for row in rows if wished and wished in row.title.casefold()],
    ):
        if len(matches) == 1:
            return matches[0].id
        if matches:
            raise StorageError(
                f"{len(matches)} sessions are called {name!r}", hint=f"say which: {_shown(matches)}"
            )
    raise StorageError(f"there is no session {name!r}", hint=f"there are: {_shown(rows)}")


def _shown(rows: Sequence[SessionSummary]) -> str:
    return listed([f"{row.id} ({row.title})" for row in rows])


def listed(names: Sequence[str]) -> str:
    """The first of some candidates, and how many more there are."""
    more = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f", and {more} more" if more > 0 else "")


def find_by_run(
    cards: Sequence[Card], location: str, files: Sequence[FilePrint] = ()
) -> str | None:
    """The newest session about a run, known by its place or else by its content."""
    places = {_place(location)}
    paths = {_place(file.path) for file in files}
    folder = os.path.dirname(_place(location))
    for card in cards:
        known = {_place(one) for one in card.locations}
        # A run that is a folder is also known by each file in it.
        if places & known or folder in known or paths & {_place(file.path) for file in card.files}:
            return card.summary.id
    beginnings = _Beginnings(files)
    for card in cards:
        if any(beginnings.have(file) and _is_gone(file) for file in card.files):
            return card.summary.id
    return None


class _Beginnings:
    """How the files of a run begin, read once."""

    def __init__(self, files: Sequence[FilePrint]) -> None:
        from ..prints import read_beginning

        self._seen = {(file.digest, file.length) for file in files}
        self._beginnings = [read_beginning(file.path) for file in files]

    def have(self, known: KnownFile) -> bool:
        """True if one of them begins like a known file, as long as that was."""
        from ..prints import FEWEST_BYTES, PRINT_BYTES, digest_of

        if not known.digest or not FEWEST_BYTES <= known.length <= PRINT_BYTES:
            return False
        if (known.digest, known.length) in self._seen:
            return True
        # It was shorter then: logs grow.
        wanted = {(known.digest, known.length)}
        fresh = {
            (digest_of(beginning[: known.length]), known.length)
            for beginning in self._beginnings
            if len(beginning) >= known.length
        }
        self._seen |= fresh
        return bool(wanted & fresh)


def _is_gone(known: KnownFile) -> bool:
    """True if a file is no longer where it was: one that still is has a twin, not a new place."""
    from ..model.run_ref import FilePrint
    from ..prints import is_same_file

    old = FilePrint(path=known.path, digest=known.digest, length=known.length)
    return not is_same_file(old, known.path)


def _place(location: str) -> str:
    """One name for one place; what is on another host stays as it is."""
    if "://" in location:
        return location.rstrip("/")
    return os.path.realpath(path_of(location))
