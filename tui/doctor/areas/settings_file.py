"""The user's configuration file and themes: readable, and without mistakes?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from mltd.runs.errors import SettingsError

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

if TYPE_CHECKING:
    from ...settings import ScreenSettings

AREA = "configuration"
_CORRECT = "correct it; until then no command starts"

_line = partial(Line, AREA)


def config(around: Surroundings) -> Iterator[Line]:
    """Every mistake in it, found by those who will read it."""
    from ... import settings

    path = around.config
    if not path.exists():
        yield _line(State.OK, f"no {path}: everything is as usual")
        return
    faults = []
    screen = None
    try:
        screen = settings.load(path)
    except SettingsError as problem:
        faults.append(_told(problem))
    if not faults or "cannot be read" not in faults[0].fact:
        faults += _faults_of_reading(around)
    if screen is not None:
        faults += _faults_of_screen(around, screen)
    yield from faults
    if not faults:
        yield _line(State.OK, f"{path}: readable and without mistakes")


def themes(around: Surroundings) -> Iterator[Line]:
    """Themes of the user's own that are left out."""
    folder = around.config.parent / "themes"
    if not folder.is_dir():
        return
    from ...theming import load_themes

    for problem in load_themes(folder).problems:
        yield _line(State.WARNING, problem, "correct it, or remove it")


def _faults_of_reading(around: Surroundings) -> Iterator[Line]:
    """What is wrong with the tables that say how logs are read, and how Claude is asked."""
    import tomllib

    from mltd.diagnosis.settings import parse as parse_claude
    from mltd.runs.settings import parse

    table = tomllib.loads(around.config.read_text(encoding="utf-8"))
    for read in (parse, parse_claude):
        try:
            read(table, str(around.config))
        except SettingsError as problem:
            yield _told(problem)


def _faults_of_screen(around: Surroundings, screen: ScreenSettings) -> Iterator[Line]:
    """What only shows when the app is there: names of themes and of commands."""
    if screen.theme is not None:
        from ...theming import load_themes

        if load_themes(around.config.parent / "themes").named(screen.theme) is None:
            fact = f"{around.config}: there is no theme called {screen.theme!r}"
            yield _line(State.WARNING, fact, "`docs/themes.md` lists them")
    if screen.keys:
        from ...app import MltdApp
        from ...commands import PANES
        from ...keymap import Scope, bindings_of, checked
        from ...screens.main import MainScreen

        everywhere = bindings_of(MainScreen, MltdApp)
        scopes = [Scope(title, (*bindings_of(kind), *everywhere)) for title, kind in PANES]
        try:
            checked(screen.keys, scopes, str(around.config))
        except SettingsError as problem:
            yield _line(State.WARNING, problem.message, f"{problem.hint}; the usual keys hold")


def _told(problem: SettingsError) -> Line:
    return _line(State.PROBLEM, problem.message, problem.hint or _CORRECT)


CHECKS = (
    Check(AREA, "the configuration file", config),
    Check(AREA, "the themes", themes),
)
