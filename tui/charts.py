"""The one place that knows plotext: cells of a chart become rows of text in layers.

plotext keeps one global figure, so it is cleared for every picture and used by one thread. It
sees whole numbers inside its canvas only: with raw data its version 5 can hang, and its own
lines take tens of milliseconds for a noisy curve and forget what was below them in a cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

Cell = tuple[int, int]
"""Column from the left, row from the bottom."""

_COLOUR = re.compile(r"\x1b\[([\d;]*)m")
_BLANK = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn canvas: the characters of each row from the top, and the layer of each character."""

    rows: tuple[str, ...]
    layers: tuple[tuple[int, ...], ...]


def picture(cells: Mapping[Cell, tuple[str, int]], width: int, height: int) -> Picture:
    """Draw characters in layers (1 to 255) on a canvas; layer 0 is where nothing is."""
    if not cells:
        return Picture((" " * width,) * height, ((_BLANK,) * width,) * height)
    figure = _plotext()
    figure.clear_figure()
    figure.limit_size(False, False)
    figure.theme("clear")
    figure.plot_size(width, height)
    figure.frame(False)
    figure.xfrequency(0)
    figure.yfrequency(0)
    # With these limits a whole number is exactly the number of its column or row.
    figure.xlim(0, max(1, width - 1))
    figure.ylim(0, max(1, height - 1))
    columns, rows = zip(*cells, strict=True)
    characters, layers = zip(*cells.values(), strict=True)
    # A layer travels through plotext as the number of a colour; the theme gives it a real one.
    figure.scatter(list(columns), list(rows), marker=list(characters), color=list(layers))
    drawn = str(figure.build())
    figure.clear_figure()
    return _read(drawn, width, height)


@cache
def _plotext() -> ModuleType:
    """plotext, imported when the first chart is drawn: it costs 50 ms."""
    import plotext  # type: ignore[import-untyped]

    found: ModuleType = plotext
    return found


def _read(drawn: str, width: int, height: int) -> Picture:
    rows: list[str] = []
    layers: list[tuple[int, ...]] = []
    for line in drawn.split("\n")[:height]:
        text = ""
        tags: list[int] = []
        layer = _BLANK
        for place, part in enumerate(_COLOUR.split(line)):
            if place % 2:
                layer = int(part[5:]) if part.startswith("38;5;") else _BLANK
            else:
                text += part
                tags += [layer] * len(part)
        short = width - len(text)
        rows.append((text + " " * short)[:width])
        layers.append(tuple(tags + [_BLANK] * short)[:width])
    missing = height - len(rows)
    return Picture(
        tuple(rows) + (" " * width,) * missing, tuple(layers) + ((_BLANK,) * width,) * missing
    )
