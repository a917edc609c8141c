"""The conversation itself: turns of the model, looks through its tools, and at last an answer.

The loop is ours, not the SDK's tool runner: tools run in another process, several at once, and any
moment may bring the end (the person cancels, a budget is used up), after which the history must
still be one that can go on. The runner is also a beta whose form has changed between versions.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from mltd.runs.errors import MltdError

from ..events import Answered, Event, Replied, Text, Usage, Wrapping
from .asking import SUBMIT, Extras, parameters
from .budget import Budget
from .calling import CallTool, call_all, result_block
from .errors import ConsultError
from .explaining import fault_of, malformed
from .history import History
from .patience import Patience
from .plain import Block, one_line, sendable
from .streaming import Call, Turn

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_RECEIVED = (
    "Received. Answer further questions in plain words; call this again only if the diagnosis "
    "changes."
)
_NOT_RUN = "Not run: it was interrupted."
_UNUSABLE = "What it wrote last, in a form that cannot be used:"
_MOST_UNUSABLE = 20_000
"""Characters that are kept of it."""
_LAST_TURNS = 2
"""Turns after the budget is used up; the first may come too late to know of it."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What stays the same through a conversation."""

    model: str
    system: str
    tools: Sequence[Block]
    """Definitions, the one for the answer included."""
    call_tool: CallTool
    parse: Callable[[Any], object]
    known: frozenset[str] = field(default=frozenset())
    """Names of the tools that may be called."""


class Outcome(NamedTuple):
    """The answer to one question; no opinion if it was answered in words alone."""

    opinion: object | None
    opinion_json: str


