"""Wakes a thread that waits for bytes; safe to ring and to close from several threads at once."""

from __future__ import annotations

import os
import threading


class Alarm:
    """A pipe of our own: whoever polls `descriptor` is woken by `ring`."""

    def __init__(self) -> None:
        self.descriptor, self._bell = os.pipe()
        self._lock = threading.Lock()
        self._is_closed = False

    def ring(self) -> None:
        """Wake whoever waits, for good; nothing if it is closed."""
        # Never outside the lock: the number of a closed pipe may be somebody else's file by then.
        with self._lock:
            if not self._is_closed:
                os.write(self._bell, b"!")

    def close(self) -> None:
        """Give the pipe back, once."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                os.close(self.descriptor)
                os.close(self._bell)
