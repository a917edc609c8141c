"""What all panes share: a failure inside one is a notice, never the end of the app."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget


@dataclass
class PaneFailed(Message):
    """Something broke inside a pane; the rest goes on."""

    pane: str
    summary: str
    details: str


class Pane(Widget):
    """A widget whose handlers and drawing may fail without taking the app along."""

    async def _dispatch_message(self, message: Message) -> None:
        """Handle a message; what goes wrong is reported and the pane stays alive."""
        try:
            await super()._dispatch_message(message)
        except Exception as error:  # noqa: BLE001 - a broken pane must not end the app
            self.report_failure(error)

    def render_lines(self, crop: object) -> list[Strip]:
        """Draw; a pane that cannot is blank."""
        try:
            return super().render_lines(crop)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - a broken pane must not end the app
            self.report_failure(error)
            return [Strip.blank(self.size.width)] * getattr(crop, "height", self.size.height)

    def report_failure(self, error: Exception) -> None:
        """Tell the app what broke."""
        self.app.post_message(failure(self.id or type(self).__name__, error))


class GuardedApp(App[None]):
    """An app whose actions may fail: a key that breaks something is a notice, not the end."""

    async def run_action(self, *arguments: Any, **options: Any) -> bool:
        """Do what a key, a click or the palette asks for."""
        try:
            return await super().run_action(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - a broken action must not end the app
            self.post_message(failure("action", error))
            return True


def failure(where: str, error: Exception) -> PaneFailed:
    """What broke, as a message."""
    details = "".join(traceback.format_exception(error))
    return PaneFailed(where, f"{type(error).__name__}: {error}", details)
