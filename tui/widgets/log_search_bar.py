"""The line at the bottom of the log into which a pattern or a line number is typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from mltd.runs.sources.line_scan import PatternError, compile_pattern

from .steady_input import SteadyInput

SEARCH = "/"
LINE = ":"


class LogSearchBar(Horizontal):
    """Asks for one text; says at once if it cannot be used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="log.close_bar"),
    ]

    @dataclass
    class Entered(Message):
        """The user typed something usable and pressed Enter."""

        kind: str
        text: str

    @dataclass
    class Closed(Message):
        """The user changed their mind."""

    kind = SEARCH

    def compose(self) -> ComposeResult:
        """What is asked for, the text, and what is wrong with it."""
        yield Static(SEARCH, id="log-bar-kind", markup=False)
        yield SteadyInput(compact=True, select_on_focus=False, id="log-bar-text")
        yield Static("", id="log-bar-problem", markup=False)

    def open(self, kind: str, text: str = "") -> None:
        """Begin to ask."""
        self.kind = kind
        self.display = True
        self.query_one("#log-bar-kind", Static).update(Content(kind))
        field = self.query_one(Input)
        field.placeholder = "regular expression" if kind == SEARCH else "line number"
        field.value = text
        field.cursor_position = len(text)
        self._say("")
        # At once, not by `focus`, which waits a turn: the next letters may be on their way.
        self.screen.set_focus(field)

    def action_close(self) -> None:
        """Ask no more."""
        self.post_message(self.Closed())

    @on(Input.Changed)
    def _check(self, event: Input.Changed) -> None:
        event.stop()
        self._say(self._problem(event.value))

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self._problem(event.value)
        self._say(problem)
        if problem:
            return
        if event.value:
            self.post_message(self.Entered(self.kind, event.value))
        else:
            self.post_message(self.Closed())

    def _problem(self, text: str) -> str:
        if self.kind == LINE:
            is_number = not text or (text.isascii() and text.isdigit() and int(text[:19]) > 0)
            return "" if is_number else "a line number, please"
        try:
            compile_pattern(text)
        except PatternError as error:
            return str(error)
        return ""

    def _say(self, problem: str) -> None:
        self.query_one("#log-bar-problem", Static).update(Content(problem))
