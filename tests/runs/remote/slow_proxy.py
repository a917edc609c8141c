"""A link of a given delay and speed between a client and a server on this machine; it can stall."""

from __future__ import annotations

import contextlib
import heapq
import selectors
import socket
import threading
import time
from collections.abc import Iterator

_CHUNK = 4096


class _Lane:
    """One direction of one connection: bytes leave at a given speed and arrive after a delay."""

    def __init__(self, source: socket.socket, sink: socket.socket, proxy: SlowProxy) -> None:
        self.source = source
        self.sink = sink
        self._proxy = proxy
        self._free_at = 0.0
        self.waiting: list[tuple[float, int, bytes]] = []
        self._count = 0

    @property
    def is_full(self) -> bool:
        """True while as much is under way as a router keeps: about half a second of it."""
        return self._free_at > time.monotonic() + 0.5

    def take(self) -> None:
        """Read what the source has, and decide when it arrives."""
        try:
            data = self.source.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        now = time.monotonic()
        self._free_at = max(now, self._free_at) + len(data) / self._proxy.bytes_per_second
        self._count += 1
        self._proxy.carried += len(data)
        heapq.heappush(self.waiting, (self._free_at + self._proxy.delay, self._count, data))

    def deliver(self) -> bool:
        """Give what has arrived; false if the connection is over."""
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            data = heapq.heappop(self.waiting)[2]
            if not data:
                return False
            try:
                self.sink.sendall(data)
            except OSError:
                return False
        return True


class SlowProxy:
    """Forwards connections; `delay` is that of one way, in seconds."""

    def __init__(self, port: int, delay: float, bytes_per_second: float) -> None:
        self.delay = delay
        self.bytes_per_second = bytes_per_second
        self.carried = 0
        self._is_stalled = threading.Event()
        self._is_closed = threading.Event()
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self.port: int = self._server.getsockname()[1]
        self._lanes: list[_Lane] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stall(self) -> None:
        """Forward nothing on the connections that there are, as a network does that went away."""
        self._is_stalled.set()

    def heal(self) -> None:
        """Forward again; what was stalled is dropped for good."""
        self._is_stalled.clear()

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join()
        self._server.close()

    def _run(self) -> None:
        while not self._is_closed.is_set():
            self._accept()
            if self._is_stalled.is_set():
                self._stalled()
                continue
            with selectors.DefaultSelector() as selector:
                selector.register(self._server, selectors.EVENT_READ)
                for lane in self._lanes:
                    if not lane.is_full:
                        selector.register(lane.source, selectors.EVENT_READ, lane)
                for key, _ in selector.select(0.005):
                    if isinstance(key.data, _Lane):
                        key.data.take()
            over = {id(lane.sink) for lane in self._lanes if not lane.deliver()}
            over |= {id(lane.source) for lane in self._lanes if id(lane.sink) in over}
            for lane in [lane for lane in self._lanes if id(lane.sink) in over]:
                lane.sink.close()
                self._lanes.remove(lane)
        self._drop()

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            client, _ = self._server.accept()
            server = socket.create_connection(("127.0.0.1", self._target))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._lanes += [_Lane(client, server, self), _Lane(server, client, self)]

    def _stalled(self) -> None:
        while self._is_stalled.is_set() and not self._is_closed.is_set():
            time.sleep(0.005)
        self._drop()

    def _drop(self) -> None:
        for lane in self._lanes:
            lane.sink.close()
        self._lanes.clear()


@contextlib.contextmanager
def slow_proxy(
    port: int, *, round_trip: float = 0.2, bits_per_second: float = 1e6
) -> Iterator[SlowProxy]:
    """A link to a port of this machine that is far away."""
    proxy = SlowProxy(port, round_trip / 2, bits_per_second / 8)
    try:
        yield proxy
    finally:
        proxy.close()