class Conversation:
    """One question: the turns until its answer."""

    def __init__(
        self,
        talk: Talk,
        client: AsyncAnthropic,
        history: History,
        budget: Budget,
        on_event: Callable[[Event], None],
    ) -> None:
        self._talk = talk
        self._history = history
        self._budget = budget
        self._tell = on_event
        self._patience = Patience(client, budget, on_event)
        self._last_turns = 0
        self._repairs = 1
        self._unusable = ""
        """The last answer that could not be read; somebody has paid for it."""

    async def run(self, *, needs_opinion: bool) -> Outcome:
        """Go on until there is an answer; `ConsultError` if there is none."""
        try:
            return await self._turns(needs_opinion)
        except (ConsultError, asyncio.CancelledError) as end:
            self._unusable = getattr(end, "unusable", "") or self._unusable
            if self._unusable.strip():
                kept = sendable(self._unusable.strip()[:_MOST_UNUSABLE])
                self._tell(Text(f"{_UNUSABLE}\n\n{kept}"))
            raise

    async def _turns(self, needs_opinion: bool) -> Outcome:
        while True:
            self._wrap_up()
            try:
                turn = await self._patience.turn(self._history, self._request)
                self._check_stop(turn)
            except ConsultError as error:
                if error.kind != "malformed":
                    raise
                self._repair(f"{error.sentence}. Send it again.", error)
                continue
            finally:
                self._tell(usage_so_far(self._history, self._budget))
            self._history.keep(turn.blocks)
            if submitted := [call for call in turn.calls if call.name == SUBMIT]:
                if outcome := self._submitted(submitted[0], turn):
                    return outcome
            elif turn.calls:
                await self._look(turn.calls)
            elif turn.stop_reason == "pause_turn":
                self._budget.rounds += 1
            elif outcome := self._said(turn.text, needs_opinion=needs_opinion):
                return outcome

    def _request(self, extras: Extras) -> dict[str, Any]:
        return parameters(
            model=self._talk.model,
            system=self._talk.system,
            tools=self._talk.tools,
            history=self._history,
            answer_tokens=self._budget.settings.answer_tokens,
            extras=extras,
        )

    def _wrap_up(self) -> None:
        why = self._budget.used_up()
        if not why:
            return
        if self._last_turns >= _LAST_TURNS:
            raise ConsultError(
                f"Claude did not answer although {why}",
                hint="ask again with a larger budget: `claude.seconds`, `claude.budget_tokens`",
                kind="budget",
            )
        if not self._last_turns:
            self._tell(Wrapping(why))
            self._history.say(
                f"The budget is used up ({why}): no other tool will be run. "
                f"Call {SUBMIT} now with what you have, and say what is missing."
            )
        self._last_turns += 1

    def _check_stop(self, turn: Turn) -> None:
        match turn.stop_reason:
            case "refusal":
                about = f" (category: {one_line(turn.refused_as, 40)})" if turn.refused_as else ""
                raise ConsultError(
                    f"Claude declined to answer{about}",
                    hint="harmless work is sometimes declined: try another model, `--model NAME`",
                    kind="refusal",
                )
            case "max_tokens":
                self._history.note_cut(turn.text)
                raise ConsultError(
                    f"The answer was longer than {self._budget.settings.answer_tokens:,} tokens "
                    "and was cut off",
                    hint="allow longer ones: `claude.answer_tokens`",
                    kind="max_tokens",
                    unusable=turn.written,
                )
            case "model_context_window_exceeded":
                raise ConsultError(
                    "The conversation has become too long for the model",
                    hint="begin anew, or with a smaller `claude.pack_tokens`",
                    kind="too_long",
                )

    def _repair(self, note: str, error: ConsultError) -> None:
        """Tell the model to mend its answer; `error` is for the person if it has had its chance."""
        self._unusable = error.unusable or self._unusable
        if not self._repairs:
            raise error
        self._repairs -= 1
        self._history.say(note)

    def _submitted(self, call: Call, turn: Turn) -> Outcome | None:
        others = [
            result_block(other, "Not run: the diagnosis was submitted.", True)
            for other in turn.calls
            if other is not call
        ]
        try:
            opinion = self._talk.parse(call.arguments)
        except (MltdError, ValueError) as error:
            told = one_line(str(error), 1500)
            self._history.pending = [result_block(call, told, True), *others]
            written = json.dumps(call.arguments, ensure_ascii=False, indent=1)
            fault = malformed(f"cannot be used: {fault_of(error)}", written)
            self._repair(f"Correct this and call {SUBMIT} again.", fault)
            return None
        self._history.pending = [result_block(call, _RECEIVED, False), *others]
        return self._answered(opinion, json.dumps(call.arguments, ensure_ascii=False))

    def _said(self, text: str, *, needs_opinion: bool) -> Outcome | None:
        if not needs_opinion and text.strip():
            self._tell(Replied(text))
            return Outcome(None, "")
        try:
            opinion = self._talk.parse(text)
        except (MltdError, ValueError):
            how = f"call {SUBMIT} now" if needs_opinion else "answer the question"
            fault = malformed("cannot be used: it holds no diagnosis")
            self._repair(f"That was no answer: {how}.", fault)
            return None
        return self._answered(opinion, text)

    def _answered(self, opinion: object, opinion_json: str) -> Outcome:
        self._tell(Answered(opinion_json))
        return Outcome(opinion, opinion_json)

    async def _look(self, calls: Sequence[Call]) -> None:
        # Every call must have its result, also if the person cancels while one is under way.
        self._history.pending = [result_block(call, _NOT_RUN, True) for call in calls]
        if self._last_turns:
            return
        self._budget.rounds += 1
        self._history.pending = await call_all(
            calls, self._talk.known, self._talk.call_tool, self._tell
        )


def usage_so_far(history: History, budget: Budget) -> Usage:
    """What the whole conversation has used, this question included."""
    before, now = history.used, budget.used
    is_known = history.dollars is not None and budget.dollars is not None
    return Usage(
        before.input + before.cache_write + now.input + now.cache_write,
        before.output + now.output,
        before.cache_read + now.cache_read,
        (history.dollars or 0.0) + (budget.dollars or 0.0) if is_known else None,
        history.seconds + budget.seconds,
    )
