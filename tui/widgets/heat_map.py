"""The gradient of every layer over the steps, or another quantity, as a map of heat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from ..cells import fitted, fitted_middle, fitted_right
from ..engine.curve_protocol import Heat
from ..heat_quantities import following, scale_for, title_of, value_text
from ..heat_scale import LEVELS, HeatScale, shade, short_names
from ..palette import DEFAULTS, style
from ..pane import Pane
from ..quantities import full_count, short_count

EMPTY = "no gradient norms per layer in this run; a log that has them is drawn here"
_BAD, _NONE = -1, -2
"""Levels of cells with a NaN or an infinity, and of cells without any norm."""
_TALLEST = 6
"""Lines that a layer gets at most, where there are few."""
_GROUND = 0.5
"""How much of its colour a cell has behind its glyph."""
_TICK_EVERY = 16


class HeatMap(Pane, can_focus=True):
    """Layers from first to last, steps from left to right, and a cursor that reads them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Curves here", id="heat.choose"),
        Binding("m", "quantity", "Other quantity", id="heat.quantity"),
        Binding("left,h", "move(0, -1)", "Earlier", id="heat.left", show=False),
        Binding("right,l", "move(0, 1)", "Later", id="heat.right", show=False),
        Binding("up,k", "move(-1, 0)", "Layer before", id="heat.up", show=False),
        Binding("down,j", "move(1, 0)", "Layer after", id="heat.down", show=False),
        Binding("pageup", "page(-1)", "Layers above", id="heat.page_up", show=False),
        Binding("pagedown", "page(1)", "Layers below", id="heat.page_down", show=False),
        Binding("home,0", "end(-1)", "First step", id="heat.first", show=False),
        Binding("end,dollar_sign", "end(1)", "Last step", id="heat.last", show=False),
    ]

    @dataclass
    class Wanted(Message):
        """There is room for so many columns."""

        columns: int

    @dataclass
    class PlaceChosen(Message):
        """The user wants to see this place elsewhere."""

        x: float

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as widgets call it
        super().__init__(id=id)
        self.heat: Heat | None = None
        self.quantity = "grad_norm"
        """What the user wants to see; the map says what it shows."""
        self._title = ""
        self._entitle()
        self.row = 0
        self.column = 0
        self._top = 0
        self._labels: list[str] = []
        self._scale = HeatScale()
        self._bad: frozenset[tuple[int, int]] = frozenset()
        self._told = 0
        self._ramp: tuple[tuple[str, ...], list[Style]] = ((), [])

    # -- facts -------------------------------------------------------------------------------

    def set_heat(self, heat: Heat) -> None:
        """Show these norms; the cursor stays at its layer and step, or at the end."""
        before, self.heat = self.heat, heat
        if before is not None and _shown(before) == _shown(heat):
            return
        self._entitle()
        if before is None or before.layers != heat.layers:
            self.row = self._top = 0
            self._labels = short_names(heat.layers)
        self.column = self._column_after(before, heat)
        self._bad = frozenset(heat.bad)
        self._scale = scale_for(heat)
        self._follow_cursor()
        self._tell()
        self.refresh()

    def _entitle(self) -> None:
        """Say what is shown; the key for another quantity is there if there is one."""
        title = title_of(self.heat)
        if title != self._title:
            self._title = title
            self.border_title = Content(title)
            if self.is_mounted:
                self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer another quantity only where the run has one."""
        return action != "quantity" or following(self.heat) is not None

    def _column_after(self, before: Heat | None, heat: Heat) -> int:
        """Where the step of the cursor is now; the end stays the end."""
        last = max(0, len(heat.columns) - 1)
        if before is None or not before.columns or self.column >= len(before.columns) - 1:
            return last
        x = before.columns[self.column]
        return min(range(last + 1), key=lambda place: abs(heat.columns[place] - x), default=0)

    @property
    def columns(self) -> int:
        """How many columns of steps there is room for."""
        return max(1, self.size.width - self._gutter - 1)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to draw."""
        return self.heat is None or not self.heat.layers or not self.heat.columns

    # -- layout ------------------------------------------------------------------------------

    @property
    def _gutter(self) -> int:
        longest = max((len(label) for label in self._labels), default=10)
        return max(6, min(longest + 1, self.size.width // 4, 30))

    @property
    def _room(self) -> int:
        """Lines for layers: one above tells the cell, two below the steps and the scale."""
        return max(1, self.size.height - (3 if self.size.height > 5 else 1))

    @property
    def _lines(self) -> int:
        """Lines that layers take."""
        return min(self._room, _TALLEST * len(self._labels))

    def _layer_at(self, line: int) -> int:
        count = len(self._labels)
        return self._top + line if count > self._lines else line * count // self._lines

    def _lines_of(self, layer: int) -> Iterator[int]:
        return (line for line in range(self._lines) if self._layer_at(line) == layer)

    def _follow_cursor(self) -> None:
        count, room = len(self._labels), self._lines
        if self.is_empty:
            self._say("")
        elif count <= room:
            self._top = 0
            self._say(f"{count} layers")
        else:
            top = min(self._top, self.row, count - room)
            self._top = max(top, self.row - room + 1)
            self._say(f"layers {self._top + 1}-{self._top + room} of {count}")

    def _say(self, text: str) -> None:
        # Setting it draws the whole pane again, even to the same text.
        if text != (self.border_subtitle or ""):
            self.border_subtitle = Content(text)

    def _tell(self) -> None:
        if self.size.width and self.columns != self._told:
            self._told = self.columns
            self.post_message(self.Wanted(self._told))

    def on_resize(self, event: Resize) -> None:
        """Ask for as many columns as fit."""
        self._follow_cursor()
        self._tell()

    # -- drawing -----------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line: the cell under the cursor, a layer, the steps, or the scale."""
        width = self.size.width
        if self.heat is None or self.is_empty:
            drawn = self._draw_nothing(y, width)
        elif y == 0:
            drawn = [Segment(fitted(f" {self.read_out}", width), style(self.app, "heading"))]
        elif y <= self._lines:
            drawn = list(self._draw_layer(self.heat, y - 1))
        elif y == self._lines + 1:
            drawn = self._draw_steps(self.heat)
        elif y == self._lines + 2:
            drawn = self._draw_scale()
        else:
            drawn = []
        return Strip(drawn).adjust_cell_length(width).apply_style(self.rich_style)

    def _draw_nothing(self, y: int, width: int) -> list[Segment]:
        if y != self.size.height // 2:
            return []
        text = "reading..." if self.heat is None else EMPTY
        return [Segment(fitted(text, width - 2).strip().center(width), style(self.app, "quiet"))]

    @property
    def read_out(self) -> str:
        """The cell under the cursor in words."""
        heat = self.heat
        if heat is None or self.is_empty:
            return ""
        norm = heat.cells[self.row][self.column]
        told = value_text(heat.quantity, norm)
        if (self.row, self.column) in self._bad:
            others = "" if math.isnan(norm) else f", {told} otherwise"
            told = f"× NaN or infinite{others}"
        place = f"{heat.axis} {full_count(_whole(heat, self.column))}"
        return f"{heat.layers[self.row]}  {place}  {told}"

    def _draw_layer(self, heat: Heat, line: int) -> Iterator[Segment]:
        layer = self._layer_at(line)
        is_current, is_first = layer == self.row, next(self._lines_of(layer)) == line
        label = self._labels[layer] if is_first else ""
        mark = "▸" if is_current and is_first else " "
        yield Segment(mark + fitted_middle(label, self._gutter - 1) + " ",
                      style(self.app, "heading" if is_current else "quiet"))  # fmt: skip
        cells, styles = heat.cells[layer], self._styles()
        columns, width = len(heat.columns), self.columns

        def seen(place: int) -> tuple[int, bool]:
            column = place * columns // width
            is_pointed = is_current and column == self.column
            if (layer, column) in self._bad:
                return _BAD, is_pointed
            level = self._scale.level(cells[column])
            return (_NONE if level is None else level), is_pointed

        for (level, is_pointed), places in groupby(map(seen, range(width))):
            glyph = {_BAD: "×", _NONE: "·"}.get(level) or shade(level)
            if is_pointed:
                glyph = "×" if level == _BAD else "◆"
            yield Segment(
                glyph * sum(1 for _ in places), self._cursor_style if is_pointed else styles[level]
            )

    @property
    def _cursor_style(self) -> Style:
        # Reversed, because the cells below have all colours from dark to bright.
        return style(self.app, "chart-cursor") + Style(reverse=True, bold=True)

    def _draw_steps(self, heat: Heat) -> list[Segment]:
        width, columns = self.columns, len(heat.columns)
        text = [" "] * width
        for number in range(max(1, width // _TICK_EVERY)):
            start = number * _TICK_EVERY
            label = "╵" + short_count(_whole(heat, start * columns // width))
            text[start : start + len(label)] = label
        last = short_count(_whole(heat, -1)) + "╵"
        if width >= _TICK_EVERY:
            text[-len(last) - 1 :] = " " + last
        gutter = fitted_right(heat.axis, self._gutter) + " "
        return [Segment(gutter + "".join(text)[:width], style(self.app, "chart-axis"))]

    def _draw_scale(self) -> list[Segment]:
        quiet, styles = style(self.app, "quiet"), self._styles()
        ramp = [Segment(shade(level), styles[level]) for level in range(LEVELS)]
        low, high = self._scale.ends
        kind = "" if self._scale.is_even else "  log scale"
        start = Segment(fitted_right(low, self._gutter) + " ", quiet)
        drawn = [start, *ramp, Segment(f" {high}{kind}", quiet)]
        if self._bad:
            drawn += [Segment("  "), Segment("×", styles[_BAD]), Segment(" NaN or Inf", quiet)]
        return drawn

    def _styles(self) -> list[Style]:
        """Styles of all levels, and at the end those of nothing and of bad cells."""
        variables = self.app.theme_variables
        names = ("heat-low", "heat-middle", "heat-high", "heat-bad", "quiet", "background")
        key = tuple(variables.get(name) or DEFAULTS.get(name, "") for name in names)
        if self._ramp[0] != key:
            ramp = [self._level_style(level, key) for level in range(LEVELS)]
            self._ramp = key, [*ramp, style(self.app, "quiet"), style(self.app, "heat-bad")]
        return self._ramp[1]

    def _level_style(self, level: int, key: tuple[str, ...]) -> Style:
        low, middle, high, ground = (Color.parse(key[place]) for place in (0, 1, 2, 5))
        share = level / (LEVELS - 1)
        if any(colour.ansi is not None for colour in (low, middle, high, ground)):
            band = ("heat-low", "heat-middle", "heat-high")[min(2, int(share * 3))]
            return style(self.app, band)
        colour = low.blend(middle, 2 * share) if share < 0.5 else middle.blend(high, 2 * share - 1)
        behind = ground.blend(colour, _GROUND)
        return Style(color=colour.rich_color, bgcolor=behind.rich_color)

    # -- moving ------------------------------------------------------------------------------

    def _go(self, layer: int, column: int) -> None:
        if self.heat is None or self.is_empty:
            return
        layer = max(0, min(len(self.heat.layers) - 1, layer))
        column = max(0, min(len(self.heat.columns) - 1, column))
        if (layer, column) == (self.row, self.column):
            return
        lines, top = {0, *(line + 1 for line in self._lines_of(self.row))}, self._top
        self.row, self.column = layer, column
        self._follow_cursor()
        if top != self._top:
            self.refresh()
            return
        lines.update(line + 1 for line in self._lines_of(layer))
        self.refresh(*(Region(0, line, self.size.width, 1) for line in sorted(lines)))

    def action_move(self, layers: int, columns: int) -> None:
        """Go to a neighbouring cell."""
        self._go(self.row + layers, self.column + columns)

    def action_page(self, by: int) -> None:
        """Go many layers further."""
        self._go(self.row + by * max(1, self._lines - 1), self.column)

    def action_end(self, which: int) -> None:
        """Go to the first or to the last step."""
        self._go(self.row, 0 if which < 0 or self.heat is None else len(self.heat.columns) - 1)

    def action_quantity(self) -> None:
        """Ask for the next quantity that the run has of its layers."""
        if (wanted := following(self.heat)) is not None:
            self.quantity = wanted
            self.post_message(self.Wanted(self.columns))

    def action_choose(self) -> None:
        """Ask for the curves at this step."""
        if self.heat is not None and not self.is_empty:
            self.post_message(self.PlaceChosen(self.heat.columns[self.column]))

    def on_click(self, event: Click) -> None:
        """Go where the mouse points."""
        place = event.get_content_offset(self)
        if place is None or self.heat is None or self.is_empty or not 0 < place.y <= self._lines:
            return
        column = max(0, place.x - self._gutter - 1) * len(self.heat.columns) // self.columns
        self._go(self._layer_at(place.y - 1), column)


def _shown(heat: Heat) -> tuple[object, ...]:
    """What of it is seen: a NaN equals a NaN here."""
    cells = tuple(row.tobytes() for row in heat.cells)
    return heat.layers, heat.columns, cells, heat.bad, heat.axis, heat.quantity, heat.quantities


def _whole(heat: Heat, column: int) -> float:
    """The place of a column as people count: steps are whole, epochs need not be."""
    return round(heat.columns[column], 2 if heat.axis == "epoch" else None)
