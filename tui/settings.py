"""The tables `[screen]` and `[keys]` of the user's configuration file.

[screen]
theme = "light"                       # otherwise the one chosen last
unicode = false                       # otherwise what the locale says
bell = true                           # ring when a run turns critical
desktop_notifications = "osc9"        # or "osc777", for terminals that show them

[keys]
"log.follow" = "e,end"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mltd.runs.errors import SettingsError


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """What a user may change about the screen."""

    theme: str | None = None
    unicode: bool | None = None
    bell: bool = False
    desktop_notifications: str = ""
    """`osc9`, `osc777` or empty."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Binding id -> keys, as written; `keymap.checked` says whether they make sense."""


def config_directory() -> Path:
    """Where the user's own files are."""
    # Not taken from `mltd.runs.settings`: that module needs numpy, and the screen has none.
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "mltd")


def load(path: Path | None = None) -> ScreenSettings:
    """The user's settings; `SettingsError` tells everything that is wrong with them."""
    path = path or config_directory() / "config.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ScreenSettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}", hint="correct or remove it"
        ) from None
    return parse(table, str(path))


def parse(table: Mapping[str, Any], path: str) -> ScreenSettings:
    """Settings from a parsed file; other tables of the file are not looked at."""
    faults: list[str] = []
    screen, keys = (_table(table, name, faults) for name in ("screen", "keys"))
    keys = dict(_flat(keys))
    for name, value in screen.items():
        rule = _RULES.get(name)
        if rule is None:
            near = get_close_matches(name, _RULES, 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            faults.append(f"screen.{name} is not known{meant}")
        elif not rule.is_met(value):
            faults.append(f"screen.{name} = {_shown(value)} must be {rule.wording}")
    faults += [
        f'keys."{name}" = {_shown(value)} must be a text such as "e" or "e,end"'
        for name, value in keys.items()
        if not isinstance(value, str)
    ]
    if faults:
        raise SettingsError(
            f"{path}: {', '.join(faults)}", hint="see `docs/themes.md` and `docs/keys.md`"
        )
    return ScreenSettings(
        theme=screen.get("theme"),
        unicode=screen.get("unicode"),
        bell=screen.get("bell", False),
        desktop_notifications=screen.get("desktop_notifications") or "",
        keys=keys,
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    wording: str
    is_met: Callable[[object], bool]


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


_RULES = {
    "theme": _Rule("the name of a theme", lambda value: isinstance(value, str)),
    "unicode": _Rule("true or false", _is_switch),
    "bell": _Rule("true or false", _is_switch),
    "desktop_notifications": _Rule(
        '"osc9", "osc777" or false', lambda value: value in ("osc9", "osc777") or value is False
    ),
}


def _table(table: Mapping[str, Any], name: str, faults: list[str]) -> dict[str, Any]:
    found = table.get(name, {})
    if isinstance(found, dict):
        return found
    faults.append(f"[{name}] must be a table")
    return {}


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    # log.follow = "e" without quotes is a table in a table: what is meant is clear.
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
