"""Every command there is, for the palette, the help and the check of a user's keymap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.dom import DOMNode
from textual.widget import Widget

from .keymap import Scope, bindings_of
from .screens.main import MainScreen
from .widgets.checklist_pane import ChecklistPane
from .widgets.curves_pane import CurvesPane
from .widgets.diagnosis_pane import DiagnosisPane
from .widgets.findings_pane import FindingsPane
from .widgets.heat_map import HeatMap
from .widgets.log_pane import LogPane
from .widgets.model_pane import ModelPane

if TYPE_CHECKING:
    from .app import MltdApp

PANES: tuple[tuple[str, type[Widget]], ...] = (
    ("Curves", CurvesPane),
    ("Findings", FindingsPane),
    ("Log", LogPane),
    ("Gradients per layer", HeatMap),
    ("Checklist", ChecklistPane),
    ("Claude", DiagnosisPane),
    ("Model", ModelPane),
)

LATE_PANES: dict[type[DOMNode], str] = {DiagnosisPane: "diagnosis", ModelPane: "model"}
"""With the views that make them."""


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
                await app.run_action(action, default_namespace=_target(app, main, kind))

            yield SystemCommand(shown, f"key: {binding.key_display or binding.key}", run)
    for theme in app.themes.suited(app.terminal):

        def choose(name: str = theme) -> None:
            app.theme = name

        yield SystemCommand(f"Theme: {theme}", "change the colours", choose)


def _target(app: MltdApp, main: MainScreen, kind: type[DOMNode]) -> DOMNode:
    """Who carries out a command of this kind; a pane is brought into view for it."""
    if kind in LATE_PANES:
        # It is made when it is first looked at.
        main.action_view(LATE_PANES[kind])
    for _, pane in PANES:
        if pane is kind and (found := main.query(pane)):
            main.reveal(found.first())
            return found.first()
    return main if kind is MainScreen else app
