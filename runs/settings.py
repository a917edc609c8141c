"""The user's configuration file: `mltd/config.toml` in the XDG configuration directory.

[roles]                       # raw name as logged -> role
"my objective" = "train/loss"

[[pattern]]                   # named groups become metrics, step/epoch/... coordinates
name = "my trainer"
regex = '^T(?P<step>\\d+) (?P<loss>\\S+)$'

[follow]
poll_seconds = 1.0
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from .errors import SettingsError
from .roles import Roles, shipped
from .text.plan import Pattern, compile_patterns


@dataclass(frozen=True)
class Settings:
    """What a user may change without touching code."""

    roles: Roles
    patterns: tuple[Pattern, ...] = ()
    poll_seconds: float | None = None


def config_path() -> Path:
    """Where the configuration file would be."""
    return _config_below(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))


@lru_cache(maxsize=4)
def _config_below(base: str) -> Path:
    return Path(base, "mltd", "config.toml")


def current() -> Settings:
    """The settings of this user; read again when the file changes."""
    path = config_path()
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        return _defaults()
    return _load(path, stamp)


@lru_cache(maxsize=1)
def _defaults() -> Settings:
    return Settings(shipped())


@lru_cache(maxsize=4)
def _load(path: Path, stamp: int) -> Settings:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}", hint="correct or remove it"
        ) from None
    return parse(table, str(path))


def parse(table: dict[str, object], path: str) -> Settings:
    """Settings from a parsed file; `SettingsError` names what is wrong and where."""
    overrides = _table(table, "roles", path)
    for name, role in overrides.items():
        if not isinstance(role, str):
            raise SettingsError(f"{path}: roles.{name!r} must be a text such as 'train/loss'")
    entries = table.get("pattern", [])
    if not isinstance(entries, list) or not all(
        isinstance(e, dict) and isinstance(e.get("regex"), str) for e in entries
    ):
        raise SettingsError(
            f"{path}: every [[pattern]] needs a text 'regex'", hint="see `docs/configuration.md`"
        )
    patterns = []
    for number, entry in enumerate(entries, start=1):
        named = {"name": f"pattern {number}", **entry}
        try:
            (pattern,) = compile_patterns([named])
        except re.error as error:
            raise SettingsError(
                f"{path}: the regex of {named['name']!r} is malformed: {error}"
            ) from None
        if not pattern.regex.groupindex:
            raise SettingsError(
                f"{path}: the regex of {named['name']!r} has no named group",
                hint="name what it finds: (?P<loss>...)",
            )
        patterns.append(pattern)
    poll = _table(table, "follow", path).get("poll_seconds")
    if poll is not None and (not isinstance(poll, int | float) or not 0 < poll <= 3600):
        raise SettingsError(f"{path}: follow.poll_seconds must be a number of seconds up to 3600")
    roles = (
        shipped()
        if not overrides
        else replace(shipped(), overrides={k: str(v) for k, v in overrides.items()})
    )
    return Settings(roles, tuple(patterns), None if poll is None else float(poll))


def _table(table: dict[str, object], section: str, path: str) -> dict[str, object]:
    found = table.get(section, {})
    if not isinstance(found, dict):
        raise SettingsError(f"{path}: [{section}] must be a table")
    return found
