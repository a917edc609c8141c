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

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mltd.runs.config_file import ConfigFile, Mistake, config_directory, read_config

__all__ = ["ScreenSettings", "config_directory", "load"]


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """What a user may change about the screen."""

    theme: str | None = None
    unicode: bool | None = None
    bell: bool = False
    desktop_notifications: str = ""
    """`osc9`, `osc777` or empty."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Binding id -> keys, as written; `keymap.check_keymap` says whether they make sense."""
    config: ConfigFile = field(default=ConfigFile("", {}), compare=False)
    """The file that they are from, with its mistakes."""

    @property
    def theme_mistake(self) -> str:
        """What to say if there is no such theme."""
        message = f"there is no theme called {self.theme!r}; using the theme chosen last"
        return Mistake(self.config.line_of("screen", "theme"), message).told(self.config.path)

    def key_mistake(self, name: str, message: str) -> str:
        """What is wrong with the keys of a command, with its place."""
        # A name may be quoted, or be written as tables in tables.
        is_quoted = ("keys", name) in self.config.lines
        line = self.config.line_of("keys", *([name] if is_quoted else name.split(".")))
        return Mistake(line, message).told(self.config.path)


def load(path: Path | None = None) -> ScreenSettings:
    """The user's settings; `SettingsError` if the file is no TOML."""
    return settings_of(read_config(path))


def settings_of(config: ConfigFile) -> ScreenSettings:
    """Settings from the valid part of a file, with the mistakes in all of it."""
    screen, keys = config.table.get("screen", {}), config.table.get("keys", {})
    return ScreenSettings(
        theme=screen.get("theme"),
        unicode=screen.get("unicode"),
        bell=screen.get("bell", False),
        desktop_notifications=screen.get("desktop_notifications") or "",
        keys=keys,
        config=config,
    )
