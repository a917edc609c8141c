"""A conversation with Claude about a run, as far as the screen knows it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from .keeping import kept_turn
from .turn import State, Turn

if TYPE_CHECKING:
    from pydantic import JsonValue

    from mltd.diagnosis.events import Event, Usage

    from ..engine.consult_protocol import Consulted, OpinionPage, Packed


class Stage(StrEnum):
    """What is done about the evidence."""

    NONE = "none"
    PACKING = "packing"
    PACKED = "packed"
    """It waits for somebody's consent, or was sent."""
    REFUSED = "refused"
    """It cannot be asked about."""
    DECLINED = "declined"


class Talk:
    """Questions and answers, the newest last; told what happens, it never asks for anything."""

    def __init__(
        self,
        ticket: int,
        run: int,
        about: str,
        clock: Callable[[], float] = time.monotonic,
        earlier: Sequence[Turn] = (),
    ) -> None:
        """`earlier` are turns of conversations that are over: still shown, not gone on with."""
        self.ticket = ticket
        self.run = run
        self.about = about
        self.turns: list[Turn] = list(earlier)
        self._first = len(earlier)
        self.model = ""
        """Who is asked; empty if nobody said so yet."""
        self.stage = Stage.NONE
        self.problem = self.hint = ""
        """Why the evidence could not be got ready."""
        self.is_kept = False
        """It is of an earlier day."""
        self.version = 0
        self._clock = clock
        self._began = self._before = 0.0
        self._is_lost = False

    @classmethod
    def kept(
        cls,
        ticket: int,
        run: int,
        about: str,
        records: Sequence[tuple[datetime, Mapping[str, JsonValue]]],
    ) -> Talk:
        """What a session has kept of earlier conversations; nobody can go on with it."""
        talk = cls(ticket, run, about)
        talk.is_kept = True
        talk.turns = [kept_turn(at, body) for at, body in records]
        talk.model = next((turn.model for turn in reversed(talk.turns) if turn.model), "")
        return talk

    # -- what is known of it ---------------------------------------------------------------

    @property
    def is_packing(self) -> bool:
        """The evidence is being got ready; nothing was sent."""
        return self.stage is Stage.PACKING

    @property
    def is_asking(self) -> bool:
        """A question is under way."""
        return bool(self.turns) and not self.turns[-1].state.is_over

    @property
    def is_stopping(self) -> bool:
        """The user has stopped the question, and it has not ended yet."""
        return self.is_asking and self.turns[-1].state is State.STOPPING

    @property
    def is_busy(self) -> bool:
        """Something is being done about it."""
        return self.is_packing or self.is_asking

    @property
    def is_live(self) -> bool:
        """The engine knows of it, so that it may go on."""
        return not (self.is_kept or self._is_lost)

    @property
    def can_follow_up(self) -> bool:
        """There is an answer that one can ask about."""
        own = self.turns[self._first :]
        has_answer = any(turn.state in (State.OPINION, State.REPLIED) for turn in own)
        return self.is_live and has_answer and not self.is_busy

    @property
    def usage(self) -> Usage | None:
        """What it has used so far, all questions together."""
        own = self.turns[self._first :]
        return next((turn.usage for turn in reversed(own) if turn.usage), None)

    @property
    def seconds(self) -> float:
        """How long all questions took, that under way included."""
        if self.is_asking:
            return self._before + max(0.0, self._clock() - self._began)
        return self.usage.seconds if self.usage is not None else 0.0

    @property
    def page(self) -> OpinionPage | None:
        """The newest opinion."""
        there = (turn.page for turn in reversed(self.turns) if not turn.is_undone)
        return next((page for page in there if page is not None), None)

    # -- what happens ----------------------------------------------------------------------

    def pack(self) -> None:
        """The evidence is being got ready."""
        self._enter(Stage.PACKING)

    def packed(self, news: Packed) -> None:
        """It is ready, or cannot be."""
        self._enter(Stage.REFUSED if news.preview is None else Stage.PACKED)
        self.problem, self.hint = news.problem, news.hint
        if news.preview is not None:
            self.model = news.preview.model

    def decline(self) -> None:
        """Somebody did not agree: nothing is sent."""
        self._enter(Stage.DECLINED)

    def begin(self, question: str = "") -> None:
        """A question is on its way; the first one is the evidence."""
        self._before = self.seconds
        self._began = self._clock()
        self._enter(Stage.PACKED)
        self.turns.append(Turn(question))

    def take(self, events: Sequence[Event]) -> None:
        """What happened since the last time."""
        if not self.is_asking:
            return
        self.version += 1
        for event in events:
            self.turns[-1].take(event)

    def end(self, news: Consulted) -> None:
        """The question has come to its end."""
        if not self.is_asking:
            return
        self.version += 1
        self.turns[-1].end(news)
        self.model = self.model or _model_in(news.body)

    def stop(self) -> None:
        """The user wants it to end; what came stays."""
        self.version += 1
        if self.is_asking:
            self.turns[-1].stop()
        elif self.is_packing:
            self.decline()

    def lose(self, sentence: str) -> None:
        """The engine has ended: nothing more will come, and nobody can go on with it."""
        self.version += 1
        self._is_lost = True
        if self.is_asking:
            self.turns[-1].lose(sentence)
        elif self.is_packing:
            self._enter(Stage.REFUSED)
            self.problem = sentence

    def lay_out(self, pages: Sequence[OpinionPage | None]) -> None:
        """The kept opinions, as they are drawn."""
        self.version += 1
        for turn, page in zip(self.turns, pages, strict=False):
            turn.show_page(page)

    def _enter(self, stage: Stage) -> None:
        self.version += 1
        self.stage, self.problem, self.hint = stage, "", ""


def _model_in(body: str) -> str:
    try:
        found = json.loads(body)
    except ValueError:
        return ""
    model = found.get("model") if isinstance(found, dict) else None
    return model if isinstance(model, str) else ""
