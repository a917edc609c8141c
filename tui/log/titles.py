"""What the frame of the log says: which file, whether it is live, and what is shown of it."""

from __future__ import annotations

import os
from typing import NamedTuple

from mltd.runs.sources.line_scan import Conditions
from mltd.runs.sources.pieces import FollowState

from ..escaping import printable
from .window import Window


class Words(NamedTuple):
    """A piece of a title and its meaning."""

    text: str
    meaning: str


def title(
    path: str, place: str, window: Window | None, *, is_following: bool, new_lines: int
) -> list[Words]:
    """Name of the file, and whether what is seen of it is the newest."""
    words = [Words(printable(os.path.basename(path)) or "log", "heading")]
    if place:
        words.append(Words(f" {place}", "quiet"))
    words.append(Words(" · ", "quiet"))
    words.append(_liveness(window, is_following=is_following, new_lines=new_lines))
    return words


def _liveness(window: Window | None, *, is_following: bool, new_lines: int) -> Words:
    if window is None:
        return Words("opening", "quiet")
    if window.is_unpacking:
        return Words(f"unpacking, {window.size >> 20:,} MiB so far", "stale")
    if window.status.state is FollowState.UNREADABLE:
        return Words("unreadable", "severity-critical")
    if window.status.state is FollowState.MISSING:
        return Words("deleted" if window.size > window.start else "not there yet", "stale")
    if new_lines and not is_following:
        noun = "line" if new_lines == 1 else "lines"
        return Words(f"paused: {new_lines:,} new {noun} below", "stale")
    if window.is_packed:
        return Words("compressed", "quiet")
    return Words("following", "severity-fine") if is_following else Words("paused", "stale")


def empty(path: str, window: Window | None, *, is_filtered: bool, is_scanned: bool) -> str:
    """What to say where no line is."""
    name = printable(os.path.basename(path))
    if not path:
        return "no text log in this run"
    if window is None:
        return f"opening {name}"
    if window.status.state is FollowState.UNREADABLE:
        return f"{name} cannot be read: {printable(window.status.reason)}"
    if window.size > window.start and is_filtered:
        return "no line passes the filter" if is_scanned else "filtering"
    if window.status.state is FollowState.MISSING and window.size == window.start:
        return f"waiting for {name}"
    return "unpacking" if window.is_unpacking else "no lines yet"


def filter_words(conditions: Conditions, count: int, *, is_done: bool, share: float) -> str:
    """Which lines a filter lets through, and how many these are."""
    parts = []
    if conditions.level:
        parts.append({"warning": "warnings and errors", "error": "errors"}[conditions.level])
    if conditions.rank >= 0:
        parts.append(f"rank {conditions.rank}")
    if conditions.show:
        parts.append(f"only /{printable(conditions.show)}/")
    if conditions.hide:
        parts.append(f"not /{printable(conditions.hide)}/")
    so_far = "" if is_done else f", {share:.0%} read"
    noun = "line" if count == 1 else "lines"
    return f"filter: {', '.join(parts)} ({count:,} {noun}{so_far})"
