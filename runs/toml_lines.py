"""Line numbers of the keys of a TOML document, which `tomllib` does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

Place = tuple[str | int, ...]
"""A path of keys into the parsed document; the tables of an array are counted from 0."""

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""[ \t]*("(?:\\.|[^"\\])*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*(\.?)""")
_VALUE_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]''',
    re.DOTALL,
)


def key_lines(text: str) -> dict[Place, int]:
    """The line of every table and key of a valid document, except inside inline tables."""
    lines: dict[Place, int] = {}
    arrays: dict[Place, int] = {}
    table: Place = ()
    # The parser treats both line ends alike, and counts lines by "\n".
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text):
        line = text.count("\n", 0, position) + 1
        is_table, is_array = text[position] == "[", text.startswith("[[", position)
        path, end = _key(text, position + is_table + is_array)
        if not path:
            break
        if is_table:
            table = _resolved(path, arrays)
            if is_array:
                arrays[table] = arrays.get(table, -1) + 1
                table = (*table, arrays[table])
            place = table
            end = text.find("\n", end)
            end = len(text) if end < 0 else end
        else:
            place = (*table, *path)
            end = _end_of_value(text, end)
        for depth in range(1, len(place) + 1):
            lines.setdefault(place[:depth], line)
        position = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    return lines


def line_of(lines: Mapping[Place, int], place: Place) -> int:
    """The line of a key, or of the innermost table around it that has one; 0 if unknown."""
    for depth in range(len(place), 0, -1):
        if place[:depth] in lines:
            return lines[place[:depth]]
    return 0


def _key(text: str, position: int) -> tuple[tuple[str, ...], int]:
    parts = []
    while found := _KEY_PART.match(text, position):
        part, position = found[1], found.end()
        parts.append(next(iter(tomllib.loads(f"{part} = 0"))))
        if not found[2]:
            break
    return tuple(parts), position


def _resolved(path: tuple[str, ...], arrays: Mapping[Place, int]) -> Place:
    """The path with the number of the current table for every array that it leads through."""
    place: Place = ()
    for number, part in enumerate(path, start=1):
        place = (*place, part)
        if place in arrays and number < len(path):
            place = (*place, arrays[place])
    return place


def _end_of_value(text: str, position: int) -> int:
    depth = 0
    while found := _VALUE_TOKEN.search(text, position):
        token, position = found[0], found.end()
        if token in ("[", "{"):
            depth += 1
        elif token in ("]", "}"):
            depth -= 1
        elif token == "\n" and depth <= 0:
            return position
    return len(text)
