"""The rules in `rules.toml`, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from ..event import EventKind
from .rule import FAILURES, EventRule


@cache
def rules() -> tuple[EventRule, ...]:
    """All rules, in the order in which they are tried."""
    text = resources.files(__package__).joinpath("rules.toml").read_text(encoding="utf-8")
    return tuple(read_rule(entry) for entry in tomllib.loads(text)["rule"])


Needle = tuple[str, tuple[int, ...]]
"""A text, and the numbers of the rules that want it."""

_STEM_LENGTH = 4


def candidates(lowered: str) -> list[int]:
    """Numbers of the rules of which some needle is in a line, in order."""
    stems = _stems(is_ascii=True)
    if not lowered.isascii():
        stems += _stems(is_ascii=False)
    hits = [needles for stem, needles in stems if stem in lowered]
    if not hits:
        return []
    return sorted(
        {
            number
            for needles in hits
            for needle, numbers in needles
            if needle in lowered
            for number in numbers
        }
    )


@cache
def _stems(*, is_ascii: bool) -> tuple[tuple[str, tuple[Needle, ...]], ...]:
    """Needles under few short texts that they share, so that most lines are passed quickly."""
    numbers: dict[str, list[int]] = {}
    for number, rule in enumerate(rules()):
        for needle in rule.needles:
            if needle.isascii() == is_ascii:
                numbers.setdefault(needle, []).append(number)
    holders: dict[str, set[str]] = {}
    for needle in numbers:
        for stem in _parts(needle):
            holders.setdefault(stem, set()).add(needle)
    stems = []
    while holders:
        most = max(map(len, holders.values()))
        best = max(stem for stem, held in holders.items() if len(held) == most)
        taken = sorted(holders[best])
        stems.append((best, tuple((needle, tuple(numbers[needle])) for needle in taken)))
        # Counted down, not anew: with hundreds of needles that is a fifth of the time.
        for needle in taken:
            for stem in _parts(needle):
                holders[stem].discard(needle)
                if not holders[stem]:
                    del holders[stem]
    return tuple(stems)


def _parts(needle: str) -> set[str]:
    ends = range(_STEM_LENGTH, max(_STEM_LENGTH, len(needle)) + 1)
    return {needle[end - _STEM_LENGTH : end] for end in ends}


def read_rule(entry: Mapping[str, Any]) -> EventRule:
    """One `[[rule]]` table as a rule; a mistake in it is a mistake of its author."""
    kind = EventKind(entry["kind"])
    needles = tuple(entry["any"])
    if not needles or any(needle != needle.lower() or not needle for needle in needles):
        raise ValueError(f"rule {entry['id']}: `any` must hold lower-case texts")
    return EventRule(
        id=entry["id"],
        kind=kind,
        needles=needles,
        pattern=entry.get("pattern", ""),
        unless=entry.get("unless", ""),
        title=entry.get("title", "{tail}"),
        collector=entry.get("collector", "line"),
        is_terminal=entry.get("terminal", kind in FAILURES),
        is_guarded=entry.get("guarded", True),
        examples=tuple(entry.get("examples", ())),
        quiet=tuple(entry.get("quiet", ())),
    )
