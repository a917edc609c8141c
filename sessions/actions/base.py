"""What an action is: a value that turns one state of a session into the next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from ..errors import Refused
from ..model.base import Part
from ..model.experiment import Experiment
from ..model.hypothesis import Hypothesis
from ..model.run_ref import RunRef
from ..model.session import Session

_Item = TypeVar("_Item")
_Part = TypeVar("_Part", bound=Part)


class Action(Part):
    """Something that is done to a session; `op` names it in the journal."""

    def apply(self, session: Session, at: datetime) -> Session:
        """The state after it; `Refused` if the rules do not allow it."""
        raise NotImplementedError

    @property
    def makes(self) -> str:
        """Id of what it adds to the session, if it adds something that has one."""
        return ""

    def said(self, session: Session) -> str:
        """What it does, for a notice or the list of what can be undone."""
        raise NotImplementedError


def hypothesis_in(session: Session, id: str) -> Hypothesis:  # noqa: A002 - what it is
    """A hypothesis that must be there."""
    found = session.hypothesis(id)
    if found is None:
        raise Refused(f"there is no hypothesis {id}")
    return found


def experiment_in(session: Session, id: str) -> Experiment:  # noqa: A002 - what it is
    """An experiment that must be there."""
    found = session.experiment(id)
    if found is None:
        raise Refused(f"there is no experiment {id}")
    return found


def swapped(items: Sequence[_Item], old: _Item, new: _Item) -> tuple[_Item, ...]:
    """The same items with one of them replaced."""
    return tuple(new if item is old else item for item in items)


def changed(part: _Part, /, **values: Any) -> _Part:
    """Another state of a part, checked again: a copy alone would not look at its values."""
    return type(part).model_validate({**dict(part), **values})


def without(items: Sequence[_Item], gone: _Item) -> tuple[_Item, ...]:
    """The same items without one of them."""
    return tuple(item for item in items if item is not gone)


def with_run(session: Session, run: RunRef | None) -> Session:
    """The session with a run, if it has not got it yet."""
    if run is None or any(known.id == run.id for known in session.runs):
        return session
    return changed(session, runs=(*session.runs, run))


def moved(items: Sequence[_Item], item: _Item, by: int) -> tuple[_Item, ...]:
    """The same items with one of them further up or down; `Refused` if it is at the end."""
    ordered = list(items)
    place = ordered.index(item)
    target = max(0, min(len(ordered) - 1, place + by))
    if target == place:
        raise Refused(f"it is the {'first' if by < 0 else 'last'} one already")
    ordered.insert(target, ordered.pop(place))
    return tuple(ordered)


def clipped(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
