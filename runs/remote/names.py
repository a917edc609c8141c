"""Names of remote files: where their copies are here, and what people are shown instead.

A copy of `/scratch/run/train.log` on `login01` is `<mirror>/login01:/scratch/run/train.log`; people
see the part after the mirror, and a session writes `ssh://login01/scratch/run/train.log`.
Tiny, because everything that puts text on the screen goes through here.
"""

from __future__ import annotations

import os
import re

VARIABLE = "MLTD_MIRROR"
"""Tells the processes of one app where its mirror is."""
FOLDER = "mltd-ssh-"
"""How folders of mirrors are called; a number follows."""
_is_plain_terminal = [False]
_own_roots: list[str] = []
"""Folders of copies that only this process knows of."""
_ROOT = re.compile(rf"/[^\0\n]*?/{FOLDER}\d+/")
_WITH_PORT = b"ssh:/"


def mirror_root() -> str:
    """The folder of this app's mirror; empty if nothing remote was named."""
    return os.environ.get(VARIABLE, "")


def roots() -> list[str]:
    """All folders in which this process has copies."""
    root = mirror_root()
    return [*([root] if root else []), *_own_roots]


def keep_own_root(root: str) -> None:
    """Call what is in this folder as it is called over there, too."""
    _own_roots.append(root)


def forget_own_root(root: str) -> None:
    """Undo `keep_own_root`."""
    if root in _own_roots:
        _own_roots.remove(root)


def allow_own_mirror() -> None:
    """For commands in a plain terminal: connect to whatever is named, asking what ssh asks."""
    _is_plain_terminal[0] = True


def may_own_mirror() -> bool:
    """True if this process may make a mirror of its own."""
    return _is_plain_terminal[0]


def is_mirrored(path: str | os.PathLike[str]) -> bool:
    """True for the copy of a remote file."""
    root = mirror_root()
    return bool(root) and os.fspath(path).startswith(root + "/")


def shown(text: str) -> str:
    """Text for people: copies of remote files are called as they are called over there."""
    if FOLDER not in text:
        return text
    for root in roots():
        text = text.replace(f"{root}/", "")
    # What another app of this user has written down.
    return _ROOT.sub("", text) if FOLDER in text else text


def url_of(path: str) -> str:
    """The name under which a remote file is found again; any other path as it is."""
    if not is_mirrored(path):
        return path
    inside = os.fsencode(path)[len(os.fsencode(mirror_root())) + 1 :]
    if inside.startswith(_WITH_PORT):
        host, _, rest = inside.removeprefix(_WITH_PORT).partition(b"/")
    else:
        host, _, rest = inside.partition(b":/")
    # Behind the first slash a tilde would stand for the home over there.
    tilde = "%7E" if rest.startswith(b"~") else ""
    return f"ssh://{_written(host)}/{tilde}{_written(rest[bool(tilde) :])}"


def mirrored(name: str) -> str:
    """Where the copy of a file is that `url_of` named; any other name as it is."""
    root = mirror_root()
    if not root or not name.startswith("ssh://"):
        return name
    from ..errors import InputError
    from .address import parse_address

    try:
        address = parse_address(name)
    except InputError:
        return name
    return name if address is None else f"{root}/{address.host.folder}{os.fsdecode(address.path)}"


def _written(part: bytes) -> str:
    """Text without a byte that could not be written into a session."""
    try:
        text = part.decode()
    except UnicodeDecodeError:
        kept = (chr(b) if b < 0x80 and b != 0x25 else f"%{b:02X}" for b in part)
        return "".join(c if c.isprintable() else f"%{ord(c):02X}" for c in kept)
    return "".join(
        c if c.isprintable() and c != "%" else "".join(f"%{b:02X}" for b in c.encode())
        for c in text
    )
