"""A consultation can be ended at any moment, and goes on from there."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from mltd.diagnosis.consultation import Consultation
from mltd.diagnosis.events import (
    Cancelled,
    Event,
    Text,
)
from tests.waiting import PATIENCE

from .consulting import QUICK, SCHEMA, SPECS, Bench, Result, parse
from .messages_server import (
    Forever,
    Hold,
    MessagesServer,
    Reply,
    answer,
    sse,
    start,
    stream,
    text,
    texts_of,
    tool,
)

LOOK = tool("read_lines", name="run1/train.log", first=1)
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "so "}}
OPEN = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}


def test_cancelling_ends_at_once_and_keeps_what_came(server: MessagesServer) -> None:
    server.script = [stream(start(), OPEN, Forever(sse(DELTA))), answer(text("Yes."))]
    bench = Bench()

    async def go() -> Any:
        cancel = asyncio.Event()

        def on_event(event: Event) -> None:
            bench.events.append(event)
            if isinstance(event, Text):
                cancel.set()

        async with asyncio.timeout(PATIENCE):
            # The service has not ended its answer, and never does.
            return await bench.consultation.ask("pack", on_event, cancel)

    result = asyncio.run(go())
    assert result.is_cancelled
    assert result.text.startswith("so ")
    assert bench.events[-1] == Cancelled()
    assert server.is_client_gone.wait(PATIENCE), "the connection is closed"
    assert bench.follow_up("Go on.").text == "Yes."
    assert "Your last turn was cut off after: so " in texts_of(server.messages[1])


def test_cancelling_during_a_look_leaves_a_history_that_goes_on(server: MessagesServer) -> None:
    server.script = [answer(LOOK), answer(text("Yes."))]
    cancel = asyncio.Event()

    async def call(name: str, arguments: dict[str, Any]) -> Result:
        cancel.set()
        await asyncio.Event().wait()
        return Result("never")

    consultation = Consultation(QUICK, SPECS, call, schema=SCHEMA, parse=parse)
    result = asyncio.run(consultation.ask("pack", lambda event: None, cancel))
    assert result.is_cancelled
    asyncio.run(consultation.follow_up("Go on.", lambda event: None))
    last = server.messages[1][-1]["content"]
    assert last[0] | {"content": ""} == {
        "type": "tool_result",
        "tool_use_id": "toolu_read_lines",
        "content": "",
        "is_error": True,
    }


def test_a_tool_that_does_not_stop_is_not_waited_for(server: MessagesServer) -> None:
    server.script = [answer(LOOK)]
    cancel, release = asyncio.Event(), asyncio.Event()

    async def stubborn(name: str, arguments: dict[str, Any]) -> Result:
        cancel.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return Result("late")

    async def go() -> None:
        consultation = Consultation(QUICK, SPECS, stubborn, schema=SCHEMA, parse=parse)
        asking = asyncio.ensure_future(consultation.ask("pack", lambda event: None, cancel))
        await cancel.wait()
        await asyncio.wait({asking}, timeout=PATIENCE)
        is_over = asking.done()
        release.set()
        await asyncio.sleep(0)
        assert is_over, "while the tool was still at it"
        assert (await asking).is_cancelled

    asyncio.run(go())


def test_cancelling_while_the_service_is_silent(server: MessagesServer) -> None:
    release = threading.Event()
    server.script = [Reply((Hold(release),))]

    async def go() -> Any:
        cancel = asyncio.Event()
        bench = Bench()
        asking = asyncio.ensure_future(bench.consultation.ask("pack", bench.events.append, cancel))
        await asyncio.to_thread(server.has_request.wait, PATIENCE)
        cancel.set()
        await asyncio.wait({asking}, timeout=PATIENCE)
        assert not release.is_set(), "the service is silent still"
        return await asking

    try:
        assert asyncio.run(go()).is_cancelled
    finally:
        release.set()
