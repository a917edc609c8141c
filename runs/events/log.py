"""All events of a run, with repetitions counted instead of listed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from ..event import Event, EventKind

_MOVING = frozenset(
    {
        EventKind.OVERFLOW,
        EventKind.CHECKPOINT,
        EventKind.EVALUATION,
        EventKind.RESTART,
        EventKind.STAGE,
        EventKind.FINISHED,
        EventKind.NAN,
        EventKind.SAMPLE,
    }
)
"""Kinds whose every occurrence matters, because each has its own step."""
_MOST_OF_A_KIND = 2000
_NEAR = 6
"""Lines: announcements of the same checkpoint ("saving", "saved") follow this closely."""
_EXACT = frozenset({EventKind.OVERFLOW, EventKind.NAN, EventKind.SAMPLE, EventKind.STAGE})
"""Kinds in whose titles a number tells one step from the next."""
_ADOPTED = ("title", "line", "offset", "step", "text", "message", "frames", "chain", "source")
"""What the earliest of several equal events gives to the one that is kept."""
_VARYING = re.compile(r"0x[0-9a-fA-F]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d+(?:[.:,]\d+)*")


def _fold(text: str) -> str:
    return _VARYING.sub("#", text[:1000])


def merge_key(event: Event) -> Hashable:
    """Equal for events that say the same but for ranks, numbers, addresses and times."""
    if event.exception and event.kind is not EventKind.WARNING:
        frames = tuple((frame.file, frame.line, frame.function) for frame in event.frames)
        return event.kind, event.exception, _fold(event.message), frames
    return event.kind, _fold(event.title)


class EventLog:
    """Takes events in any order and keeps each thing that was said once."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._kept: list[Event] = []
        self._by_key: dict[Hashable, Event] = {}
        self._number: dict[EventKind, int] = {}
        self._latest: dict[EventKind, Event] = {}
        for event in events:
            self.add(event)

    def __len__(self) -> int:
        """How many different events there are."""
        return len(self._kept)

    def __iter__(self) -> Iterator[Event]:
        """Go through the events in the order of their lines."""
        return iter(sorted(self._kept, key=lambda event: (event.line, event.last_line)))

    def add(self, event: Event) -> Event:
        """Keep an event, or count it as one more of an earlier one; returns what is kept.

        `last_line` of a repeated event is where it was said last.
        """
        earlier = self._find(event)
        if earlier is not None:
            _merge(earlier, event)
            return earlier
        kept = replace(event, last_line=max(event.last_line, event.line))
        self._kept.append(kept)
        self._latest[event.kind] = kept
        self._number[event.kind] = self._number.get(event.kind, 0) + 1
        if event.kind not in _MOVING:
            self._by_key[merge_key(event)] = kept
        return kept

    def _find(self, event: Event) -> Event | None:
        latest = self._latest.get(event.kind)
        if event.kind not in _MOVING:
            earlier = self._by_key.get(merge_key(event))
        else:
            earlier = latest if latest is not None and _is_same_moment(latest, event) else None
        is_full = self._number.get(event.kind, 0) >= _MOST_OF_A_KIND
        return latest if earlier is None and is_full else earlier


def _is_same_moment(earlier: Event, event: Event) -> bool:
    """Copies by other ranks, or several announcements of one evaluation or checkpoint."""
    distance = event.line - earlier.last_line
    if not 0 <= distance <= _NEAR:
        return False
    if event.kind in _EXACT:
        return event.title == earlier.title and distance <= 1
    if _fold(event.title) == _fold(earlier.title) and distance <= 1:
        return True
    if event.kind is EventKind.EVALUATION:
        return distance <= 2
    is_same_file = bool(event.message) and event.message == earlier.message
    # What was saved and is loaded right after it is a run that ended and went on.
    is_same_file &= event.title.partition(":")[0] == earlier.title.partition(":")[0]
    return is_same_file and _fold(event.text) != _fold(earlier.text)


def _merge(kept: Event, event: Event) -> None:
    kept.count += event.count
    kept.ranks = tuple(sorted({*kept.ranks, *event.ranks}))
    kept.last_line = max(kept.last_line, event.last_line, event.line)
    if _order(event) < _order(kept):
        for name in _ADOPTED:
            setattr(kept, name, getattr(event, name))


def _order(event: Event) -> tuple[int, str, str]:
    return event.line, event.title, event.text
