"""Says how the links to other hosts are doing, for commands without a screen."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mltd.runs.remote.link_state import LinkPhase, LinkState
from mltd.runs.remote.links import links


class LinkNotes:
    """Tells each change of a link once; links call it from threads of their own."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._told: dict[str, tuple[LinkPhase, str]] = {}
        links().listen(lambda _: self.look())
        self.look()

    def look(self) -> None:
        """Tell what has changed since the last look."""
        with self._lock:
            for host, state in links().states().items():
                now, before = (state.kind, state.message), self._told.get(host)
                self._told[host] = now
                is_new = before is None and state.kind is LinkPhase.CONNECTED
                if now != before and not is_new and state.kind is not LinkPhase.CONNECTING:
                    self._tell(f"{host}: {_described(state)}")


def _described(state: LinkState) -> str:
    if state.kind is LinkPhase.CONNECTED:
        return "connected again"
    parts = [state.message, state.hint]
    parts.append("it is tried again" if state.retry_at is not None else "it is not tried again")
    return "; ".join(filter(None, parts))
