"""Which file system holds a path, and whether its kernel reports what other machines write.

inotify reports what this kernel does to a file. On a file system that is shared with other
machines (or served by a process, as FUSE is) the writer is usually elsewhere, and the watch
stays silent for ever.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

MOUNTINFO = Path("/proc/self/mountinfo")

_SILENT_TYPES = re.compile(
    r"nfs[34]?|lustre|gpfs|mmfs|beegfs|fhgfs|wekafs|panfs|orangefs|pvfs2|glusterfs|ceph|cvfs|dvs"
    r"|cifs|smb(2|3|fs)|afs|coda|autofs|gfs2?|ocfs2|9p|virtiofs|vboxsf|vmhgfs|prl_fs"
    r"|fuse(blk|\..+)?"
)
"""Types on which a change that was made elsewhere raises no event here."""

_OCTAL = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """One mounted file system: where, and of which type."""

    point: str
    type: str


def _unescape(field: bytes) -> str:
    plain = _OCTAL.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field)
    return os.fsdecode(plain)


def parse_mountinfo(content: bytes) -> list[Mount]:
    """Mounts in the order of the file; lines of an unknown shape are left out."""
    mounts = []
    for line in content.splitlines():
        # Optional fields of any number stand before the lone dash, so count from both sides.
        before, dash, after = line.partition(b" - ")
        left, right = before.split(b" "), after.split(b" ")
        if dash and len(left) >= 6:
            mounts.append(Mount(_unescape(left[4]), _unescape(right[0])))
    return mounts


def _contains(point: str, path: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")


def file_system_type(path: str | os.PathLike[str], *, mountinfo: Path = MOUNTINFO) -> str:
    """Type of the file system that holds `path`, symlinks resolved; empty if nobody says.

    The path need not exist: its place in the tree decides.
    """
    try:
        mounts = parse_mountinfo(mountinfo.read_bytes())
        resolved = os.path.realpath(path)
    except (OSError, ValueError):
        return ""
    holding = [mount for mount in mounts if _contains(mount.point, resolved)]
    # Of several mounts on one point the last listed covers the others, and max() keeps the first.
    return max(reversed(holding), key=lambda mount: len(mount.point), default=Mount("", "")).type


def is_silent_type(file_system: str) -> bool:
    """True if a file system of this type tells nothing about writers elsewhere."""
    return _SILENT_TYPES.fullmatch(file_system) is not None


def delivers_inotify(path: str | os.PathLike[str], *, mountinfo: Path = MOUNTINFO) -> bool:
    """True if inotify can be believed for `path`; an unknown file system gets the benefit."""
    return not is_silent_type(file_system_type(path, mountinfo=mountinfo))
