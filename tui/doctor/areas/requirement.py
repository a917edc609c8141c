"""What a package asks for, as far as our own metadata needs it: names, versions, extras."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

_SHAPE = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_BOUND = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*v?(\d+(?:\.\d+)*)\s*")
_RELEASE = re.compile(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)")
_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": ge,
    "<=": le,
    "==": eq,
    "!=": ne,
    ">": gt,
    "<": lt,
}


class Requirement(NamedTuple):
    """One entry of a package's metadata."""

    name: str
    bounds: str = ""
    extra: str = ""


def parse(entry: str) -> Requirement | None:
    """The entry `numpy>=1.26; extra == 'x'` in parts; None if it has another shape."""
    found = _SHAPE.fullmatch(entry)
    if found is None:
        return None
    extra = _EXTRA.search(found[3] or "")
    return Requirement(found[1], found[2].strip(), extra[1] if extra else "")


def is_met(version: str, bounds: str) -> bool:
    """Compare the numbers of a version; bounds of a shape unknown here count as met."""
    found = _RELEASE.match(version)
    if found is None:
        return True
    for bound in bounds.split(","):
        wanted = _BOUND.fullmatch(bound)
        if wanted and not _COMPARE[wanted[1]](*_aligned(found[1], wanted[2])):
            return False
    return True


def _aligned(one: str, other: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both as numbers of equal length: 1.2 is 1.2.0."""
    pairs = list(zip_longest(map(int, one.split(".")), map(int, other.split(".")), fillvalue=0))
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
