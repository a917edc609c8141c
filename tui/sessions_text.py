"""The list of sessions as text: a table that fits, or values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from mltd.sessions.model.checklist import Phase

from .cells import fitted
from .escaping import printable
from .wording import age

if TYPE_CHECKING:
    from mltd.sessions.storage.store import SessionSummary

_GAP = "  "
_LEAST_ID = 13
"""As long as date and time: shorter ones mean nothing to a reader."""
_LEAST = {"title": 12, "runs": 10, "headline": 16}
"""Narrower than this a column tells nothing."""
_PHASES = list(Phase)


class _Column(NamedTuple):
    name: str
    cells: list[str]
    width: int


def described(row: SessionSummary, folder: Path) -> dict[str, object]:
    """A session as values for JSON."""
    values = row._asdict()
    values |= {"created": row.created.isoformat(), "changed": row.changed.isoformat()}
    values["runs"] = list(row.runs)
    values["phase_number"] = _phase_number(row.phase)
    values["path"] = str(folder)
    return values


def table(
    rows: Sequence[SessionSummary],
    columns: int,
    *,
    names: Sequence[str] = (),
    now: datetime | None = None,
) -> Iterator[str]:
    """One line per session below a heading; `columns` 0 means as wide as it takes.

    `names` are the ids of all sessions that there are: where there is little room an id is cut
    to as much of it as is needed to tell it from these.
    """
    if not rows:
        return
    moment = now or datetime.now(UTC)
    made = [
        _column("id", [row.id for row in rows]),
        _column("changed", [_age(row, moment) for row in rows]),
        _column("phase", [_phase(row) for row in rows]),
        _column("title", [row.title for row in rows]),
        _column("runs", [_runs(row) for row in rows]),
        _column("headline", [_headline(row) for row in rows]),
    ]
    shown = _fitting(made, columns, names or [row.id for row in rows])
    for line in range(-1, len(rows)):
        cells = [column.name.upper() if line < 0 else column.cells[line] for column in shown]
        text = _GAP.join(
            fitted(cell, column.width) for cell, column in zip(cells, shown, strict=True)
        )
        yield text.rstrip()


def _column(name: str, cells: list[str]) -> _Column:
    cells = [printable(cell) for cell in cells]
    return _Column(name, cells, max(map(cell_len, [name, *cells])))


def _fitting(made: list[_Column], columns: int, names: Sequence[str]) -> list[_Column]:
    """The columns that fit, the last ones narrower or gone where there is no room for them."""
    if not columns or _total(made) <= columns:
        return made
    short = _column("id", [_short_id(id_, names) for id_ in made[0].cells])
    # An empty column is worth nothing where there is little room.
    head, tail = [short, *made[1:3]], [made[3], *(c for c in made[4:] if any(c.cells))]
    while len(head) > 1 and _total(head) + len(_GAP) + _LEAST["title"] > columns:
        head.pop()
    while len(tail) > 1 and _total(head) + _least(tail) > columns:
        tail.pop()
    # The first ones get what they need as long as the later ones get their least.
    for at, column in enumerate(tail):
        left = columns - _total([*head, *tail[:at]]) - _least(tail[at + 1 :]) - len(_GAP)
        tail[at] = column._replace(width=max(1, min(column.width, left)))
    if _total([*head, *tail]) <= columns:
        return [*head, *tail]
    return [head[0]._replace(width=max(1, min(head[0].width, columns)))]


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * max(0, len(columns) - 1)


def _least(columns: Sequence[_Column]) -> int:
    return sum(min(column.width, _LEAST[column.name]) + len(_GAP) for column in columns)


def _short_id(id_: str, names: Sequence[str]) -> str:
    """As much of an id as no other one begins with."""
    others = [name.casefold() for name in names if name != id_]
    for length in range(_LEAST_ID, len(id_)):
        begin = id_[:length].casefold()
        if begin[-1].isalnum() and not any(name.startswith(begin) for name in others):
            return id_[:length]
    return id_


def _age(row: SessionSummary, moment: datetime) -> str:
    return age((moment - row.changed).total_seconds())


def _phase(row: SessionSummary) -> str:
    return "archived" if row.is_archived else f"{_phase_number(row.phase) or '?'}/{len(_PHASES)}"


def _phase_number(phase: str) -> int:
    return next((known.number for known in _PHASES if known.value == phase), 0)


def _runs(row: SessionSummary) -> str:
    if not row.runs:
        return ""
    return row.runs[0] + (f" +{len(row.runs) - 1}" if len(row.runs) > 1 else "")


def _headline(row: SessionSummary) -> str:
    return f"cannot be read: {row.problem}" if row.problem else row.headline
