"""One turn of the model, told while it comes in."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..events import Event, Text, Thinking
from .connecting import explain_connection
from .errors import ConsultError
from .explaining import explain, malformed
from .plain import Block, arguments_of, one_line, sendable
from .pricing import Tokens

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


class Call(NamedTuple):
    """A tool that the model wants to be called."""

    id: str
    name: str
    arguments: dict[str, Any]


class Turn:
    """What has come in of one turn; whole once `is_whole`."""

    def __init__(self) -> None:
        self.text = ""
        self.blocks: list[Block] = []
        self.calls: list[Call] = []
        self.tokens = Tokens()
        self.stop_reason = ""
        self.refused_as = ""
        self.is_whole = False
        self._raw: dict[int, str] = {}
        self._snapshot: Any = None

    def take(self, event: Any) -> Event | None:
        """One event of the stream; returns what a person should see of it."""
        if event.type == "content_block_delta":
            delta = event.delta
            if delta.type == "text_delta" and delta.text:
                words: str = sendable(delta.text)
                self.text += words
                return Text(words)
            if delta.type == "thinking_delta" and delta.thinking:
                return Thinking(sendable(delta.thinking))
            if delta.type == "input_json_delta":
                self._raw[event.index] = self._raw.get(event.index, "") + delta.partial_json
        elif event.type == "message_delta":
            # Not from the message that the SDK puts together: older ones leave it out there.
            self.refused_as = _category(getattr(event.delta, "stop_details", None))
        elif event.type == "message_stop":
            self.is_whole = True
        return None

    def read(self, message: Any) -> None:
        """What the SDK has put together so far: the count of tokens, and why it stopped."""
        usage = message.usage
        self.tokens = Tokens(
            usage.input_tokens or 0,
            usage.output_tokens or 0,
            usage.cache_creation_input_tokens or 0,
            usage.cache_read_input_tokens or 0,
        )
        self.stop_reason = message.stop_reason or ""
        self._snapshot = message

    @property
    def written(self) -> str:
        """The arguments of its calls, as far as they have come and as they were written."""
        text: str = sendable("\n".join(self._raw.values()))
        return text

    def finish(self) -> None:
        """Turn the whole message into blocks and calls; `ValueError` if a call makes no sense."""
        for index, block in enumerate(self._snapshot.content):
            plain = _plain(block)
            if block.type == "tool_use":
                # Read again from the raw text: the SDK also accepts arguments that are cut off.
                raw = self._raw.get(index, "")
                plain["input"] = arguments_of(raw) if raw.strip() else dict(block.input or {})
                self.calls.append(Call(block.id, block.name, plain["input"]))
            elif block.type == "text" and not block.text.strip():
                continue  # the service does not take back an empty text
            self.blocks.append(plain)


async def stream_turn(
    client: AsyncAnthropic,
    request: dict[str, Any],
    turn: Turn,
    on_event: Callable[[Event], None],
) -> None:
    """Fill a turn, telling its text and thoughts as they come; `ConsultError` if it breaks off."""
    model = str(request["model"])
    has_begun = False
    with warnings.catch_warnings():
        # That a model is about to be retired is said by the service when it is.
        warnings.simplefilter("ignore")
        manager = client.messages.stream(**request)
    try:
        async with manager as stream:
            try:
                async for event in stream:
                    has_begun = has_begun or event.type == "message_start"
                    if shown := turn.take(event):
                        on_event(shown)
            finally:
                if has_begun:
                    turn.read(stream.current_message_snapshot)
            kind = stream.response.headers.get("content-type", "")
    except Exception as error:
        if has_begun and _is_of_the_line(error):
            raise _cut(error, turn) from error
        raise explain(error, model) from error
    if not has_begun:
        raise _not_the_service(kind)
    if not turn.is_whole:
        raise _cut(None, turn)
    try:
        turn.finish()
    except ValueError as error:
        if turn.stop_reason == "max_tokens":
            return  # the arguments end where the tokens did
        raise malformed(f"makes no sense: {error}", turn.written) from error


def _category(details: Any) -> str:
    found = details.get("category") if isinstance(details, dict) else None
    return str(found or getattr(details, "category", None) or "")


def _plain(block: Any) -> Block:
    # Without warnings: arguments that are no object are found out and told in another way.
    kept: Block = sendable(block.to_dict(warnings=False))
    return {n: v for n, v in kept.items() if v is not None and n != "parsed_output"}


def _is_of_the_line(error: BaseException) -> bool:
    return not isinstance(error, ConsultError | ValueError) and not hasattr(error, "status_code")


def _cut(error: BaseException | None, turn: Turn) -> ConsultError:
    why = f" ({explain_connection(error).sentence})" if error else ""
    return ConsultError(
        f"The answer was cut off half way{why}",
        hint="ask again; what came is kept",
        kind="cut",
        is_temporary=True,
        unusable=turn.written,
    )


def _not_the_service(kind: str) -> ConsultError:
    return ConsultError(
        f"What answered is not the Messages API (it sent {one_line(kind, 60) or 'nothing'})",
        hint="check the proxy (`HTTPS_PROXY`) and `ANTHROPIC_BASE_URL`",
        kind="proxy",
    )
