"""Answers about a run that several analyzers and causes ask for, worked out once per update."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from ..core.failure import first_failure, unresolved
from ..core.view import PlacedEvent, RunView

Answer = TypeVar("Answer")
_Kept = tuple[list[PlacedEvent], dict[str, object]]
_known: WeakKeyDictionary[RunView, _Kept] = WeakKeyDictionary()


def once_per_update(ask: Callable[[RunView], Answer]) -> Callable[[RunView], Answer]:
    """Keep the answer of a question about a view until the view takes in something new."""
    name = f"{ask.__module__}.{ask.__qualname__}"

    @wraps(ask)
    def answer(view: RunView) -> Answer:
        events = view.events
        kept = _known.get(view)
        # The view makes a new list of events with every update.
        if kept is None or kept[0] is not events:
            kept = _known[view] = (events, {})
        if name not in kept[1]:
            kept[1][name] = ask(view)
        found: Answer = kept[1][name]  # type: ignore[assignment]
        return found

    return answer


first_of = once_per_update(first_failure)
"""The event from which the others followed."""
open_events = once_per_update(unresolved)
"""Grave events after which the run did not go on."""
