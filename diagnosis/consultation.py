"""One thread of conversation with Claude: the evidence, an opinion, and questions about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .client.access import obstacle
from .client.asking import SUBMIT, Extras, ToolSpec, parameters, tool_definition
from .client.budget import Budget
from .client.calling import CallTool
from .client.conversing import Conversation, Outcome, Talk, usage_so_far
from .client.errors import ConsultError
from .client.explaining import explain
from .client.history import History, seal_of
from .client.models import choose_model
from .client.plain import Block
from .client.pricing import Tokens
from .client.sdk_client import build_client, destination
from .events import Cancelled, Event, Failed, Text, Thinking, Usage
from .prompt import SUBMIT_DESCRIPTION, SYSTEM_PROMPT
from .settings import ConsultSettings

_LET_GO_SECONDS = 0.08
"""What a cancelled conversation gets to close its connection; then it is left to itself."""


class ConsultationResult(NamedTuple):
    """How one question ended; whatever came is kept."""

    opinion: object | None
    """What the parser made of the answer; None without an answer of that form."""
    opinion_json: str
    text: str
    thinking: str
    usage: Usage
    error: ConsultError | None = None
    is_cancelled: bool = False


class Consultation:
    """Asks once with the evidence, then as often as wanted about it."""

    def __init__(
        self,
        settings: ConsultSettings,
        tools: Sequence[ToolSpec],
        call_tool: CallTool,
        *,
        schema: dict[str, Any],
        parse: Callable[[Any], object],
        system: str = SYSTEM_PROMPT,
    ) -> None:
        self.model = choose_model(settings.model)
        self._settings = settings
        definitions: list[Block] = [tool_definition(tool) for tool in tools]
        names = frozenset(tool.name for tool in tools)
        if SUBMIT in names:
            raise ValueError(f"{SUBMIT} is the answer, not a tool")
        answer = {"name": SUBMIT, "description": SUBMIT_DESCRIPTION, "input_schema": schema}
        self._talk = Talk(self.model, system, (*definitions, answer), call_tool, parse, names)
        self._history = History()
        self.destination = ""
        """The only place that may be sent to: what was agreed to, or else the first one."""

    async def ask(
        self,
        pack_text: str,
        on_event: Callable[[Event], None],
        cancel: asyncio.Event | None = None,
    ) -> ConsultationResult:
        """Send the evidence and wait for an opinion; begins anew whatever was said before."""
        self._history = History()
        self._history.say(pack_text)
        return await self._run(on_event, cancel, needs_opinion=True)

    async def follow_up(
        self,
        question: str,
        on_event: Callable[[Event], None],
        cancel: asyncio.Event | None = None,
    ) -> ConsultationResult:
        """Ask on in the same thread; the answer may be words alone, or a changed opinion."""
        self._history.say(question)
        return await self._run(on_event, cancel, needs_opinion=False)

    async def count_tokens(self, pack_text: str) -> int:
        """How many tokens `ask` would send first; this already sends the text to be counted."""
        if error := obstacle(self._settings):
            raise error
        history = History()
        history.say(pack_text)
        request = parameters(
            model=self.model,
            system=self._talk.system,
            tools=self._talk.tools,
            history=history,
            answer_tokens=1,
            extras=Extras(has_thinking=False, is_strict=False),
        )
        del request["max_tokens"]
        try:
            async with await asyncio.to_thread(self._client) as client:
                return int((await client.messages.count_tokens(**request)).input_tokens)
        except Exception as error:
            raise explain(error, self.model) from error

    def to_json(self) -> str:
        """The conversation, to be kept; holds what was sent and said, and no key."""
        return self._history.to_json(self._seal())

    def resume(self, kept: str) -> None:
        """Go on with a conversation that `to_json` has kept."""
        self._history = History.from_json(kept, self._seal())

    def _seal(self) -> str:
        return seal_of(self.model, self._talk.system, self._talk.tools)

    async def _run(
        self,
        on_event: Callable[[Event], None],
        cancel: asyncio.Event | None,
        *,
        needs_opinion: bool,
    ) -> ConsultationResult:
        budget = Budget(self._settings, self.model)
        text: list[str] = []
        thinking: list[str] = []

        has_paused = False

        def tell(event: Event) -> None:
            nonlocal has_paused
            if isinstance(event, Text):
                if has_paused and text and not text[-1].endswith("\n"):
                    # What is said after a look, or in a second attempt, is a paragraph of its own.
                    event = Text(f"\n\n{event.text}")
                has_paused = False
                text.append(event.text)
            elif isinstance(event, Thinking):
                thinking.append(event.text)
            elif isinstance(event, Usage):
                has_paused = True
            on_event(event)

        outcome, error, is_cancelled = Outcome(None, ""), None, False
        try:
            ended = await _unless(cancel, self._converse(budget, tell, needs_opinion))
            outcome, is_cancelled = ended or outcome, ended is None
        except ConsultError as failure:
            error = failure
        finally:
            self._settle(budget)
        used = usage_so_far(self._history, Budget(self._settings, self.model))
        if error:
            tell(Failed(error.sentence, error.hint))
        elif is_cancelled:
            tell(Cancelled())
        return ConsultationResult(
            outcome.opinion,
            outcome.opinion_json,
            "".join(text),
            "".join(thinking),
            used,
            error,
            is_cancelled,
        )

    async def _converse(
        self, budget: Budget, tell: Callable[[Event], None], needs_opinion: bool
    ) -> Outcome:
        if error := obstacle(self._settings):
            raise error
        if not self._history.pending:
            raise ConsultError("There is nothing to ask", hint="write a question", kind="invalid")
        # The import takes over a second, in which the person must be able to cancel.
        async with await asyncio.to_thread(self._client) as client:
            conversation = Conversation(self._talk, client, self._history, budget, tell)
            return await conversation.run(needs_opinion=needs_opinion)

    def _client(self) -> Any:
        self.destination = self.destination or destination(self._settings)
        return build_client(self._settings, self.destination)

    def _settle(self, budget: Budget) -> None:
        history = self._history
        history.used = Tokens(*(a + b for a, b in zip(history.used, budget.used, strict=True)))
        is_known = history.dollars is not None and budget.dollars is not None
        total = (history.dollars or 0.0) + (budget.dollars or 0.0)
        history.dollars = total if is_known else None
        history.seconds += budget.seconds


async def _unless(cancel: asyncio.Event | None, work: Any) -> Outcome | None:
    # None: the person has cancelled. The work is then let go even if a tool does not end.
    task: asyncio.Task[Outcome] = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    stop = asyncio.ensure_future((cancel or asyncio.Event()).wait())
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait({task}, timeout=_LET_GO_SECONDS)
        return None
    finally:
        stop.cancel()
        task.cancel()
