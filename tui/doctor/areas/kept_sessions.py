"""Sessions on disk that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mltd.runs.errors import MltdError

from ...wording import count
from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "sessions"
MOST = 5
"""Sessions that are named one by one."""

_line = partial(Line, AREA)


def readable(around: Surroundings) -> Iterator[Line]:
    """Read what the list of sessions reads."""
    from mltd.sessions.storage.store import SessionStore

    try:
        found = SessionStore(around.state / "sessions").summaries()
    except MltdError as problem:
        yield _line(State.PROBLEM, problem.message, problem.hint or "mend its modes")
        return
    broken = [row for row in found if row.problem]
    good = len(found) - len(broken)
    if not broken:
        yield _line(State.OK, f"{count(good, 'session')}, all readable" if good else "none yet")
        return
    for row in broken[:MOST]:
        yield _line(
            State.PROBLEM,
            f"{row.id} cannot be read: {row.problem}",
            f"keep a copy of what `mltd-tui sessions path {row.id}` names, then mend or delete it",
        )
    if len(broken) > MOST:
        more = f"{len(broken) - MOST} more cannot be read"
        yield _line(State.PROBLEM, more, "`mltd-tui sessions --all` lists them")
    if good:
        yield _line(State.OK, f"{count(good, 'other session')}: readable")


CHECKS = (
    Check(
        AREA,
        "the sessions",
        readable,
        late_advice="delete old ones: `mltd-tui sessions` lists them",
    ),
)
