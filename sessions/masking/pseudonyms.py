"""Names that stand for names: the same one each time, so that two nodes stay two nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .common_words import is_pseudonym, is_telling
from .host_names import family_of, is_hostlike


class Pseudonyms:
    """Who and what was met so far, and what it is called instead."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._counts = {"user": 0, "host": 0}
        self._known: dict[str, str] = {}
        """Names to be replaced wherever they stand, and what they are."""
        self._families: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def user(self, name: str) -> str:
        """What to call a user; the name is known from now on."""
        self.know_user(name)
        return self._called(name, "user")

    def host(self, name: str) -> str:
        """What to call a host; the name is known from now on, and names like it are hosts too."""
        self.know_host(name)
        return self._called(name, "host")

    def know_user(self, name: str, *, is_certain: bool = False) -> None:
        """Replace this name wherever it stands, unless it is a common word."""
        if ((is_certain and len(name) > 1) or is_telling(name)) and not is_pseudonym(name):
            self._know(name, "user")

    def know_host(self, name: str) -> None:
        """Replace this name wherever it stands, and its siblings that differ in the number."""
        name = name.rstrip(".")
        for each in {name, _short(name)}:
            if is_telling(each) and not is_pseudonym(each) and is_hostlike(each):
                self._know(each, "host")
                family = family_of(each)
                if family and family not in self._families:
                    self._families.add(family)
                    self._pattern = None
        if is_telling(name) and "." in name:
            self._know(name, "host")

    def replace_known(self, text: str) -> str:
        """Replace the known names wherever they stand as a word."""
        if not self._known and not self._families:
            return text
        if self._pattern is None:
            self._pattern = _words(self._known, self._families)
        return self._pattern.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        is_user = found["user"] is not None or found["grown"] is not None
        return self._called(found.group(), "user" if is_user else "host")

    def _know(self, name: str, kind: str) -> None:
        if name not in self._known:
            self._known[name] = kind
            self._pattern = None

    def _called(self, name: str, kind: str) -> str:
        if is_pseudonym(name):
            return name
        # A person and a host stay the same in capitals.
        key = _short(name).lower() if kind == "host" else name.casefold()
        if key not in self._given:
            self._counts[kind] += 1
            self._given[key] = f"{kind}-{self._counts[kind]}"
        return self._given[key]


def _short(host: str) -> str:
    """A host without its domain, where the first part alone can be nothing else."""
    first = host.partition(".")[0]
    return first if is_hostlike(first) else host


def _words(known: Mapping[str, str], families: Iterable[str]) -> re.Pattern[str]:
    longest = sorted(known, key=len, reverse=True)
    users = _union(name for name in longest if known[name] == "user")
    # Short ones only as they are: a100 may be a host where A100 is a device.
    hosts = "|".join(
        f"(?i:{re.escape(name)})" if len(name) >= 6 else re.escape(name)
        for name in longest
        if known[name] == "host"
    )
    stems = _union(sorted(families, key=len, reverse=True))
    # `jdoe1234` is no part of another word: it may be grown together with one.
    grown = _union(
        name
        for name in longest
        if known[name] == "user" and len(name) >= 6 and name.isalnum() and not name.isalpha()
    )
    forms = (
        ("user", users, rf"(?<![A-Za-z0-9])(?i:{users})(?![A-Za-z0-9])"),
        # A host of the same domain is another one.
        ("host", hosts, rf"(?<![A-Za-z0-9.])(?:{hosts})(?![A-Za-z0-9])"),
        ("stem", stems, rf"(?<![A-Za-z0-9-])(?:{stems})\d{{1,6}}(?![A-Za-z0-9])"),
        ("grown", grown, rf"(?i:{grown})"),
    )
    # Without a name there is nothing to find: (?!) never matches.
    return re.compile(
        "|".join(f"(?P<{what}>{form if names else '(?!)'})" for what, names, form in forms)
    )


def _union(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names))
