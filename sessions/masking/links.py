"""URLs without the host, the way and the query: what kind it is, and its last part."""

from __future__ import annotations

import re

from .host_names import HERE, PUBLIC
from .paths import PathShortener
from .pseudonyms import Pseudonyms
from .word_set import words

_LINK = re.compile(
    r"(?<![A-Za-z0-9])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,15})://"
    r"(?P<rest>(?:\[masked: [^\[\]\n]{1,40}\]|\[[0-9A-Fa-f:.]{2,40}\]|[^\s\"'`<>()\[\]{}|\\^])++)"
)
_NO_HOSTS = words("ext open-mmlab torchvision mmcls pkg class module")
"""Schemes of programs that look things up by name."""


def replace_links(text: str, names: Pseudonyms, paths: PathShortener) -> str:
    """Replace the host of each URL, and shorten its path."""
    if "://" not in text:
        return text
    return _LINK.sub(lambda found: _link(found, names, paths), text)


def _link(found: re.Match[str], names: Pseudonyms, paths: PathShortener) -> str:
    scheme = found["scheme"]
    if scheme in _NO_HOSTS:
        return found.group()
    whole = found["rest"]
    rest = whole.rstrip(".,;:!")
    after = whole[len(rest) :]
    way_at = re.search(r"[/?#]", rest)
    authority = rest[: way_at.start()] if way_at else rest
    way = rest[way_at.start() :] if way_at else ""
    if authority in ("", "…"):
        # A file on this machine; shortened it begins with the dots that stand for the rest.
        return f"{scheme}://{_local(authority + way, paths)}{after}"
    who, at, where = authority.rpartition("@")
    host, port = _port_cut_off(where)
    if PUBLIC.fullmatch(host) and not who:
        return found.group()
    return f"{scheme}://{_who(who, names)}{at}{_host(host, names)}{port}{_way(way)}{after}"


def _local(way: str, paths: PathShortener) -> str:
    path = re.split(r"[?#]", way)[0]
    is_whole = path.startswith("/") and len(path) > 1 and "…" not in path
    return paths.shorten(path) if is_whole else way


def _port_cut_off(where: str) -> tuple[str, str]:
    found = re.search(r":\d{0,5}\Z", where)
    if found is None or where.endswith("]"):
        return where, ""
    return where[: found.start()], found.group()


def _who(who: str, names: Pseudonyms) -> str:
    if not who:
        return ""
    user, colon, secret = who.partition(":")
    if who.startswith("[masked"):
        return who
    return f"{user if user == 'git' else names.user(user)}{colon}{secret}" if user else who


def _host(host: str, names: Pseudonyms) -> str:
    return host if not host or HERE.fullmatch(host) else names.host(host.strip("[]"))


def _way(way: str) -> str:
    path, mark, _ = way.partition("?")
    path = path.partition("#")[0]
    parts = [part for part in path.split("/") if part]
    kept = f"/…/{parts[-1]}" if len(parts) > 1 else "/…" if parts else path
    return kept + ("?…" if mark else "")
