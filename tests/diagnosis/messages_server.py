"""A real HTTP server on loopback that speaks the Messages API by a script, one entry a request.

    with MessagesServer([answer(text("Hm."), tool("grep", pattern="nan")), ...]) as server:
        server.point(monkeypatch)      # ANTHROPIC_BASE_URL and a key that belongs to nobody
        ...
    assert server.requests[0].body["model"] == "claude-sonnet-5-5"

An entry is a `Reply` (steps of a stream) or a `Fault` (status, body, headers). A script that is
used up answers 400, so that a test never hangs on a request too many.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

import pytest

from tests.waiting import PATIENCE

KEY = "sk-ant-test-0123456789abcdefghijklmnop"
Block = dict[str, Any]


class Send(NamedTuple):
    """Bytes of the stream, in pieces of at most `piece` bytes."""

    data: bytes
    piece: int = 1 << 20


class Hold(NamedTuple):
    """Wait until the test lets go; the line stays open and silent."""

    until: threading.Event


class Drop(NamedTuple):
    """End the connection in the middle; with a reset, or as if the far side had just stopped."""

    is_reset: bool = False


class Forever(NamedTuple):
    """Repeat an event until the client is gone."""

    data: bytes


Step = Send | Hold | Drop | Forever


@dataclass(frozen=True)
class Reply:
    """A stream, step by step; `whole` is the same for a request without streaming."""

    steps: tuple[Step, ...]
    whole: Block = field(default_factory=dict)
    content_type: str = "text/event-stream; charset=utf-8"


@dataclass(frozen=True)
class Fault:
    """An answer that is no stream."""

    status: int
    body: Block | str
    headers: dict[str, str] = field(default_factory=dict)


class Request(NamedTuple):
    """What a client has sent."""

    path: str
    headers: dict[str, str]
    body: Block
    raw: str


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "c2lnbmVk") -> Block:
    return {"type": "thinking", "thinking": words, "signature": signature}


def tool(tool_name: str, /, call_id: str = "", **arguments: Any) -> Block:
    return {
        "type": "tool_use",
        "id": call_id or f"toolu_{tool_name}",
        "name": tool_name,
        "input": arguments,
    }


def sse(event: Block) -> bytes:
    """One event as it stands on the wire."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def start(**usage: int) -> Block:
    """The event that begins a message."""
    counts = {"input_tokens": 100, "output_tokens": 1} | usage
    message: Block = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counts,
    }
    return {"type": "message_start", "message": message}


def stop(reason: str = "end_turn", output_tokens: int = 20, **delta: Any) -> list[Block]:
    """The two events that end a message."""
    what = {"stop_reason": reason, "stop_sequence": None} | delta
    usage = {"output_tokens": output_tokens}
    return [
        {"type": "message_delta", "delta": what, "usage": usage},
        {"type": "message_stop"},
    ]


def block_events(index: int, block: Block, pieces: int = 5) -> Iterator[Block]:
    """One content block as events, its text in pieces that end at odd places."""
    empty, deltas = _taken_apart(block, pieces)
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def answer(
    *blocks: Block,
    reason: str = "",
    usage: dict[str, int] | None = None,
    output_tokens: int = 20,
    wire_piece: int = 1 << 20,
    **delta: Any,
) -> Reply:
    """A whole turn of the model, with a ping in it."""
    has_call = any(block["type"] == "tool_use" for block in blocks)
    why = reason or ("tool_use" if has_call else "end_turn")
    events = [start(**(usage or {})), {"type": "ping"}]
    for index, block in enumerate(blocks):
        events += block_events(index, block)
    events += stop(why, output_tokens, **delta)
    message = events[0]["message"] | {"content": list(blocks), "stop_reason": why}
    return Reply((Send(b"".join(map(sse, events)), wire_piece),), message)


def stream(*steps: Step | Block) -> Reply:
    """A stream of single events and other steps."""
    return Reply(tuple(Send(sse(step)) if isinstance(step, dict) else step for step in steps))


