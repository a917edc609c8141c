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

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from .config_file import ConfigFile, config_path, read_config
from .roles import Roles, shipped
from .text.plan import Pattern, compile_patterns


@dataclass(frozen=True)
class Settings:
    """What a user may change without touching code."""

    roles: Roles
    patterns: tuple[Pattern, ...] = ()
    poll_seconds: float | None = None


def current() -> Settings:
    """The settings of this user, read again when the file changes.

    `SettingsError` if it is no TOML; other mistakes are for `config_file.read_config` to tell.
    """
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
    return settings_of(read_config(path))


def settings_of(config: ConfigFile) -> Settings:
    """Settings from the valid part of a file."""
    overrides = config.table.get("roles")
    roles = replace(shipped(), overrides=dict(overrides)) if overrides else shipped()
    poll = config.table.get("follow", {}).get("poll_seconds")
    patterns = compile_patterns(config.table.get("pattern", ()))
    return Settings(roles, patterns, None if poll is None else float(poll))
