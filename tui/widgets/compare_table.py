"""The metrics of two runs, one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual.message import Message

from ..cells import fitted, fitted_middle, fitted_right
from ..change_text import Verdict, change_of
from ..engine.protocol import CompareRow
from ..palette import style
from ..quantities import full_count, short_value
from .line_table import LineTable

_PERCENT, _VERDICT = 8, 9
_LONGEST_NAME = 44
NONE = "-"


@dataclass(frozen=True, slots=True)
class CompareColumns:
    """How wide each column is; 0 for one that there is no room for."""

    name: int
    value: int
    gap: int
    has_best: bool
    place: int


def lay_out(width: int, longest_name: int) -> CompareColumns:
    """Columns for a width: the best values from 100 on, the place of each metric from 124 on."""
    gap = 1 if width < 100 else 2
    has_best = width >= 100
    value = 9 if width < 100 else 11 if width < 150 else 13
    place = 20 if width >= 124 else 0
    columns = 5 + 2 * has_best + bool(place)
    fixed = 1 + (3 + 2 * has_best) * value + _PERCENT + _VERDICT + columns * gap + place
    name = max(8, min(width - fixed, max(16, longest_name), _LONGEST_NAME))
    return CompareColumns(name, value, gap, has_best, place)


class CompareTable(LineTable):
    """Before, after, and whether that is better."""

    @dataclass
    class Pointed(Message):
        """The cursor is on this metric, or on none."""

        row: CompareRow | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as widgets call it
        super().__init__(id=id)
        self.rows: tuple[CompareRow, ...] = ()
        self._longest_name = 0

    @property
    def current(self) -> CompareRow | None:
        """The metric under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def set_rows(self, rows: tuple[CompareRow, ...]) -> None:
        """Show these; the cursor stays on its metric if that is still there."""
        before, was = self.rows, self.current
        if rows == before:
            return
        self.rows = rows
        self._longest_name = max((len(row.name) for row in rows), default=0)
        names = [row.name for row in rows]
        if names == [row.name for row in before]:
            for number, row in enumerate(rows):
                if row != before[number]:
                    self.refresh_item(number)
        else:
            is_known = was is not None and was.name in names
            self.set_count(len(rows), names.index(was.name) if was and is_known else self.cursor)
        if was != self.current:
            self.cursor_moved()

    def cursor_moved(self) -> None:
        """Tell which metric it is on."""
        self.post_message(self.Pointed(self.current))

    def draw_heading(self, width: int) -> Sequence[Segment]:
        """Names of the columns."""
        columns = lay_out(width, self._longest_name)
        parts = [" " + fitted("metric", columns.name)]
        parts += [fitted_right(name, columns.value) for name in ("before", "after", "change")]
        parts += [fitted_right("", _PERCENT), fitted("", _VERDICT)]
        if columns.has_best:
            parts += [fitted_right(name, columns.value) for name in ("best before", "best after")]
        if columns.place:
            parts.append(fitted("compared at", columns.place))
        return [Segment((" " * columns.gap).join(parts))]

    def draw_line(self, number: int, width: int, is_current: bool) -> Sequence[Segment]:
        """One metric."""
        columns = lay_out(width, self._longest_name)
        return list(self._draw(self.rows[number], columns, is_current))

    def _draw(self, row: CompareRow, columns: CompareColumns, is_now: bool) -> Iterator[Segment]:
        gap = " " * columns.gap
        change = change_of(row)
        quiet = style(self.app, "quiet")
        judged = style(self.app, change.verdict.meaning)
        yield Segment("▸" if is_now else " ")
        yield Segment(fitted_middle(row.name, columns.name))
        for value in (row.before, row.after):
            text = NONE if value is None else short_value(value)
            yield Segment(gap + fitted_right(text, columns.value), quiet if value is None else None)
        word = f"{change.verdict.glyph} {change.verdict}".strip()
        if change.verdict is Verdict.MISSING:
            word = "no after" if row.after is None else "no before"
        parts = (
            fitted_right(change.difference, columns.value),
            fitted_right(change.percent, _PERCENT),
            fitted(word, _VERDICT),
        )
        yield Segment(gap + gap.join(parts), judged)
        if columns.has_best:
            for value in (row.before_best, row.after_best):
                text = "" if value is None else short_value(value)
                yield Segment(gap + fitted_right(text, columns.value), quiet)
        if columns.place:
            yield Segment(gap + fitted(place_of(row), columns.place), quiet)


def place_of(row: CompareRow) -> str:
    """Where the values of a metric are from."""
    if row.at is None:
        return ""
    axis = "point" if row.axis == "index" else row.axis
    return f"{axis} {full_count(row.at)}"


def usual_place(rows: Sequence[CompareRow]) -> str:
    """Where most of the metrics are compared."""
    places = Counter(place for row in rows if (place := place_of(row)))
    return places.most_common(1)[0][0] if places else ""
