"""One question to Claude, in a thread of its own: what is said, what it cites, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mltd.diagnosis.answer import Opinion
from mltd.diagnosis.citations import Check, CheckedCitation, CheckedOpinion
from mltd.diagnosis.citations.check import CHECK_SECONDS
from mltd.diagnosis.citations.desk import Unreadable
from mltd.diagnosis.client.errors import ConsultError
from mltd.diagnosis.client.plain import sendable
from mltd.diagnosis.events import Checking, Event, Usage
from mltd.diagnosis.second_opinion import aside

from ..consult_protocol import Consulted, Consulting, ConsultNews, OpinionPage
from .coalescing import Coalescer
from .errands import Leave, Patience, fetched
from .record import Looks, body_of, clean_opinion

if TYPE_CHECKING:
    from mltd.diagnosis.consultation import ConsultationResult

    from .conversation import Conversation

T = TypeVar("T")
LayOut = Callable[[CheckedOpinion, datetime], OpinionPage]
_PAGE_SECONDS = 60.0
"""What a page may wait for the main loop."""


class _Answer(NamedTuple):
    checked: CheckedOpinion | None = None
    page: OpinionPage | None = None
    error: ConsultError | None = None
    is_cancelled: bool = False


class Question:
    """Runs until it is answered, fails or is stopped; then exactly one `Consulted` was sent."""

    def __init__(
        self,
        talk: Conversation,
        words: str | None,
        send: Callable[[ConsultNews], None],
        leave: Leave,
        lay_out: LayOut,
    ) -> None:
        """`words` are None for the first question, which is the evidence itself."""
        self.ticket = talk.ticket
        self._talk = talk
        self._words = words
        self._send = send
        self._leave = leave
        self._lay_out = lay_out
        self._looks = Looks()
        self._at = datetime.now(UTC)
        self._lock = threading.Lock()
        self._is_stopped = False
        self._is_over = False
        self._wake: Callable[[], object] | None = None

    def start(self) -> None:
        """Begin; whoever ends the engine does not wait for it."""
        threading.Thread(target=self._run, name="consultation", daemon=True).start()

    def stop(self) -> None:
        """End it at once, whatever it is doing; an answer that has come is kept."""
        with self._lock:
            self._is_stopped = True
            if self._wake is not None:
                with contextlib.suppress(RuntimeError):  # it has just come to its end
                    self._wake()

    @property
    def is_over(self) -> bool:
        """True if the last word was sent."""
        with self._lock:
            return self._is_over

    def _run(self) -> None:
        # Cut connections of an engine that ends are nobody's concern.
        with contextlib.suppress(OSError):
            try:
                asyncio.run(self._converse())
            except Exception as problem:  # noqa: BLE001 - the screen waits for an end
                sentence = f"The consultation broke: {type(problem).__name__}: {problem}"
                error = ConsultError(sentence, kind="invalid", hint="press c to ask anew")
                self._end(None, _Answer(error=error))

    async def _converse(self) -> None:
        loop = asyncio.get_running_loop()
        cancel = asyncio.Event()
        with self._lock:
            self._wake = lambda: loop.call_soon_threadsafe(cancel.set)
            if self._is_stopped:
                cancel.set()
        letters = Coalescer(self._tell, loop.call_later)

        def on_event(event: Event) -> None:
            self._looks.take(event)
            letters.take(event)

        opinion = self._talk.opinion
        try:
            if self._words is None:
                result = await opinion.ask(on_event, cancel)
            else:
                result = await opinion.follow_up(self._words, on_event, cancel)
        finally:
            letters.flush()
        # Told before this loop closes: that may wait for an import to end.
        self._end(result, await self._answer(result, cancel))

    def _tell(self, events: tuple[Event, ...]) -> None:
        with self._lock, contextlib.suppress(OSError):
            # A look that was left behind by a stop may still come to its end.
            if not self._is_over:
                self._send(Consulting(self.ticket, events))

    async def _answer(self, result: ConsultationResult, cancel: asyncio.Event) -> _Answer:
        """What is left of the answer after every citation was looked up."""
        is_opinion = isinstance(result.opinion, Opinion)
        if result.error is not None or result.is_cancelled or not is_opinion:
            return _Answer(error=result.error, is_cancelled=result.is_cancelled)
        return await self._checked(result, cancel)

    async def _checked(self, result: ConsultationResult, cancel: asyncio.Event) -> _Answer:
        clean = self._talk.grounds.masker.clean
        try:
            check = self._check(result)
            await _unless(cancel, aside(check.run))
            # The answer was paid for: a stop ends the check, and what it has not come to is open.
            check.stop()
            checked = await aside(lambda: clean_opinion(check.result(), clean))
        except Exception as problem:  # noqa: BLE001 - what was said is worth keeping all the same
            return _Answer(error=_failure("checked", problem))
        try:
            page = await fetched(
                self._leave, lambda: self._lay_out(checked, self._at), _PAGE_SECONDS
            )
        except Exception as problem:  # noqa: BLE001 - the same, and the check was not in vain
            return _Answer(checked, error=_failure("laid out", problem))
        return _Answer(checked, page)

    def _check(self, result: ConsultationResult) -> Check:
        patience = Patience(self._leave, CHECK_SECONDS)

        def by_owner(look: Callable[[], CheckedCitation]) -> CheckedCitation:
            try:
                return patience.have(look)
            except TimeoutError:
                raise Unreadable("the time for checking was over") from None

        check = self._talk.opinion.checking(
            result, by_owner, lambda done, total: self._tell((Checking(done, total),))
        )
        assert check is not None
        return check

    def _end(self, result: ConsultationResult | None, answer: _Answer) -> None:
        news = self._last_word(result, answer)
        with self._lock:
            if self._is_over:
                return
            # Both at once: whoever hears it may ask on.
            self._is_over = True
            self._send(news)

    def _last_word(self, result: ConsultationResult | None, answer: _Answer) -> Consulted:
        talk, clean = self._talk, self._talk.grounds.masker.clean
        checked, error = answer.checked, answer.error
        usage = result.usage if result is not None else Usage(0, 0, 0, None, 0.0)
        text = clean(result.text) if result is not None else ""
        body = body_of(
            checked,
            at=self._at,
            model=talk.opinion.model,
            host=talk.preview.host,
            is_redacted=talk.preview.is_redacted,
            question=clean(self._words or ""),
            text=text,
            looks=[clean(line) for line in self._looks.lines],
            usage=usage,
            error=error,
            is_cancelled=answer.is_cancelled,
        )
        ending = "cancelled" if answer.is_cancelled else "failed" if error else "replied"
        return Consulted(
            ticket=self.ticket,
            question=self._words or "",
            text=sendable(text),
            usage=usage,
            page=answer.page,
            problem=error.sentence if error is not None else "",
            hint=error.hint if error is not None else "",
            is_cancelled=answer.is_cancelled,
            status=ending if checked is None else checked.status.value,
            body=body,
        )


def _failure(done: str, problem: Exception) -> ConsultError:
    sentence = f"The opinion could not be {done}: {type(problem).__name__}: {problem}"
    return ConsultError(sentence, kind="invalid", hint="read what was said, or ask again")


async def _unless(cancel: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What comes of some work; None as soon as somebody cancels."""
    task = asyncio.ensure_future(work)
    stop = asyncio.ensure_future(cancel.wait())
    await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if task.done():
        return task.result()
    task.cancel()
    return None
