"""The private directory for the sockets by which connections are shared."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..private_temp import why_not_private
from .problems import LinkError, LinkKind

LONGEST = 107 if sys.platform == "linux" else 103
"""Bytes in the name of a socket."""
NAME = 16
"""Bytes in the names of our sockets."""
SUFFIX = 17
"""A dot and 16 characters, which ssh adds while it makes the socket."""
LAST_RESORT = Path("/tmp")
ADVICE = "`export XDG_RUNTIME_DIR=DIRECTORY` to a short, local one of your own, of mode 0700"


def runtime_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """A directory that only we can look into, made if need be; `LinkError` if there can be none."""
    reasons: dict[str, None] = {}
    for folder, must_be_private in _candidates(environment):
        reason = _unfitness(folder, must_be_private)
        if not reason:
            return folder
        reasons[reason] = None
    raise LinkError(
        f"there is no place for the socket of a connection: {', and '.join(reasons)}",
        hint=ADVICE,
        kind=LinkKind.CONFIGURATION,
    )


def socket_room(folder: Path) -> int:
    """Bytes that the name of a socket in this directory leaves unused; negative if too long."""
    return LONGEST - len(os.fsencode(folder)) - len("/") - NAME - SUFFIX


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, bool]]:
    """Directories, and whether the one above belongs to us alone."""
    own = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(own):
        yield Path(own, "mltd-tui"), True
    name = f"mltd-tui-{os.geteuid()}"
    passing = environment.get("TMPDIR", "")
    if os.path.isabs(passing):
        yield Path(passing, name), False
    yield LAST_RESORT / name, False


def _unfitness(folder: Path, must_be_private: bool) -> str:
    """Why the directory cannot be used; it exists if there is no reason."""
    if (room := socket_room(folder)) < 0:
        return f"{folder} is {-room} bytes too long for a socket"
    if "${" in str(folder):
        return f"ssh would read a variable in {folder}"
    try:
        reason = why_not_private(folder, is_parent_private=must_be_private)
    except OSError as error:
        reason = f"{folder}: {error.strerror or error}"
    return reason
