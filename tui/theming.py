"""Themes and stylesheets: where they are, and how they get into the app."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import mltd.themes
from mltd.runs.errors import SettingsError

from . import theme_file
from .palette import DEFAULTS
from .settings import config_directory
from .terminal import Terminal
from .theme_file import ScreenTheme

THEMES = Path(mltd.themes.__file__).parent
ORDER = ("dark", "light", "high-contrast", "colour-blind", "ansi", "mono")
"""The themes we bring along, as they follow one another."""


@dataclass(frozen=True, slots=True)
class LoadedThemes:
    """All themes, ours first; what is wrong with the user's own; the stylesheets of both."""

    themes: tuple[ScreenTheme, ...]
    problems: tuple[str, ...] = ()
    stylesheets: tuple[Path, ...] = ()

    def named(self, name: str | None) -> ScreenTheme | None:
        """The theme with this name, if there is one."""
        return next((theme for theme in self.themes if theme.name == name), None)

    def suited(self, terminal: Terminal) -> tuple[str, ...]:
        """Names of the themes that this terminal can show, as they follow one another."""
        return tuple(t.name for t in self.themes if t.least_colours <= terminal.colours)

    def after(self, name: str, terminal: Terminal) -> str:
        """The theme that comes after this one when the user turns the wheel."""
        names = self.suited(terminal)
        return names[(names.index(name) + 1) % len(names)] if name in names else names[0]

    def chosen(self, terminal: Terminal, *wishes: str | None) -> str:
        """The first wish that exists and that the terminal can show, or else the usual theme."""
        names = self.suited(terminal)
        return next((wish for wish in wishes if wish in names), default_theme(terminal))


def default_theme(terminal: Terminal) -> str:
    """The theme for someone who never chose one."""
    if terminal.colours < 16:
        return "mono"
    return "ansi" if terminal.colours < 256 else "dark"


def load_themes(users: Path | None = None) -> LoadedThemes:
    """Our themes and the user's; one of theirs may replace one of ours, a broken one is skipped."""
    users = users or config_directory() / "themes"
    known: dict[str, ScreenTheme] = {}
    for name in ORDER:
        known[name] = theme_file.read(THEMES / f"{name}.toml", {})
    problems: list[str] = []
    sheets = stylesheets()
    for path in _files(users):
        try:
            theme = theme_file.read(path, known)
            sheet = path.with_suffix(".tcss")
            if sheet.is_file():
                _check_stylesheet(sheet, theme)
                sheets.append(sheet)
        except SettingsError as error:
            problems.append(f"theme left out: {error}")
            continue
        known[theme.name] = theme
    return LoadedThemes(tuple(known.values()), tuple(problems), tuple(sheets))


def stylesheets() -> list[Path]:
    """The stylesheets of all parts of the screen; those of single themes come last and win."""
    return sorted(THEMES.glob("*.tcss"), key=lambda path: (path.name.startswith("theme-"), path))


def variables_of(theme: ScreenTheme) -> dict[str, str]:
    """Every variable that a stylesheet may use in this theme."""
    return {**DEFAULTS, **theme.theme.to_color_system().generate(), **theme.theme.variables}


def _files(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.glob("*.toml"))
    except OSError:
        return ()


def _check_stylesheet(path: Path, theme: ScreenTheme) -> None:
    # Checked here, because Textual ends the whole app over one wrong word.
    from textual.css.errors import StylesheetError
    from textual.css.stylesheet import Stylesheet, StylesheetParseError
    from textual.css.tokenizer import TokenError

    sheet = Stylesheet(variables=variables_of(theme))
    try:
        sheet.read(path)
        sheet.parse()
    except StylesheetParseError as error:
        tokens = [token for rule in error.errors.rules for token, _ in rule.errors]
        places = [
            f"line {token.location[0] + 1}: {token.value.strip() or token.name}" for token in tokens
        ]
        problem = ", ".join(dict.fromkeys(places))
    except TokenError as error:
        problem = f"line {error.start[0]}: {error}"
    except StylesheetError as error:
        problem = str(error)
    else:
        return
    raise SettingsError(f"{path}: {problem}", hint="correct or remove it")
