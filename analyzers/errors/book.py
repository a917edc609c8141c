"""The book of messages: what libraries say when something is wrong, and what it means.

The entries are data (`messages/*.toml`); `messages/README.md` explains their fields.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from mltd.runs.event import Event, EventKind, Frame
from mltd.runs.events.telling import telling

from ..core.failure import own_frame, raised
from .quoting import excerpt

REACH = 4000
"""Characters of a message that are looked at; what it is about stands at its beginning."""
FORM_REACH = 600
"""Characters in which the form of a sentence is looked for."""
_NAME = re.compile(r"\{(\w+)\}")
_WORDS = "words.toml"
_WORD = re.compile(r"%(\w+)%")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_CORE = re.compile(
    r"[/\\](?:torch|tensorflow|keras|numpy|jax|jaxlib|flax|paddle|mxnet|pandas)[/\\](?!hub)|"
    r"[/\\]lib[/\\]python[\d.]+[/\\](?!site-packages|dist-packages)"
)
_CONNECTION = re.compile(
    r"ConnectionPool\(host=|Max retries exceeded with url|\burlopen error\b|"
    r"\b(?:Proxy|SSL|Connect|NewConnection|MaxRetry|ClientConnector|EndpointConnection)Error\b"
)
"""Messages of a connection to a service quote in their middle what failed below it: a file of the
address, a socket, a certificate. They are about the connection whatever the quote is about."""


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
    pattern: str
    exception: str = ""
    code: str = ""
    """Must be found in a source line of the traceback."""
    unless: str = ""
    unless_code: str = ""
    """Must not be found in a source line of the traceback."""
    scope: str = "failure"
    """failure: what ended the run; unresolved: errors that it may have ended with;
    cut_short: these, and what an evaluation follows without any training; any."""
    severity: str = ""
    at_end: str = ""
    """Severity if nothing shows that the run went on."""
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
        if file.name.endswith(".toml") and file.name != _WORDS:
            listed = tomllib.loads(file.read_text(encoding="utf-8"))
            found += [_entry(raw, listed) for raw in listed["message"]]
    return tuple(sorted(found, key=lambda entry: _turn(entry.rule)))


def _turn(rule: str) -> int:
    """Special entries first, then those for the form of a sentence, then the vaguest."""
    return 1 if rule.startswith("general_") else 2 if rule.startswith("vague_") else 0


@lru_cache(maxsize=1)
def _words() -> dict[str, str]:
    """Vocabulary that patterns share, by name."""
    file = resources.files(__package__).joinpath("messages").joinpath(_WORDS)
    listed: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))
    return listed


def _spelled_out(pattern: str | list[str]) -> str:
    text = pattern if isinstance(pattern, str) else "|".join(pattern)
    return _WORD.sub(lambda name: f"(?:{_words()[name[1]]})", text)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern on its first use: few are needed for one message, and all take 0.1 s."""
    return re.compile(pattern)


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
    for name in ("pattern", "exception", "code", "unless", "unless_code"):
        if name in known:
            known[name] = _spelled_out(known[name])
    for name in ("examples", "quiet"):
        known[name] = tuple(known.get(name, ()))
    known.setdefault("finding", listed["finding"])
    return Entry(**known, causes=causes, fixes=fixes)


def match(event: Event) -> Match | None:
    """The entry for what an event says; for a chain of exceptions the root counts first."""
    if event.exception and event.kind is not EventKind.WARNING:
        own = own_frame(event)
        inner = [f for f in (_caller(event), *event.frames[-1:]) if f is not own]
        codes = tuple(dict.fromkeys(f.code for f in (own, *inner) if f is not None and f.code))
        said = tuple((kind, telling(message)[:REACH]) for kind, message in raised(event))
        return _match_raised(said, codes)
    return _match_text(telling(event.text[: 4 * REACH])[:REACH] or event.title)


def _caller(event: Event) -> Frame | None:
    """The innermost frame outside of the frameworks' cores: what some library asked of them."""
    return next((f for f in reversed(event.frames) if not _CORE.search(f.file)), None)


@lru_cache(maxsize=4096)
def _match_raised(said: tuple[tuple[str, str], ...], codes: tuple[str, ...]) -> Match | None:
    for kind, message in said:
        if _CONNECTION.search(text := f"{kind}: {message}"):
            for entry in entries():
                if entry.finding == "network_error" and (found := _apply(entry, kind, text, codes)):
                    return found
    for group in _groups():
        for kind, message in said:
            text = f"{kind}: {message}" if message else kind
            for entry in group:
                if found := _apply(entry, kind, text, codes):
                    return found
    return _match_types(said, codes)


def _match_types(said: tuple[tuple[str, str], ...], codes: tuple[str, ...]) -> Match | None:
    """What the names of exceptions say that nobody knows: `ShapeMismatchError` is a sentence."""
    for kind, message in said:
        words = _PARTS.findall(kind.rpartition(".")[2])
        if len(words) < 3 or words[-1] not in ("Error", "Exception"):
            continue
        name = " ".join(words[:-1])
        for text in (f"{name}: {message}", f"{name.capitalize()}: {message}"):
            for entry in entries():
                if _turn(entry.rule) == 1 and (found := _apply(entry, kind, text, codes)):
                    return replace(found, quote=excerpt(f"{kind}: {message}"))
    return None


@lru_cache(maxsize=1)
def _groups() -> tuple[tuple[Entry, ...], ...]:
    """Entries in the order in which a whole chain of exceptions is looked at.

    What a library says word for word counts more than the form of a sentence.
    """
    turns: dict[tuple[int, bool], list[Entry]] = {}
    for entry in entries():
        turns.setdefault((_turn(entry.rule), entry.finding == "exception"), []).append(entry)
    return tuple(tuple(turns[turn]) for turn in sorted(turns))


@lru_cache(maxsize=4096)
def _match_text(text: str) -> Match | None:
    for entry in entries():
        if not entry.exception and (found := _apply(entry, "", text, ())):
            return found
    return None


def _apply(entry: Entry, kind: str, text: str, codes: tuple[str, ...]) -> Match | None:
    if entry.exception and not compiled(entry.exception).search(kind):
        return None
    if _turn(entry.rule):
        text = text[:FORM_REACH]
    found = compiled(entry.pattern).search(text)
    if found is None or (entry.unless and compiled(entry.unless).search(text)):
        return None
    if entry.code and not any(compiled(entry.code).search(code) for code in codes):
        return None
    if entry.unless_code and any(compiled(entry.unless_code).search(code) for code in codes):
        return None
    start = text.rfind("\n", 0, found.start()) + 1
    line = text[start:].partition("\n")[0]
    at = start + len(line) - len(line.lstrip())
    quote = excerpt(line.strip(), found.start() - at, found.end() - at)
    groups = {name: value.strip() for name, value in found.groupdict("").items() if value}
    return Match(entry, groups, quote)


def fill(template: str, values: Mapping[str, str]) -> str:
    """A template with its names replaced; unknown ones leave nothing behind."""
    filled = _NAME.sub(lambda name: values.get(name[1], ""), template)
    return re.sub(r"[ \t]{2,}", " ", filled).strip()
