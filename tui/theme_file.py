"""One theme from its file: every value is checked, and every fault is told at once.

name = "dusk"                 # by default the name of the file
title = "Dusk"                # by default the same
dark = true
extends = "dark"              # what is not said here is as in that theme
least_colours = 256           # a terminal with fewer is not offered this theme

[colours]                     # the colours of Textual's own widgets
primary = "#8ab4f0"

[variables]                   # the meanings of palette.DEFAULTS, and Textual's own variables
severity-critical = "#ff7a85"
severity-critical-style = "bold"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.errors import StyleSyntaxError
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.theme import Theme

from mltd.runs.errors import SettingsError

from .palette import DEFAULTS

COLOURS = (
    "primary",
    "secondary",
    "accent",
    "warning",
    "error",
    "success",
    "foreground",
    "background",
    "surface",
    "panel",
)
_TOP = {"name": str, "title": str, "dark": bool, "ansi": bool, "extends": str}
_TOP_KEYS = (*_TOP, "least_colours", "colours", "variables")
_HINT = 'write colours as "#rrggbb", as a CSS colour name or as "ansi_red"'
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
# Textual's widgets use these, and its colour system forgets them for the terminal's own colours.
_FORGOTTEN = ("ansi-background", "ansi-foreground", "surface-active", "foreground-disabled")
_SHARE = re.compile(r"(.+?)\s+\d{1,3}%\Z")


@dataclass(frozen=True, slots=True)
class ScreenTheme:
    """A theme as Textual wants it, and what only we need to know of it."""

    theme: Theme
    title: str
    least_colours: int = 256
    path: Path | None = None

    @property
    def name(self) -> str:
        """How it is called in settings, and as a class of the app: `-theme-<name>`."""
        return self.theme.name

    @property
    def is_mono(self) -> bool:
        """True if no colour may be sent at all."""
        return self.least_colours == 0


def read(path: Path, known: Mapping[str, ScreenTheme]) -> ScreenTheme:
    """The theme in a file; `SettingsError` tells everything that is wrong with it."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}", hint="correct or remove it"
        ) from None
    return parse(table, path, known)


def parse(table: Mapping[str, Any], path: Path, known: Mapping[str, ScreenTheme]) -> ScreenTheme:
    """The theme in a parsed file; `known` are the themes that it may extend."""
    faults = [*_top_faults(table, path.stem), *_colour_faults(table), *_variable_faults(table)]
    name = table.get("name", path.stem)
    base = None
    if not faults and known:
        extends = table.get("extends", "dark" if table.get("dark", True) else "light")
        base = known.get(extends)
        if base is None:
            faults.append(f'extends = "{extends}" is no theme (there are {", ".join(known)})')
    colours = table.get("colours", {})
    if not faults and base is None and "primary" not in colours:
        faults.append("colours.primary is missing")
    if faults:
        raise SettingsError(f"{path}: {', '.join(faults)}", hint=_HINT)
    inherited = {name: getattr(base.theme, name) for name in COLOURS} if base else {}
    is_ansi = table.get("ansi", base.theme.ansi if base else False)
    theme = Theme(
        name=name,
        dark=table.get("dark", base.theme.dark if base else True),
        ansi=is_ansi,
        variables={
            **(dict.fromkeys(_FORGOTTEN, "ansi_default") if is_ansi else {}),
            **(base.theme.variables if base else {}),
            **table.get("variables", {}),
        },
        **{**inherited, **colours},
    )
    least = table.get("least_colours", base.least_colours if base else 256)
    return ScreenTheme(theme, table.get("title", name), least, path)


def _top_faults(table: Mapping[str, Any], stem: str) -> list[str]:
    faults = [_unknown(key, key, _TOP_KEYS) for key in table if key not in _TOP_KEYS]
    faults += [
        f"{key} = {table[key]!r} must be {'a text' if kind is str else 'true or false'}"
        for key, kind in _TOP.items()
        if key in table and not isinstance(table[key], kind)
    ]
    name = table.get("name", stem)
    if isinstance(name, str) and not _NAME.match(name):
        faults.append(f'name = "{name}" must be small letters, digits and hyphens')
    least = table.get("least_colours", 256)
    if isinstance(least, bool) or not isinstance(least, int) or least < 0:
        faults.append(f"least_colours = {least!r} must be a number such as 0, 16 or 256")
    return faults


def _colour_faults(table: Mapping[str, Any]) -> list[str]:
    colours = table.get("colours", {})
    if not isinstance(colours, dict):
        return ["[colours] must be a table"]
    faults = []
    for key, value in colours.items():
        if key not in COLOURS:
            faults.append(_unknown(f"colours.{key}", key, COLOURS))
        elif not is_colour(value):
            faults.append(f'colours.{key} = "{value}" is no colour')
    return faults


def _variable_faults(table: Mapping[str, Any]) -> list[str]:
    variables = table.get("variables", {})
    if not isinstance(variables, dict):
        return ["[variables] must be a table"]
    faults = []
    for key, value in variables.items():
        if key not in known_variables():
            faults.append(_unknown(f"variables.{key}", key, known_variables()))
        elif key.endswith("-style"):
            if not _is_style(value):
                faults.append(f'variables.{key} = "{value}" is no text style such as "bold"')
        elif not is_colour(value) and not (key not in DEFAULTS and _is_css_colour(value)):
            faults.append(f'variables.{key} = "{value}" is no colour')
    return faults


@lru_cache(maxsize=1)
def known_variables() -> frozenset[str]:
    """Every variable that a theme may set."""
    textual = Theme(name="any", primary="#808080").to_color_system().generate()
    return frozenset((*DEFAULTS, *(f"{meaning}-style" for meaning in DEFAULTS), *textual))


def is_colour(value: object) -> bool:
    """True if it is a colour in both a stylesheet and a style."""
    if not isinstance(value, str):
        return False
    try:
        Color.parse(value)
    except ColorParseError:
        return False
    return True


def _is_css_colour(value: object) -> bool:
    # Stylesheets know a little more: "initial", "auto 87%", "#ffffff 20%".
    if not isinstance(value, str):
        return False
    share = _SHARE.match(value)
    return value == "initial" or (share is not None and (share[1] == "auto" or is_colour(share[1])))


def _is_style(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        style = Style.parse(value or "none")
    except StyleSyntaxError:
        return False
    return style.color is None and style.bgcolor is None and style.link is None


def _unknown(shown: str, key: str, known: Any) -> str:
    near = get_close_matches(key, known, 1)
    return f"{shown} is not known" + (f" (did you mean {near[0]}?)" if near else "")
