"""The line in which one asks Claude on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from .steady_input import SteadyInput

MOST_CHARACTERS = 4_000
PLACEHOLDER = "a asks on about this answer; c begins anew"


class QuestionInput(SteadyInput):
    """A line into which several may be pasted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="question.leave"),
    ]

    class Left(Message):
        """The user has had enough of writing; what is written stays."""

    def action_leave(self) -> None:
        """Give the keys back."""
        self.post_message(self.Left())

    def _on_paste(self, event: events.Paste) -> None:
        # Textual would keep the first line alone, and say nothing about the rest.
        joined = " ".join(event.text.split())
        super()._on_paste(events.Paste(joined))
        event.stop()
        event.prevent_default()


class QuestionBar(Horizontal):
    """Takes one question; says at once if it is too long."""

    @dataclass
    class Entered(Message):
        """The user has asked something."""

        text: str

    @dataclass
    class Refused(Message):
        """It cannot be asked like this."""

        sentence: str

    def compose(self) -> ComposeResult:
        """Who speaks, and what."""
        yield Static("You", id="diagnosis-you", markup=False)
        yield QuestionInput(
            placeholder=PLACEHOLDER, compact=True, select_on_focus=False, id="diagnosis-question"
        )

    @property
    def is_typing(self) -> bool:
        """True while keys go here."""
        # Asked before there is anything to type into, while the pane is being made.
        return any(field.has_focus for field in self.query(QuestionInput))

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.query_one(QuestionInput).value

    def open(self) -> None:
        """Begin to ask; what was written before is still there."""
        # At once, not by `focus`, which waits a turn: the next letters may be on their way.
        self.screen.set_focus(self.query_one(QuestionInput))

    def clear(self) -> None:
        """It was asked."""
        self.query_one(QuestionInput).value = ""

    @on(Input.Changed)
    def _keep_changes(self, event: Input.Changed) -> None:
        event.stop()

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        if len(text) > MOST_CHARACTERS:
            self.post_message(
                self.Refused(
                    f"The question has {len(text):,} characters; at most {MOST_CHARACTERS:,} can "
                    "be asked. Claude can look into the files itself: name the place instead."
                )
            )
        elif text:
            self.post_message(self.Entered(text))
