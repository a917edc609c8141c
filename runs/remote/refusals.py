"""Why a place over there is no run, said as for local ones."""

from __future__ import annotations

import difflib
import os
import stat

from ..errors import InputError
from .listing import Listing, Nearest


class NotThere(InputError):
    """There is nothing of that name over there."""

    def __init__(self, message: str, *, hint: str = "", may_appear: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.may_appear = may_appear
        """True if its folder is there: a job may be about to write it."""


def refusal(listing: Listing, path: bytes, place: str) -> InputError | None:
    """The reason why there is nothing to read at that path; `place` stands before all paths."""
    shown = place + os.fsdecode(path or b"/")
    if listing.kind == "link":
        return NotThere(
            f"{shown} is a symbolic link that leads nowhere", hint="see where it goes: ls -l"
        )
    if listing.nearest is not None:
        return _missing(listing.nearest, path, place)
    if path in listing.closed:
        return InputError(
            f"{shown} cannot be listed: {listing.closed[path]}", hint="check its permissions"
        )
    folder, _, name = path.rpartition(b"/")
    beside = listing.folders.get(folder)
    if beside is None or listing.kind != "file":
        return None
    entry = beside.entries.get(name)
    if entry is None:
        return NotThere(f"{shown} was removed a moment ago", may_appear=True)
    if not stat.S_ISREG(entry.mode):
        return InputError(
            f"{shown} is a pipe or a device, not a file",
            hint="run there what reads it, and send that here: ssh HOST ... | mltd-tui -",
        )
    if path in listing.unreadable:
        return InputError(f"{shown} may not be read by you", hint="ask its owner")
    return None


def _missing(nearest: Nearest, path: bytes, place: str) -> InputError:
    """Say what is missing, and what is there instead."""
    shown = place + os.fsdecode(path)
    folder = place + os.fsdecode(nearest.path or b"/")
    name = path[len(nearest.path) + 1 :].partition(b"/")[0]
    if not nearest.may_enter:
        return InputError(
            f"{shown} cannot be used: Permission denied",
            hint=f"you may not look into {folder}",
        )
    if nearest.next_is_there:
        return InputError(f"{shown} does not exist, because {os.fsdecode(name)} is not a directory")
    may_appear = nearest.path == path.rpartition(b"/")[0]
    lowered = {os.fsdecode(other).lower(): os.fsdecode(other) for other in nearest.names}
    close = difflib.get_close_matches(os.fsdecode(name).lower(), sorted(lowered), n=3, cutoff=0.6)
    if close:
        hint = f"in {folder} there is: {', '.join(lowered[other] for other in close)}"
    elif nearest.may_list:
        hint = f"nothing in {folder} has a name like that"
    else:
        hint = f"what else is in {folder} may not be listed by you"
    return NotThere(f"there is no file or directory {shown}", hint=hint, may_appear=may_appear)
