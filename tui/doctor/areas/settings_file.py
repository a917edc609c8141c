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
_CORRECT = "correct or remove it; until then no command starts"
_ADVICE = "correct it: `docs/configuration.md` and `docs/keys.md` list what there is"


_line = partial(Line, AREA)


def config(around: Surroundings) -> Iterator[Line]:
    """Every mistake in it, found by those who will read it."""
    from ... import settings

    path = around.config
    if not path.exists():
        yield _line(State.OK, f"no {path}: everything is as usual")
        return
    try:
        screen = settings.load(path)
    except SettingsError as problem:
        yield _line(State.PROBLEM, problem.message, _CORRECT)
        return
    mistakes = [*screen.config.told(), *_mistakes_of_screen(around, screen)]
    for mistake in mistakes:
        yield _line(State.WARNING, mistake, _ADVICE)
    if not mistakes:
        yield _line(State.OK, f"{path}: readable and without mistakes")


def themes(around: Surroundings) -> Iterator[Line]:
    """Themes of the user's own that are left out."""
    folder = around.config.parent / "themes"
    if not folder.is_dir():
        return
    from ...theming import load_themes

    for problem in load_themes(folder).problems:
        yield _line(State.WARNING, problem, "correct it, or remove it")


def _mistakes_of_screen(around: Surroundings, screen: ScreenSettings) -> Iterator[str]:
    """What only shows when the app is there: names of themes and of commands."""
    if screen.theme is not None:
        from ...theming import load_themes

        if load_themes(around.config.parent / "themes").named(screen.theme) is None:
            yield screen.theme_mistake
    if screen.keys:
        from ...app import MltdApp
        from ...commands import PANES
        from ...keymap import Scope, bindings_of, check_keymap
        from ...screens.main import MainScreen

        everywhere = bindings_of(MainScreen, MltdApp)
        scopes = [Scope(title, (*bindings_of(kind), *everywhere)) for title, kind in PANES]
        for name, message in check_keymap(screen.keys, scopes).mistakes.items():
            yield screen.key_mistake(name, message)


CHECKS = (
    Check(AREA, "the configuration file", config),
    Check(AREA, "the themes", themes),
)
