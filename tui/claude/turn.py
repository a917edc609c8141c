"""One question and what came of it, in the order in which it came."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from mltd.diagnosis.events import (
    Answered,
    Cancelled,
    Checking,
    Failed,
    Replied,
    Retrying,
    Text,
    Thinking,
    ToolCalled,
    ToolDone,
    Usage,
    Wrapping,
)

from .flow import Flow

if TYPE_CHECKING:
    from mltd.diagnosis.events import Event

    from ..engine.consult_protocol import Consulted, OpinionPage


class State(StrEnum):
    """How far a question has come."""

    ASKED = "asked"
    CHECKING = "checking"
    """There is an answer, and its citations are looked up."""
    STOPPING = "stopping"
    OPINION = "opinion"
    REPLIED = "replied"
    """Answered in words alone."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    """The engine ended under it."""

    @property
    def is_over(self) -> bool:
        """True if nothing more will come."""
        return self not in (State.ASKED, State.CHECKING, State.STOPPING)


@dataclass(slots=True)
class Words:
    """Something said or thought without a pause."""

    is_thought: bool
    flow: Flow


@dataclass(slots=True)
class Look:
    """One use of a tool."""

    id: str
    name: str
    what: str = ""
    result: str = ""
    is_error: bool = False
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that explains a wait or a haste."""

    label: str
    text: str


Item: TypeAlias = Words | Look | Notice


@dataclass(slots=True)
class Turn:
    """A question, what was said, thought and looked at, and how it ended."""

    question: str = ""
    """Empty for the first one, which sends the evidence."""
    items: list[Item] = field(default_factory=list)
    state: State = State.ASKED
    page: OpinionPage | None = None
    usage: Usage | None = None
    problem: str = ""
    hint: str = ""
    at: datetime | None = None
    """When it was kept; None if it is of today."""
    model: str = ""
    kept_at: datetime | None = None
    """Under which time the session keeps it; None if it does not."""
    is_undone: bool = False
    """It was taken out of the session again."""
    checking: Checking | None = None
    """How far the check of its citations has come."""
    version: int = 0
    """Counts changes, for whoever has laid it out already."""

    @property
    def said(self) -> str:
        """All that was said, thoughts left out."""
        words = (one for one in self.items if isinstance(one, Words) and not one.is_thought)
        return "\n\n".join(one.flow.text for one in words)

    @property
    def looks(self) -> list[Look]:
        """Every look, in order."""
        return [item for item in self.items if isinstance(item, Look)]

    @property
    def is_pending(self) -> bool:
        """True if an opinion was kept and is not laid out yet."""
        return self.state is State.OPINION and self.page is None and not self.problem

    def take(self, event: Event) -> None:
        """One thing that happened."""
        self.version += 1
        match event:
            case Thinking(text):
                self._say(text, is_thought=True)
            case Text(text):
                self._say(text, is_thought=False)
            case ToolCalled(id, name, brief):
                self.items.append(Look(id, name, brief))
            case ToolDone(id, brief, is_error):
                self._finish(id, brief, is_error=is_error)
            case Usage():
                self.usage = event
            case Retrying(seconds, why):
                self.items.append(Notice("waits", f"{seconds:.0f} s, then asks again: {why}"))
            case Wrapping(why):
                self.items.append(Notice("told", f"to answer now with what it has: {why}"))
            case Answered():
                self._go_on(State.CHECKING)
            case Checking():
                self.checking = event
            case Replied(text):
                if not self.said.strip():
                    self._say(text, is_thought=False)
            case Failed(sentence, hint):
                self.problem, self.hint = sentence, hint
            case Cancelled():
                self._go_on(State.STOPPING)

    def stop(self) -> None:
        """The user wants it to end."""
        self.version += 1
        self._go_on(State.STOPPING)

    def end(self, news: Consulted) -> None:
        """The last that is said about it."""
        self.version += 1
        self.page = news.page
        if any((news.usage.input, news.usage.output, news.usage.cached)):
            self.usage = news.usage  # else it never got so far
        self.problem, self.hint = news.problem, news.hint
        if news.text and not self.said.strip():
            self._say(news.text, is_thought=False)
        if news.page is not None:
            self.state = State.OPINION
        elif news.is_cancelled:
            self.state = State.CANCELLED
        else:
            self.state = State.FAILED if news.problem else State.REPLIED

    def set_undone(self, is_undone: bool) -> None:
        """It was taken out of the session, or is back again."""
        if is_undone != self.is_undone:
            self.version += 1
            self.is_undone = is_undone

    def lose(self, sentence: str) -> None:
        """Nothing more will come."""
        self.version += 1
        self.state, self.problem, self.hint = State.LOST, sentence, ""

    def show_page(self, page: OpinionPage | None) -> None:
        """What was kept of it is laid out; None if there is no opinion in it."""
        self.version += 1
        self.page = page
        if page is None and self.state is State.OPINION:
            self.problem = "What was kept of this opinion cannot be read"

    def _go_on(self, state: State) -> None:
        # Whoever stops it has the last word about what is shown until it has stopped.
        if not self.state.is_over and self.state is not State.STOPPING:
            self.state = state

    def _say(self, text: str, *, is_thought: bool) -> None:
        if not text:
            return
        last = self.items[-1] if self.items else None
        if not (isinstance(last, Words) and last.is_thought == is_thought):
            text = text.lstrip("\n")  # a paragraph that stands below a look
            last = Words(is_thought, Flow(meaning="quiet" if is_thought else ""))
            self.items.append(last)
        last.flow.add(text)

    def _finish(self, id: str, brief: str, *, is_error: bool) -> None:  # noqa: A002 - what it is
        for look in reversed(self.looks):
            if look.id == id and not look.is_done:
                break
        else:
            look = Look(id, "a look")
            self.items.append(look)
        look.result, look.is_error, look.is_done = brief, is_error, True
