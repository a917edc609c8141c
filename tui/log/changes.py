"""What of a row has to be sent again: lines of a log often end alike."""

from __future__ import annotations

from rich.cells import cell_len
from textual.strip import Strip


def changed_cells(before: Strip | None, after: Strip) -> int:
    """How many cells of a row, from its left edge on, have to be painted; 0 if none."""
    if before is None or before.cell_length != after.cell_length:
        return after.cell_length
    if before == after:
        return 0
    alike = 0
    old, new = list(before), list(after)
    while old and new and old[-1] == new[-1]:
        alike += cell_len(old.pop().text)
        new.pop()
    if old and new and old[-1].style == new[-1].style:
        alike += cell_len(_common_end(old[-1].text, new[-1].text))
    return after.cell_length - alike


def _common_end(one: str, other: str) -> str:
    length = 0
    while length < min(len(one), len(other)) and one[-1 - length] == other[-1 - length]:
        length += 1
    return one[len(one) - length :]
