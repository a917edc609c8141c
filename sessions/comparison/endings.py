"""How a run ended: whether it failed, and on what."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from mltd.analyzers.core.glance import Glance
from mltd.runs.event import EventKind
from mltd.runs.failure import is_terminal
from mltd.runs.state import RunState

_FROM_OUTSIDE = (EventKind.SIGNAL, EventKind.SCHEDULER, EventKind.FINISHED)
_STOPPED = re.compile(r"SIG(?:TERM|INT|HUP)\b|KeyboardInterrupt")
"""Somebody ended it: that is no failure of the training."""
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known about the end of a run."""

    error: str = ""
    """Title of what it failed on; empty if it did not fail by itself."""
    exception: str = ""

    def is_like(self, other: Ending) -> bool:
        """Both failed on the same."""
        if not self.error or not other.error:
            return False
        if self.exception or other.exception:
            return self.exception == other.exception
        return self.error == other.error


SOUND = Ending()
"""It did not fail by itself, as far as one can see."""


def ending_of(view: Glance) -> Ending:
    """Judge by the log's last words."""
    if view.state is not RunState.FAILED:
        return SOUND
    for placed in view.events:
        event = placed.event
        if event.kind in _FROM_OUTSIDE or _STOPPED.search(f"{event.exception} {event.title}"):
            continue
        if is_terminal(event) and view.state_reason.startswith(event.title):
            error = textwrap.shorten(event.title, _LONGEST, placeholder=" ...")
            return Ending(error, event.exception)
    return SOUND
