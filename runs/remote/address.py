"""Names of files on other machines: `ssh://user@host:port/path`, and `host:path` as for scp."""

from __future__ import annotations

import fnmatch
import os
import posixpath
import re
from dataclasses import dataclass

from ..errors import InputError

MOST_BYTES = 250
"""Of user, host and port together: they become the name of a folder."""

_LOCAL_HINT = "a local file of that name is written ./NAME"
_HOST_HINT = "give it a plain name by `Host` in ~/.ssh/config"
# Letters of any script are let in: names in ~/.ssh/config may hold them, no shell and no terminal
# takes them for anything else, and ssh passes them on as they are. Of the signs only those are
# that occur in names of hosts and accounts.
_HOST_SIGNS = frozenset("._-")
_USER_SIGNS = frozenset("._-@+")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9._-]+)?")
_URL = re.compile(r"ssh:(//?)(?P<place>[^/]*)(?P<path>.*)", re.DOTALL)
_OTHER_URL = re.compile(r"(https?|ftps?|sftp|scp|file|s3|gs|gcs|az|abfss?|hdfs|rsync|wandb)://")
_PLACE = re.compile(r"(?:(?P<user>.*)@)?(?P<name>\[[^\[\]]*\]|[^@:]*)(?::(?P<port>[^:]*))?")
_SCP = re.compile(
    r"(?:(?P<bracketed>(?:[^/:\[]*@)?\[[^\[\]/]*\])|(?P<plain>[^/:]+)):(?P<path>.*)", re.DOTALL
)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_GLOB_CHARACTERS = "*?["
_NEVER_HOSTS = ("ssh", "job")
"""`ssh:/x` and `job:1` mean something else."""


