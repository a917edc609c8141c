"""What the engine grants about second opinions; nothing of them is imported before it is wanted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from ..consult_protocol import (
    Consult,
    Consulted,
    ConsultNews,
    ConsultWish,
    FollowUp,
    KeptOpinions,
    OpinionRequest,
    Packed,
    PackRequest,
    StopConsult,
)
from .errands import Leave, beside

if TYPE_CHECKING:
    from datetime import datetime

    from mltd.diagnosis.citations import CheckedOpinion

    from ..consult_protocol import OpinionPage
    from ..followed_run import FollowedRun
    from .conversation import Conversation
    from .packing import Packing
    from .question import Question

MOST_KEPT = 4
"""Conversations that can be gone on with; each keeps its runs in memory."""


class ConsultDesk:
    """Lives in the main loop; what takes long is done by threads that leave their results here."""

    def __init__(
        self,
        send: Callable[[ConsultNews], None],
        leave: Leave,
        at_hand: Callable[[int], FollowedRun | None],
        followed: Mapping[int, FollowedRun],
    ) -> None:
        """`send` may be called by any thread; `at_hand` follows a run if nobody does yet."""
        self._send = send
        self._leave = leave
        self._at_hand = at_hand
        self._followed = followed
        self._packings: dict[int, Packing] = {}
        self._kept: dict[int, Conversation] = {}
        """By ticket, the one that was used last at the end."""
        self._question: Question | None = None

    def grant(self, wish: ConsultWish) -> None:
        """Begin with what is wanted."""
        match wish:
            case PackRequest():
                self._pack(wish)
            case Consult():
                self._ask(wish.ticket, None)
            case FollowUp():
                self._ask(wish.ticket, wish.question)
            case StopConsult():
                self._stop(wish.ticket)
            case OpinionRequest():
                self._recall(wish)

    def work(self) -> None:
        """Go on with packs that waited for runs or for files."""
        for ticket, packing in list(self._packings.items()):
            packed = packing.go_on()
            if packed is None:
                continue
            del self._packings[ticket]
            if packing.conversation is not None:
                self._keep(packing.conversation)
            self._send(packed)

    # -- packing --------------------------------------------------------------------------

    def _pack(self, wish: PackRequest) -> None:
        from .packing import Packing

        if self._is_asking(wish.ticket):
            self._stop(wish.ticket)
        self._kept.pop(wish.ticket, None)
        packing = self._packings[wish.ticket] = Packing(wish, self._at_hand, self._leave)
        packing.begin()

    def _keep(self, talk: Conversation) -> None:
        self._kept.pop(talk.ticket, None)
        self._kept[talk.ticket] = talk
        idle = [ticket for ticket in self._kept if not self._is_asking(ticket)]
        for ticket in idle[: max(0, len(self._kept) - MOST_KEPT)]:
            del self._kept[ticket]

    # -- asking ---------------------------------------------------------------------------

    def _ask(self, ticket: int, words: str | None) -> None:
        talk = self._kept.get(ticket)
        if self._question is not None and not self._question.is_over:
            self._refuse(
                ticket,
                words,
                "Claude is still busy with another question",
                "wait for its end, or stop it with Esc",
            )
        elif talk is None or (words is not None and not talk.has_begun):
            self._refuse(
                ticket,
                words,
                "The engine does not know this conversation any more",
                "press c to ask anew",
            )
        else:
            self._begin(talk, words)

    def _begin(self, talk: Conversation, words: str | None) -> None:
        from .question import Question

        self._keep(talk)
        talk.has_begun = True
        if words is not None:
            talk.opinion.renew(talk.diagnoses(self._followed))
        self._question = Question(
            talk,
            words,
            self._send,
            self._leave,
            lambda checked, at: self._page(talk, checked, at),
        )
        self._question.start()

    def _is_asking(self, ticket: int) -> bool:
        question = self._question
        return question is not None and question.ticket == ticket and not question.is_over

    def _stop(self, ticket: int) -> None:
        if self._packings.pop(ticket, None) is not None:
            self._send(Packed(ticket, problem="Stopped before anything was sent"))
        if self._question is not None and self._is_asking(ticket):
            self._question.stop()

    def _refuse(self, ticket: int, words: str | None, problem: str, hint: str) -> None:
        from mltd.diagnosis.events import Usage

        error = {"kind": "invalid", "message": problem, "hint": hint}
        body = json.dumps({"question": words or "", "text": "", "error": error})
        nothing = Usage(0, 0, 0, 0.0, 0.0)
        self._send(
            Consulted(
                ticket, words or "", "", nothing, None, problem, hint, status="failed", body=body
            )
        )

    def _page(self, talk: Conversation, checked: CheckedOpinion, at: datetime) -> OpinionPage:
        from .recalling import page_now

        return page_now(talk, checked, at, self._followed)

    # -- what was kept --------------------------------------------------------------------

    def _recall(self, wish: OpinionRequest) -> None:
        def lay_out(done: Future[None]) -> None:
            try:
                done.result()
                from .recalling import recall

                kept = recall(wish, self._followed)
            except Exception:  # noqa: BLE001 - perhaps a newer program wrote it: there are words
                kept = KeptOpinions(wish.ticket, tuple(None for _ in wish.bodies))
            self._send(kept)

        # The imports take half a second, in which the loop has other things to do.
        beside(_get_ready, self._leave, lay_out)


def _get_ready() -> None:
    from . import recalling  # noqa: F401
