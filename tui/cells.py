"""Outside text in a fixed number of terminal cells; wide characters take two."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from .escaping import printable

CUT = "…"


def fitted(text: str, width: int) -> str:
    """Text at the left of its column, cut at its end where it must be."""
    text = printable(text)
    if width < 1 or cell_len(text) <= width:
        return set_cell_size(text, max(0, width))
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + CUT, width)


def fitted_right(text: str, width: int) -> str:
    """Text at the right of its column."""
    text = fitted(text, width).rstrip()
    return " " * (width - cell_len(text)) + text


def fitted_middle(text: str, width: int) -> str:
    """Text with its middle left out where it must be: both ends of a name tell something."""
    text = printable(text)
    if width < 5 or cell_len(text) <= width:
        return fitted(text, width)
    tail = _end_of(text, (width - 1) // 2)
    head = set_cell_size(text, width - 1 - cell_len(tail))
    return head + CUT + tail


def _end_of(text: str, width: int) -> str:
    """As much of the end as fits."""
    start = len(text)
    while start and cell_len(text[start - 1 :]) <= width:
        start -= 1
    return text[start:]