@dataclass(frozen=True, slots=True)
class Host:
    """Another machine, as ssh is to be told of it; impossible names cannot be built."""

    name: str
    user: str = ""
    port: int | None = None

    def __post_init__(self) -> None:
        """Refuse whatever ssh or a shell could take for something else."""
        _check("host", self.name, _HOST_SIGNS)
        if self.user:
            _check("user", self.user, _USER_SIGNS)
        if self.port is not None and not 1 <= self.port <= 65535:
            raise InputError(f"{self.port} is not a port", hint="ports go from 1 to 65535")
        if len(self.label.encode()) > MOST_BYTES:
            raise InputError("a name of a host cannot be that long", hint=_HOST_HINT)

    @property
    def label(self) -> str:
        """How the host is shown: `login01`, `anna@login01`, or `ssh:/anna@login01:2222`."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        place = f"{self.user}@{name}" if self.user else name
        if self.port is None and place not in _NEVER_HOSTS:
            return place
        return f"ssh:/{place}" if self.port is None else f"ssh:/{place}:{self.port}"

    @property
    def folder(self) -> str:
        """What stands before an absolute path: `login01:`, or `ssh:/anna@login01:2222`."""
        return self.label if self.label.startswith("ssh:/") else f"{self.label}:"

    @property
    def target(self) -> list[str]:
        """The words that tell ssh the host, with no more options after them."""
        port = [] if self.port is None else ["-p", str(self.port)]
        user = ["-l", self.user] if self.user else []
        return [*port, *user, "--", self.name]


@dataclass(frozen=True, slots=True)
class Address:
    """A place on another machine; the path is absolute, or seen from the home over there."""

    host: Host
    path: bytes

    @property
    def shown(self) -> str:
        """A name that leads here again."""
        folder, path = self.host.folder, os.fsdecode(self.path)
        is_url = folder.startswith("ssh:/")
        if is_url and path.startswith("/~"):
            # A directory of that name, not the home.
            place, rest = (part.replace("%", "%25") for part in (folder[5:], path[2:]))
            return f"ssh://{place}/%7E{rest}"
        if path.startswith("/"):
            return folder + path
        if is_url:
            return f"{folder}/~/{path}"
        return folder + ("./" if path.startswith("~") else "") + path


def parse_address(text: str) -> Address | None:
    """The place on another machine that a name stands for; None if the name is a local one."""
    if text.startswith(("ssh:/", "ssh://")):
        return _of_url(text)
    split = _SCP.fullmatch(text)
    if split is None or text.startswith("job:") or _is_local(text):
        return None
    if other := _OTHER_URL.match(text):
        raise InputError(
            f"names that begin with {other[0]} are not read here",
            hint="give a file, HOST:PATH or ssh://HOST/PATH",
        )
    if split["plain"] and any(c in split["plain"] for c in _GLOB_CHARACTERS):
        return None  # no host is called so, and times in file names hold colons
    user, at, name = (split["bracketed"] or split["plain"]).rpartition("@")
    if at and not user:
        raise InputError(f"{text!r} names no user before the @", hint=_LOCAL_HINT)
    return Address(Host(_unbracketed(name), user), _far_path(_bytes(split["path"])))


def absolute(path: bytes, home: bytes) -> bytes:
    """The path from the root, without `.`, `..` and doubled slashes; `home` is absolute.

    This goes by the letters alone, so `home` should be the one without links (`pwd -P`):
    then `../other` is the directory that a shell in the home would find.
    """
    whole = posixpath.normpath(b"/" + posixpath.join(home, path))
    return b"/" + whole.lstrip(b"/")


def _of_url(text: str) -> Address:
    url = _URL.fullmatch(text)
    assert url is not None  # every text that begins so is one
    place, path = _PLACE.fullmatch(url["place"]), url["path"]
    if place is None or place["user"] == "":
        raise InputError(f"{url['place']!r} names no host", hint="write ssh://USER@HOST:PORT/PATH")
    user, name, port = place["user"] or "", _unbracketed(place["name"]), place["port"] or ""
    if ":" in user:
        raise InputError(
            "a password in a name would stay in the shell's history",
            hint="leave it out; ssh asks for it",
        )
    if port and not (port.isascii() and port.isdecimal() and len(port) <= 5):
        raise InputError(f"{port!r} is not a port", hint="ports go from 1 to 65535")
    far = _bytes(path)
    # Only two slashes make a URL; with one it is a name that we have shown, in which a
    # percent sign is a percent sign.
    is_escaped = url[1] == "//"
    if is_escaped:
        user, name = os.fsdecode(_unescaped(_bytes(user))), name.replace("%25", "%")
    is_from_home = far[:3] in (b"", b"/~", b"/~/")
    if far.startswith(b"/~") and not is_from_home:
        _refuse_tilde(far[1:])
    if is_from_home:
        far = far[3:]
    if is_escaped:
        far = _unescaped(far)
    host = Host(name, user, int(port) if port else None)
    return Address(host, _tidy(far.lstrip(b"/") if is_from_home else far))


def _far_path(path: bytes) -> bytes:
    if path == b"~" or path.startswith(b"~/"):
        return _tidy(path[2:].lstrip(b"/"))
    if path.startswith(b"~"):
        _refuse_tilde(path)
    return _tidy(path)


def _tidy(path: bytes) -> bytes:
    """One way to write each place's beginning, so that equal places are equal."""
    if b"\0" in path:
        raise InputError("a path cannot hold NUL")
    if path.startswith(b"/"):
        return b"/" + path.lstrip(b"/")
    while path.startswith(b"./"):
        path = path[2:].lstrip(b"/")
    return b"" if path == b"." else path


def _refuse_tilde(path: bytes) -> None:
    name = os.fsdecode(path.partition(b"/")[0])
    raise InputError(
        f"the home of another user ({name!r}) is not looked up over there",
        hint=f"give the path from the root; a directory of that name is ./{name}",
    )


def _check(what: str, name: str, signs: frozenset[str]) -> None:
    if what == "host" and ":" in name:
        if not _IPV6.fullmatch(name):
            raise InputError(f"{name!r} is not a possible address", hint=_HOST_HINT)
        return
    if not name:
        raise InputError("a name of a host is missing", hint="write HOST:PATH; " + _LOCAL_HINT)
    odd = next((c for c in name if not c.isalnum() and c not in signs), None)
    if name.startswith("-") or odd is not None or not any(c.isalnum() for c in name):
        why = f": it holds {odd!r}" if odd is not None else ""
        raise InputError(
            f"{name!r} is not a possible {what}{why}", hint=f"{_HOST_HINT}; {_LOCAL_HINT}"
        )


def _unbracketed(name: str) -> str:
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def _is_local(text: str) -> bool:
    """Is there something here of that name, or something that this pattern matches?"""
    try:
        if os.path.lexists(text):
            return True
        first = text.partition("/")[0]
        # The colon is in the first part, so the rest decides nothing.
        is_glob = any(c in first for c in _GLOB_CHARACTERS)
        return is_glob and bool(fnmatch.filter(os.listdir(), first))
    except (OSError, ValueError):
        return False


def _bytes(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        raise InputError(f"{text!r} is not a possible name") from None


def _unescaped(path: bytes) -> bytes:
    return _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), path)
