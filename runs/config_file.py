"""The user's configuration file, `mltd/config.toml`: what may be in it, and what is wrong with it.

A mistake never costs more than itself: whatever is known and valid is applied, and for the rest
there is a `Mistake` that says what is used instead. This module needs no numpy, because the screen
reads the file as well.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from .errors import SettingsError
from .toml_lines import Place, key_lines, line_of

ADVICE = "see `docs/configuration.md`"


class Mistake(NamedTuple):
    """Something in the file that is ignored or replaced."""

    line: int
    """Where it is; 0 if that is unknown."""
    message: str
    """What is wrong, and what is used instead."""

    def told(self, path: str) -> str:
        """The sentence with its place, as compilers print it."""
        return f"{path}:{self.line}: {self.message}" if self.line else f"{path}: {self.message}"


class ConfigFile(NamedTuple):
    """The valid part of the file."""

    path: str
    table: Mapping[str, Any]
    """Known tables with known keys and valid values alone."""
    mistakes: tuple[Mistake, ...] = ()
    lines: Mapping[Place, int] = {}

    def line_of(self, *place: str | int) -> int:
        """The line of a key; 0 if it is unknown."""
        return line_of(self.lines, place)

    def told(self) -> tuple[str, ...]:
        """All mistakes as sentences with their place."""
        return tuple(mistake.told(self.path) for mistake in self.mistakes)


def config_directory() -> Path:
    """The folder of the user's own files."""
    return config_path().parent


def config_path() -> Path:
    """The path of the configuration file, whether or not there is one."""
    return _config_below(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))


@lru_cache(maxsize=4)  # asked for at every update of a run
def _config_below(folder: str) -> Path:
    return Path(folder, "mltd", "config.toml")


def read_config(path: Path | None = None) -> ConfigFile:
    """The valid part of the file and its mistakes; `SettingsError` if it is not TOML at all."""
    path = path or config_path()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ConfigFile(str(path), {})
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    return parse_config(text, str(path))


def parse_config(text: str, path: str) -> ConfigFile:
    """The same for the text of a file."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from None
    lines = key_lines(text)
    table: dict[str, Any] = {}
    found: _Wrong = []
    for name, value in document.items():
        if name not in _TABLES:
            found.append(((name,), _unknown_table(name, value)))
        else:
            table[name], wrong = _TABLES[name](name, value)
            found += wrong
    mistakes = sorted(Mistake(line_of(lines, place), message) for place, message in found)
    return ConfigFile(path, table, tuple(mistakes), lines)


def _unreadable(path: Path | str, error: Exception) -> SettingsError:
    return SettingsError(f"{path} cannot be read: {error}", hint="correct or remove it")


def nearest(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    """The known name that a misspelt one may stand for; empty if none is close."""
    return next(iter(get_close_matches(name.lower(), list(known), 1)), "")


# -- values -------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """What a value must be."""

    wording: str
    is_met: Callable[[Any], bool]
    instead: str
    """What is used if it is not."""
    repaired: Callable[[Any], Any] = lambda _value: None
    """The value that is used instead, if there is one to be applied."""


def _switch(instead: str, default: bool | None = None) -> _Rule:
    return _Rule(
        "true or false", lambda value: isinstance(value, bool), instead, lambda _value: default
    )


def _number(low: float, high: float, default: float, *, is_whole: bool = False) -> _Rule:
    """A number in a range; what exceeds a limit is replaced by the limit."""

    def is_number(value: object) -> bool:
        kinds = int if is_whole else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool) and value == value

    def repaired(value: Any) -> Any:
        limit = low if is_number(value) and value < low else high
        return (int(limit) if is_whole else limit) if is_number(value) else None

    what = "a whole number" if is_whole else "a number"
    wording = f"{what} from {low:g} to {high:g}"
    return _Rule(wording, lambda v: is_number(v) and low <= v <= high, f"{default:g}", repaired)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


_SCREEN = {
    "theme": _Rule("the name of a theme", _is_text, "the theme chosen last"),
    "unicode": _switch("what the locale says"),
    "bell": _switch("false"),
    "desktop_notifications": _Rule(
        '"osc9", "osc777" or false',
        lambda value: value in ("osc9", "osc777") or value is False,
        "false",
    ),
}
_FOLLOW = {
    "poll_seconds": _Rule(
        "a number of seconds above 0, up to 3600",
        lambda v: isinstance(v, int | float) and not isinstance(v, bool) and 0 < v <= 3600,
        "inotify",
    ),
}
_CLAUDE = {
    # Whoever mentions the switch means to turn it off.
    "enabled": _switch("false", default=False),
    "model": _Rule('a name such as "claude-sonnet-5-5"', _is_text, "the usual model"),
    "pack_tokens": _number(1_000, 500_000, 24_000, is_whole=True),
    "budget_tokens": _number(1_000, 100_000_000, 300_000, is_whole=True),
    "max_dollars": _number(0.01, 10_000, 2),
    "seconds": _number(1, 3600, 300),
    "rounds": _number(0, 200, 12, is_whole=True),
    "answer_tokens": _number(1_024, 128_000, 16_000, is_whole=True),
    "sources": _Rule('a list of folders such as ["~/project"]', _is_list_of_text, "none"),
}
_PATTERN = ("name", "regex")

_Wrong = list[tuple[Place, str]]
_Checked = tuple[Any, _Wrong]


def _closed(rules: Mapping[str, _Rule]) -> Callable[[str, Any], _Checked]:
    """A table in which every key is known."""

    def check(table: str, values: Any) -> _Checked:
        if not isinstance(values, dict):
            return {}, [((table,), _no_table(table))]
        valid: dict[str, Any] = {}
        wrong: _Wrong = []
        for name, value in values.items():
            rule = rules.get(name)
            if rule is None:
                wrong.append(((table, name), _unknown_key(name, table, rules)))
            elif rule.is_met(value):
                valid[name] = value
            else:
                repaired = rule.repaired(value)
                if repaired is not None:
                    valid[name] = repaired
                instead = rule.instead if repaired is None else shown(repaired)
                message = f"{table}.{name} = {shown(value)} must be {rule.wording}; using {instead}"
                wrong.append(((table, name), message))
        return valid, wrong

    return check


def _texts(example: str) -> Callable[[str, Any], _Checked]:
    """A table of the user's own names, with a text for each."""

    def check(table: str, values: Any) -> _Checked:
        if not isinstance(values, dict):
            return {}, [((table,), _no_table(table))]
        valid: dict[str, Any] = {}
        wrong: _Wrong = []
        for place, value in _flat(values):
            name = ".".join(place)
            if isinstance(value, str):
                valid[name] = value
            else:
                message = f'{table}."{name}" = {shown(value)} must be a text such as {example}'
                wrong.append(((table, *place), f"{message}; ignored"))
        return valid, wrong

    return check


