"""Objects over a pipe between the screen and its own child, length first."""

from __future__ import annotations

import pickle
import struct
import threading
from typing import BinaryIO

_LENGTH = struct.Struct("!I")
HEAD = _LENGTH.size


def pack(item: object) -> bytes:
    """One object as a frame."""
    body = pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def body_length(head: bytes) -> int:
    """How long the object behind this head is."""
    return int(_LENGTH.unpack(head)[0])


def unpack(body: bytes) -> object:
    """The object of a frame. Only ever called on what our own child or parent wrote."""
    return pickle.loads(body)


class Sender:
    """Sends whole objects, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, item: object) -> None:
        """Send one; raises OSError if nobody listens any more."""
        frame = pack(item)
        with self._lock:
            self._stream.write(frame)
            self._stream.flush()


def receive(stream: BinaryIO) -> object | None:
    """The next object; None when the other side is gone."""
    head = stream.read(HEAD)
    if len(head) < HEAD:
        return None
    length = body_length(head)
    body = stream.read(length)
    return unpack(body) if len(body) == length else None
