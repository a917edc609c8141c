"""IP addresses, but not versions that look like them."""

from __future__ import annotations

import ipaddress
import re

from .host_names import HERE
from .pseudonyms import Pseudonyms

_FOUR = re.compile(r"(?<![A-Za-z0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![A-Za-z0-9]|\.[0-9_])")
_PRIVATE = re.compile(r"10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.")
"""Numbers of a network that only its owner can reach: hardly ever a version."""
_PACKAGE_BEFORE = re.compile(
    r"(?i:\bnvidia[_-][\w-]{1,40}[_-]cu\d{1,3}|\btensorrt[\w-]{0,40})[\s=<>~!^-]{1,40}\Z"
)
"""Packages whose versions do begin with 10: `nvidia-curand-cu12==10.3.5.147`."""
_SIX = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,5}:)[0-9A-Fa-f:]{4,39}(?:%\w{1,16})?(?![\w:]|\.\d)"
)
_VERSION_BEFORE = re.compile(
    r"(?i:(?:[-_~<>=!^]=|\w/|===|\bversions?|\bver\.?|\breleases?|\bbuild|\bdriver|\bcuda"
    r"|\bcudnn|\bcublas|\bnccl|\btoolkit|\bfirmware|\bkernel|\bnvidia[\w-]{0,40}"
    r"|\b(?:lib|py)[\w-]{1,40})\"?[\s:=(\"']{0,4})\Z"
)
_MARK_BEFORE = re.compile(r"[-_+@~^(][\s:=(\"']{0,4}\Z")
_LARGEST_FIRST = 31
"""A version that no word announces begins with a small number."""
_VERSION_AFTER = re.compile(r"[-+.][A-Za-z]|_")
_ADDRESS_BEFORE = re.compile(
    r"(?i:\b(?:hosts?|nodes?|workers?|servers?|peers?|ip|addr|address|master))[\s:=(\"'_-]{1,4}\Z"
)
_ADDRESS_AFTER = re.compile(r":\d{2,5}\b|/\d{1,2}\b|[\"']?, ?\d{4,5}\)")


def replace_addresses(text: str, names: Pseudonyms) -> str:
    """Replace addresses; those of this machine itself tell nothing and stay."""
    if "." in text:
        text = _FOUR.sub(lambda found: _four(found, names), text)
    return _SIX.sub(lambda found: _six(found, names), text) if ":" in text else text


def _four(found: re.Match[str], names: Pseudonyms) -> str:
    address = found.group()
    parts = address.split(".")
    if any(int(part) > 255 or (len(part) > 1 and part[0] == "0") for part in parts):
        return address
    if HERE.fullmatch(address) or _is_version(found, int(parts[0])):
        return address
    return names.host(address)


def _is_version(found: re.Match[str], first: int) -> bool:
    """What stands around a number of four parts says which of the two it is."""
    before = found.string[max(0, found.start() - 80) : found.start()]
    if _ADDRESS_AFTER.match(found.string, found.end()):
        return False
    if _PRIVATE.match(found.group()):
        return _PACKAGE_BEFORE.search(before) is not None
    if _VERSION_AFTER.match(found.string, found.end()) or _VERSION_BEFORE.search(before):
        return True
    if _ADDRESS_BEFORE.search(before):
        return False
    return first <= _LARGEST_FIRST and _MARK_BEFORE.search(before) is not None


def _six(found: re.Match[str], names: Pseudonyms) -> str:
    whole = found.group()
    bare = whole.partition("%")[0]
    groups = [group for group in bare.split(":") if group]
    is_number_like = all(len(group) < 3 and group.isdecimal() for group in groups)
    if HERE.fullmatch(bare) or len(groups) < 2 or is_number_like or not _is_six(bare):
        return whole
    return names.host(bare)


def _is_six(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return any(c.isdecimal() for c in text)
