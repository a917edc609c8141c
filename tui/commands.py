"""Every command there is, for the palette, the help and the check of a user's keymap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.dom import DOMNode

from .keymap import Scope, bindings_of
from .screens.main import MainScreen
from .widgets.curves_pane import CurvesPane
from .widgets.findings_pane import FindingsPane
from .widgets.heat_map import HeatMap
from .widgets.log_pane import LogPane

if TYPE_CHECKING:
    from .app import MltdApp

PANES: tuple[tuple[str, type[DOMNode]], ...] = (
    ("Curves", CurvesPane),
    ("Findings", FindingsPane),
    ("Log", LogPane),
    ("Gradients per layer", HeatMap),
)


def owners(app: MltdApp) -> list[tuple[str, type[DOMNode]]]:
    """Who has commands, with a title for each."""
    return [*PANES, ("Everywhere", MainScreen), ("Everywhere", type(app))]


def scopes(app: MltdApp) -> list[Scope]:
    """Commands that share the keyboard: those of a pane with those that work everywhere."""
    everywhere = bindings_of(MainScreen, type(app))
    return [Scope(title, (*bindings_of(kind), *everywhere)) for title, kind in PANES]


def palette(app: MltdApp, main: MainScreen) -> Iterator[SystemCommand]:
    """All commands as the palette lists them."""
    for title, kind in owners(app):
        for binding in bindings_of(kind):
            if not binding.description:
                continue
            shown = (
                binding.description if title == "Everywhere" else f"{title}: {binding.description}"
            )

            async def run(kind: type[DOMNode] = kind, action: str = binding.action) -> None:
                target = next(iter(main.query(kind)), None) if kind is not MainScreen else main
                if kind is type(app):
                    target = app
                if target is not None:
                    if target is not app and target is not main:
                        main.reveal(target)
                    await app.run_action(action, default_namespace=target)

            yield SystemCommand(shown, f"key: {binding.key_display or binding.key}", run)
    for theme in app.themes.suited(app.terminal):

        def choose(name: str = theme) -> None:
            app.theme = name

        yield SystemCommand(f"Theme: {theme}", "change the colours", choose)
