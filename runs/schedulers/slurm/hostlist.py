"""Lists that Slurm writes in short: nodes `gpu[01-03,7],login1`, tasks of an array `1-9:2%4`."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_NAMES = 4096
"""Beyond this the names are not written out; no training has so many nodes."""
_TASKS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?")
_RANGE = re.compile(r"([0-9]{1,12})-([0-9]{1,12})")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def expand_nodes(text: str | None) -> tuple[str, ...]:
    """The names of the nodes, in order; nothing if the list makes no sense or is too long."""
    names: list[str] = []
    for part in _split(text or ""):
        grown = _expand(part)
        if grown is None or len(names) + len(grown) > MOST_NAMES:
            return ()
        names.extend(grown)
    return tuple(names)


def _split(text: str) -> Iterator[str]:
    """Parts between commas that stand outside of brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if text[start:]:
        yield text[start:]


def _expand(part: str) -> list[str] | None:
    names = [""]
    place = 0
    for found in _BRACKETS.finditer(part):
        before = part[place : found.start()]
        choices = _choices(found[1])
        if choices is None or len(names) * len(choices) > MOST_NAMES:
            return None
        names = [f"{name}{before}{choice}" for name in names for choice in choices]
        place = found.end()
    rest = part[place:]
    if "[" in rest or "]" in rest:
        return None
    return [name + rest for name in names]


def _choices(inside: str) -> list[str] | None:
    choices: list[str] = []
    for item in inside.split(","):
        ends = _RANGE.fullmatch(item)
        if ends is None:
            choices.append(item)
            continue
        first, last = int(ends[1]), int(ends[2])
        if not first <= last < first + MOST_NAMES:
            return None
        choices.extend(f"{number:0{len(ends[1])}d}" for number in range(first, last + 1))
    return choices if len(choices) <= MOST_NAMES else None


def holds_task(tasks: str | None, task: int) -> bool:
    """True if an index is among `1-10%4`, `1,3,5-9:2`; a list that Slurm cut short with `...`
    holds what stands before the cut."""
    for item in (tasks or "").partition("%")[0].strip("[]").split(","):
        found = _TASKS.fullmatch(item.strip())
        if found is None:
            continue
        first = int(found[1])
        last = first if found[2] is None else int(found[2])
        step = int(found[3] or 1) or 1
        if first <= task <= last and (task - first) % step == 0:
            return True
    return False