def fault(status: int, kind: str, words: str = "no", **headers: str) -> Fault:
    """An error in the form of the service."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"type": "error", "error": {"type": kind, "message": words}}
    return Fault(status, body, named)


def _taken_apart(block: Block, pieces: int) -> tuple[Block, list[Block]]:
    match block["type"]:
        case "text":
            parts = _parts(block["text"], pieces)
            return block | {"text": ""}, [{"type": "text_delta", "text": part} for part in parts]
        case "thinking":
            parts = _parts(block["thinking"], pieces)
            deltas: list[Block] = [{"type": "thinking_delta", "thinking": p} for p in parts]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return block | {"thinking": "", "signature": ""}, deltas
        case "tool_use":
            # A tool without arguments sends one empty piece, like the service.
            raw = json.dumps(block["input"]) if block["input"] else ""
            parts = ["", *_parts(raw, 2 * pieces)]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            return block | {"input": {}}, deltas
    return block, []


def _parts(words: str, pieces: int) -> list[str]:
    size = max(1, -(-len(words) // pieces))
    return [words[at : at + size] for at in range(0, len(words), size)]


class MessagesServer:
    """Serves a script; keeps every request for the test to look at."""

    def __init__(self, script: Iterable[Reply | Fault] = (), tokens: int = 1234) -> None:
        self.script = list(script)
        self.tokens = tokens
        self.requests: list[Request] = []
        self.has_request = threading.Event()
        self.is_client_gone = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def messages(self) -> list[list[Block]]:
        """The messages of each request for a turn."""
        return [each.body["messages"] for each in self.requests if each.path == "/v1/messages"]

    def point(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the SDK of this test talk to this server alone."""
        monkeypatch.setenv("ANTHROPIC_BASE_URL", self.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)

    def take(self, request: Request) -> Reply | Fault:
        """Keep a request; the next entry of the script."""
        with self._lock:
            self.requests.append(request)
            if request.path == "/v1/messages/count_tokens" and not self.script:
                return Fault(200, {"input_tokens": self.tokens})
            has_more = bool(self.script)
            entry = self.script.pop(0) if has_more else None
        self.has_request.set()
        return entry or fault(400, "invalid_request_error", "the script is used up")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_for(owner: MessagesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            entry = owner.take(Request(self.path, headers, json.loads(raw or "{}"), raw))
            try:
                if isinstance(entry, Fault):
                    self._whole(entry)
                elif not json.loads(raw).get("stream"):
                    self._whole(Fault(200, entry.whole))
                else:
                    self._stream(entry)
            except (BrokenPipeError, ConnectionResetError):
                owner.is_client_gone.set()
                self.close_connection = True

        def do_CONNECT(self) -> None:
            self._whole(Fault(407, "<html><title>Proxy authentication required</title></html>"))

        def _whole(self, entry: Fault) -> None:
            is_text = isinstance(entry.body, str)
            data = entry.body.encode() if isinstance(entry.body, str) else b""
            data = data or json.dumps(entry.body).encode()
            self.send_response(entry.status)
            self.send_header("content-type", "text/html" if is_text else "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in entry.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, entry: Reply) -> None:
            self.send_response(200)
            self.send_header("content-type", entry.content_type)
            self.send_header("transfer-encoding", "chunked")
            self.send_header("request-id", "req_1")
            self.end_headers()
            for step in entry.steps:
                if not self._step(step):
                    return
            self._chunk(b"")

        def _step(self, step: Step) -> bool:
            match step:
                case Send(data, piece):
                    for at in range(0, len(data), piece):
                        self._chunk(data[at : at + piece])
                case Hold(until):
                    until.wait(2 * PATIENCE)
                case Forever(data):
                    # Ends by the error of a client that is gone.
                    while not owner.is_client_gone.wait(0.005):
                        self._chunk(data)
                case Drop(is_reset):
                    self._drop(is_reset)
                    return False
            return True

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def _drop(self, is_reset: bool) -> None:
            if is_reset:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            else:
                self.connection.shutdown(socket.SHUT_WR)
            self.close_connection = True

        def log_message(self, *parts: Any) -> None:
            """Say nothing."""

    return Handler


def texts_of(messages: Sequence[Block]) -> str:
    """All words in messages, for a look at what was said."""
    return json.dumps(messages, ensure_ascii=False)
