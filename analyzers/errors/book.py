"""The book of messages: what libraries say when something is wrong, and what it means.

The entries are data (`messages/*.toml`); `messages/README.md` explains their fields.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from mltd.runs.event import Event, EventKind

from ..core.failure import is_library, raised

REACH = 4000
"""Characters of a message that are looked at; what it is about stands at its beginning."""
_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Advice:
    """A fix as the book has it: texts with the message's own values to be filled in."""

    cause: str
    change: str
    example: str
    impact: str
    verify: str
    next: str
    is_quick: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of message."""

    rule: str
    finding: str
    pattern: re.Pattern[str]
    exception: re.Pattern[str] | None = None
    code: re.Pattern[str] | None = None
    """Must be found in a source line of the traceback."""
    unless: re.Pattern[str] | None = None
    scope: str = "failure"
    """failure: what ended the run; unresolved: errors that it may have ended with; any."""
    severity: str = ""
    title: str = ""
    issue: str = ""
    causes: Mapping[str, float] = field(default_factory=dict)
    states: bool = True
    """The message says what is wrong, not only that something is."""
    fixes: tuple[Advice, ...] = ()
    examples: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that an event falls under, and what the message filled in."""

    entry: Entry
    groups: Mapping[str, str]
    quote: str
    """The line that says it: exception and message."""


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """All entries; those for special messages stand before the general ones."""
    found: list[Entry] = []
    folder = resources.files(__package__).joinpath("messages")
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if file.name.endswith(".toml"):
            listed = tomllib.loads(file.read_text(encoding="utf-8"))
            found += [_entry(raw, listed) for raw in listed["message"]]
    return tuple(sorted(found, key=lambda entry: entry.rule.startswith("general_")))


@lru_cache(maxsize=1)
def by_rule() -> dict[str, Entry]:
    """Entries by name."""
    return {entry.rule: entry for entry in entries()}


def _entry(raw: dict[str, Any], listed: dict[str, Any]) -> Entry:
    known = dict(raw)
    causes: dict[str, float] = known.pop("causes", None) or listed.get("causes", {})
    first = next(iter(causes), "")
    shared = [one for one in listed.get("fix", ()) if one.get("cause", first) in causes]
    defaults = {"cause": first, **listed.get("defaults", {})}
    fixes = tuple(Advice(**{**defaults, **one}) for one in [*known.pop("fix", ()), *shared])
    for name in ("pattern", "exception", "code", "unless"):
        if name in known:
            known[name] = re.compile(str(known[name]))
    for name in ("examples", "quiet"):
        known[name] = tuple(known.get(name, ()))
    known.setdefault("finding", listed["finding"])
    return Entry(**known, causes=causes, fixes=fixes)


def match(event: Event) -> Match | None:
    """The entry for what an event says; for a chain of exceptions the root counts first."""
    if event.exception and event.kind is not EventKind.WARNING:
        codes = tuple(frame.code for frame in event.frames[-12:] if frame.code)
        own = tuple(f.code for f in event.frames if f.code and not is_library(f.file))
        said = tuple((kind, message[:REACH]) for kind, message in raised(event))
        return _match_raised(said, (*codes, *own))
    return _match_text(event.text[:REACH] or event.title)


@lru_cache(maxsize=4096)
def _match_raised(said: tuple[tuple[str, str], ...], codes: tuple[str, ...]) -> Match | None:
    for is_special in (True, False):
        for kind, message in said:
            text = f"{kind}: {message}" if message else kind
            for entry in entries():
                if (entry.finding != "exception") is not is_special:
                    continue
                if found := _apply(entry, kind, text, codes):
                    return found
    return None


@lru_cache(maxsize=4096)
def _match_text(text: str) -> Match | None:
    for entry in entries():
        if entry.exception is None and (found := _apply(entry, "", text, ())):
            return found
    return None


def _apply(entry: Entry, kind: str, text: str, codes: tuple[str, ...]) -> Match | None:
    if entry.exception is not None and not entry.exception.search(kind):
        return None
    found = entry.pattern.search(text)
    if found is None or (entry.unless is not None and entry.unless.search(text)):
        return None
    if entry.code is not None and not any(entry.code.search(code) for code in codes):
        return None
    start = text.rfind("\n", 0, found.start()) + 1 if not kind else 0
    quote = text[start:].strip().partition("\n")[0]
    groups = {name: value.strip() for name, value in found.groupdict("").items() if value}
    return Match(entry, groups, quote[:300])


def fill(template: str, values: Mapping[str, str]) -> str:
    """A template with its names replaced; unknown ones leave nothing behind."""
    filled = _NAME.sub(lambda name: values.get(name[1], ""), template)
    return re.sub(r"[ \t]{2,}", " ", filled).strip()
