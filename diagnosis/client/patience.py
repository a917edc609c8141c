"""One turn of the model, asked for again where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..events import Event, Retrying
from .asking import Extras
from .budget import Budget
from .errors import ConsultError, Kind
from .explaining import is_about
from .history import History
from .streaming import Turn, stream_turn
from .waiting import wait_before

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_ATTEMPTS: dict[Kind, int] = {
    "rate_limited": 4,
    "overloaded": 4,
    "server": 3,
    "proxy": 2,
    "connection": 2,
    "timeout": 2,
    "cut": 2,
}
"""How often a request is sent in all; a host that is not there fails at once."""


class Patience:
    """Sends requests until one is answered, within the time that is left."""

    def __init__(
        self, client: AsyncAnthropic, budget: Budget, on_event: Callable[[Event], None]
    ) -> None:
        self._client = client
        self._budget = budget
        self._tell = on_event
        self._extras = Extras()

    async def turn(self, history: History, request: Callable[[Extras], dict[str, Any]]) -> Turn:
        """The next turn; what a person has read of one that broke off is noted in the history."""
        attempt = 0
        while True:
            attempt += 1
            turn = Turn()
            try:
                async with asyncio.timeout(max(0.0, self._budget.seconds_left)):
                    await stream_turn(self._client, request(self._extras), turn, self._tell)
            except TimeoutError:
                history.note_cut(turn.text)
                raise self._out_of_time() from None
            except asyncio.CancelledError:
                history.note_cut(turn.text)
                raise
            except ConsultError as error:
                if self._can_do_without(error.__cause__ or error, history):
                    continue
                # Words that a person has read are not said twice.
                if turn.text or attempt >= _ATTEMPTS.get(error.kind, 1) or not error.is_temporary:
                    history.note_cut(turn.text)
                    raise
                await self._wait(attempt, error)
            else:
                return turn
            finally:
                self._budget.add(turn.tokens)

    def _can_do_without(self, error: BaseException, history: History) -> bool:
        before = self._extras
        if is_about(error, "thinking"):
            if history.has_thoughts():
                history.forget_thoughts()
                return True
            self._extras = before._replace(has_thinking=False)
        elif is_about(error, "strict", "schema", "grammar"):
            self._extras = before._replace(is_strict=False)
        return self._extras != before

    async def _wait(self, attempt: int, error: ConsultError) -> None:
        settings = self._budget.settings
        seconds = wait_before(attempt, error.retry_after, settings.retry_seconds)
        if seconds >= settings.seconds - self._budget.seconds:
            raise ConsultError(
                f"{error.sentence}; it would take {seconds:.0f} s, longer than there is time",
                hint="ask again after that",
                kind=error.kind,
                is_temporary=True,
                retry_after=error.retry_after,
            ) from error
        self._tell(Retrying(seconds, error.sentence))
        await asyncio.sleep(seconds)

    def _out_of_time(self) -> ConsultError:
        return ConsultError(
            f"There was no answer within {self._budget.seconds:.0f} s",
            hint="ask again, or give it more time: `claude.seconds`",
            kind="timeout",
            is_temporary=True,
        )
