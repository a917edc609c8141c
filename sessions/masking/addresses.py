"""IP addresses, but not versions that look like them."""

from __future__ import annotations

import ipaddress
import re

from .host_names import HERE
from .pseudonyms import Pseudonyms

_FOUR = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w|[-+][A-Za-z])")
_SIX = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,5}:)[0-9A-Fa-f:]{4,39}(?:%\w{1,16})?(?![\w:]|\.\d)"
)
_VERSION_BEFORE = re.compile(
    r"(?i:(?:[-_~<>=!^]=|\w/|===|[-_+@~^(v]|\bversions?|\bver\.?|\breleases?|\bbuild|\bdriver|\bcuda"
    r"|\bcudnn|\bcublas|\bnccl|\btoolkit|\bfirmware|\bkernel|\bnvidia[\w-]{0,40}"
    r"|\b(?:lib|py)[\w-]{1,40})\"?[\s:=(\"']{0,4})\Z"
)
_ADDRESS_AFTER = re.compile(r":\d{2,5}\b|/\d{1,2}\b")


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
    before = found.string[max(0, found.start() - 60) : found.start()]
    is_address = _ADDRESS_AFTER.match(found.string, found.end())
    if HERE.fullmatch(address) or (not is_address and _VERSION_BEFORE.search(before)):
        return address
    return names.host(address)


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
