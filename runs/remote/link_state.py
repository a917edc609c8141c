"""How the link to a host is doing, for people; and the clocks by which it is measured."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..sources.clock import Clock, SystemClock


class LinkPhase(StrEnum):
    """The four things that a link can be."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LinkState:
    """A link at one moment; the times are those of the clock on the wall."""

    kind: LinkPhase
    heard_at: float | None = None
    """When the last answer came; None before the first."""
    message: str = ""
    """What is wrong, in ssh's own words."""
    hint: str = ""
    retry_at: float | None = None
    """When it is tried again; None if that needs somebody to say so."""
    attempts: int = 0
    """Failed attempts since the last answer."""


class LinkClock(Clock, Protocol):
    """A clock that knows also what others call the time."""

    def wall(self) -> float:
        """Seconds since 1970; this one runs on while the machine sleeps."""
        ...


class SystemLinkClock(SystemClock):
    """The real one."""

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()
