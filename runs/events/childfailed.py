"""The table that torchrun prints when a worker died."""

from __future__ import annotations

import re

from ..event import Event, EventKind
from .rule import shorten
from .stack import parse_raised

_ROOT = re.compile(r"Root Cause\b[^\n]{0,80}:\s*\n(?P<section>.*)", re.DOTALL)
_RANK = re.compile(r"^[^\S\n]*+rank\s*: (\d{1,6})\b", re.MULTILINE)
_EXIT = re.compile(
    r"^[^\S\n]*+exitcode\s*: (?P<code>-?\d{1,6})\s*(?:\(pid: \d+\))?\s*(?:\((?P<signal>SIG\w+)\))?",
    re.MULTILINE,
)
_SIGNAL = re.compile(r"Signal \d+ \((SIG\w+)\) received by PID")


def describe_child_failure(event: Event) -> None:
    """Let the event say which rank failed first, how, and with which exception."""
    found = _ROOT.search(event.message)
    section = (found["section"] if found else event.message)[:20_000]
    rank, code = _RANK.search(section), _EXIT.search(section)
    if rank is None or code is None:
        return
    named = code["signal"] or (signal[1] if (signal := _SIGNAL.search(section)) else "")
    how = f"exit code {code['code']}" + (f" ({named})" if named else "")
    event.ranks = (int(rank[1]),)
    event.kind = EventKind.EXCEPTION
    event.title = shorten(f"torchrun: rank {rank[1]} failed{' first' if found else ''} with {how}")
    event.chain = (*event.chain, *_inner_exception(section))


def _inner_exception(section: str) -> tuple[str, ...]:
    _, header, rest = section.partition("Traceback (most recent call last):")
    if not header:
        return ()
    for line in rest.splitlines():
        if line.startswith("  ") and not line.startswith("    "):
            raised = parse_raised(line.strip(), is_after_stack=True)
            if raised:
                return (shorten(": ".join(filter(None, raised))),)
    return ()
