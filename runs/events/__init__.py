"""Events in a log: tracebacks, warnings, scheduler messages.

`classify` is asked once per shape of line, `collect` for each line of a shape that it knows,
and `EventLog` keeps what they find. What counts as an event is written in `rules.toml`.
"""

from __future__ import annotations

from .classify import classify
from .collect import collect
from .log import EventLog
from .rule import Collected, EventRule
from .source import source_lines

__all__ = ["Collected", "EventLog", "EventRule", "classify", "collect", "source_lines"]
