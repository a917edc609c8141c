"""What all panes share: a failure inside one is a notice, never the end of the app."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec

from textual.app import App
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

MOST_FAILURES = 50


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
    """An app in which something may break: a key, a timer or a handler; that is a notice."""

    _failure_count = 0
    _has_arrived = False
    """The first picture is there: before that, a failure had better be the end."""

    async def _dispatch_message(self, message: Message) -> None:
        """Handle a message; what goes wrong is reported and the app goes on."""
        try:
            await super()._dispatch_message(message)
        except Exception as error:  # noqa: BLE001 - one broken handler must not end the app
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        """Textual's last resort, for timers and callbacks too: it would end the app."""
        self._failure_count += 1
        # Tests are to see it, and something that breaks all the time cannot be lived with.
        if self.is_headless or not self._has_arrived or self._failure_count > MOST_FAILURES:
            super()._handle_exception(error)
        else:
            self.post_message(failure("the app", error))

    async def run_action(self, *arguments: Any, **options: Any) -> bool:
        """Do what a key, a click or the palette asks for."""
        try:
            return await super().run_action(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - a broken action must not end the app
            self.post_message(failure("action", error))
            return True


Given = ParamSpec("Given")


def tell(
    pane: Pane, method: Callable[Given, object], *given: Given.args, **named: Given.kwargs
) -> None:
    """Give a pane something to show; if that breaks it, the others go on."""
    try:
        method(*given, **named)
    except Exception as error:  # noqa: BLE001 - a broken pane must not end the app
        pane.report_failure(error)


def failure(where: str, error: Exception) -> PaneFailed:
    """What broke, as a message."""
    details = "".join(traceback.format_exception(error))
    return PaneFailed(where, f"{type(error).__name__}: {error}", details)