def _flat(table: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    # log.follow = "e" without quotes is a table in a table: what is meant is clear.
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _patterns(table: str, entries: Any) -> _Checked:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return [], [((table,), "write [[pattern]] above each pattern; ignored")]
    valid: list[dict[str, str]] = []
    wrong: _Wrong = []
    for number, entry in enumerate(entries):
        named = {"name": f"pattern {number + 1}"}
        for name, value in entry.items():
            if name not in _PATTERN:
                message = _unknown_key(name, "[pattern]", _PATTERN)
            elif not isinstance(value, str):
                message = f"pattern.{name} = {shown(value)} must be a text; ignored"
            else:
                named[name] = value
                continue
            wrong.append(((table, number, name), message))
        if fault := _fault_of_regex(named, is_given="regex" in entry):
            wrong.append(((table, number, "regex"), f"{fault}; the pattern is ignored"))
        elif "regex" in named:
            valid.append(named)
    return valid, wrong


def _fault_of_regex(entry: Mapping[str, str], *, is_given: bool) -> str:
    if "regex" not in entry:
        return "" if is_given else f"{entry['name']!r} needs a text 'regex'"
    try:
        regex = re.compile(entry["regex"])
    except (re.error, OverflowError, RecursionError) as error:
        return f"the regex of {entry['name']!r} is malformed: {error}"
    if not regex.groupindex:
        return f"the regex of {entry['name']!r} has no named group such as (?P<loss>...)"
    return ""


_CLOSED: dict[str, Mapping[str, _Rule]] = {"screen": _SCREEN, "follow": _FOLLOW, "claude": _CLAUDE}
_TABLES: dict[str, Callable[[str, Any], _Checked]] = {
    **{name: _closed(rules) for name, rules in _CLOSED.items()},
    "keys": _texts('"e" or "e,end"'),
    "roles": _texts('"train/loss"'),
    "pattern": _patterns,
}


# -- sentences ----------------------------------------------------------------------------


def _no_table(name: str) -> str:
    return f"[{name}] must be a table; ignored"


def _unknown_table(name: str, value: object) -> str:
    if isinstance(value, dict | list):
        near = nearest(name, _TABLES)
        header = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
        meant = f" (did you mean [{'[pattern]' if near == 'pattern' else near}]?)" if near else ""
        return f"unknown table {header}, ignored{meant}"
    return _unknown_key(name, "", ())


def _unknown_key(name: str, table: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    homes = [home for home, rules in _CLOSED.items() if name in rules]
    if near := nearest(name, known):
        meant = f" (did you mean {near}?)"
    elif homes:
        meant = f" (it belongs in [{homes[0]}])"
    else:
        meant = ""
    where = f" in [{table}]" if table else " outside of all tables"
    return f"unknown key {name}{where}, ignored{meant}"


def shown(value: object) -> str:
    """A value as it may be written in the file, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
