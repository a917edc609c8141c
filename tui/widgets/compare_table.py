"""The metrics of two runs, one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual.message import Message

from ..cells import fitted, fitted_middle, fitted_right
from ..change_text import Change, Verdict, change_of
from ..engine.curve_protocol import CompareRow
from ..palette import style
from ..quantities import full_count, short_count, short_value
from .line_table import LineTable

_WIDE = 120
"""From here on there is more air between the columns."""
_LONGEST_NAME = 44
_SHORTEST_NAME = 14
NONE = "-"
_ALWAYS = ("before", "after", "change", "verdict")
_IN_ORDER_OF_WORTH = ("interval", "effect", "parts", "difference", "best", "place")
"""Columns that are there if there is room for them and for those named before."""
_ORDER = ("before", "after", "difference", "change", "interval", "verdict", "effect", "parts",
          "best before", "best after", "place")  # fmt: skip
_HEADINGS = {
    "change": "change", "difference": "by", "interval": "95% interval", "verdict": "",
    "effect": "effect", "parts": "part at", "place": "compared over",
}  # fmt: skip
_WIDTHS = {"change": 8, "interval": 14, "verdict": 9, "effect": 6, "parts": 9, "place": 24}
_LEFT = ("verdict", "place")


@dataclass(frozen=True, slots=True)
class CompareColumns:
    """The columns there is room for, from left to right, and how wide each is."""

    name: int
    gap: int
    widths: dict[str, int]

    @property
    def total(self) -> int:
        """Cells that a line takes, the mark of the cursor included."""
        return 1 + self.name + sum(width + self.gap for width in self.widths.values())


def lay_out(width: int, longest_name: int) -> CompareColumns:
    """Columns for a width: the most telling ones first, the name never too short to be read."""
    is_wide = width >= _WIDE
    gap, value = (2, 10) if is_wide else (1, 9)
    wanted_name = max(_SHORTEST_NAME, min(longest_name, 24 if is_wide else 16))
    shown = dict.fromkeys(_ALWAYS)
    room = width - 1 - wanted_name
    room -= sum(_WIDTHS.get(name, value) + gap for name in shown)
    for name in _IN_ORDER_OF_WORTH:
        columns = ("best before", "best after") if name == "best" else (name,)
        needed = sum(_width(column, value) + gap for column in columns)
        if needed > room:
            break
        shown |= dict.fromkeys(columns)
        room -= needed
    widths = {name: _width(name, value) for name in _ORDER if name in shown}
    name_width = max(8, min(wanted_name + room, max(16, longest_name), _LONGEST_NAME))
    return CompareColumns(name_width, gap, widths)


def _width(column: str, value: int) -> int:
    return _WIDTHS.get(column, max(value, len(column)))


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
        for column, cells in columns.widths.items():
            fit = fitted if column in _LEFT else fitted_right
            parts.append(fit(_HEADINGS.get(column, column), cells))
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
        for column, cells in columns.widths.items():
            text = _cell(column, row, change)
            fit = fitted if column in _LEFT else fitted_right
            shown = gap + fit(text, cells)
            if column in ("before", "after"):
                yield Segment(shown, quiet if text == NONE else None)
            else:
                yield Segment(shown, judged if column in _JUDGED else quiet)


_JUDGED = ("change", "difference", "interval", "verdict")


def _cell(column: str, row: CompareRow, change: Change) -> str:
    match column:
        case "before":
            return NONE if row.before is None else short_value(row.before)
        case "after":
            return NONE if row.after is None else short_value(row.after)
        case "change":
            return change.percent
        case "difference":
            return change.difference
        case "interval":
            return change.interval
        case "effect":
            return change.effect
        case "verdict" if change.verdict is Verdict.MISSING:
            return "no after" if row.after is None else "no before"
        case "verdict":
            return f"{change.verdict.glyph} {change.verdict}"
        case "parts":
            return "" if row.parts_at is None else parting_of(row.parts_at)
        case "best before":
            return "" if row.before_best is None else short_value(row.before_best)
        case "best after":
            return "" if row.after_best is None else short_value(row.after_best)
        case _:
            return place_of(row)


def parting_of(place: float) -> str:
    """Where two runs part, to about the precision with which that is known."""
    exact = full_count(round(place, 2) if abs(place) < 100 else round(place))
    return exact if len(exact) <= _WIDTHS["parts"] else short_count(place)


def place_of(row: CompareRow) -> str:
    """Where the values of a metric are from."""
    if row.at is None:
        return "last values" if row.axis == "final" else ""
    axis = "point" if row.axis == "index" else row.axis
    if row.start is None or row.start == row.at:
        return f"{axis} {full_count(row.at)}"
    return f"{axis} {full_count(row.start)}..{full_count(row.at)}"


def usual_place(rows: Sequence[CompareRow]) -> str:
    """Where most of the metrics are compared."""
    places = Counter(place for row in rows if (place := place_of(row)))
    return places.most_common(1)[0][0] if places else ""
