"""The way through the tree to a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .study import Shown


def way_to(shown: Shown, tensor: str) -> list[str] | None:
    """Keys of the rows to unfold, the tensor's own last; None if its row is not here."""
    waiting: list[list[str]] = [[""]]
    while waiting:
        way = waiting.pop()
        for row in shown.rows(way[-1]):
            if row.sort == "tensor" and row.name == tensor:
                return [*way[1:], row.key]
            # The name of alike modules is not that of each of them.
            may_hold = row.sort == "group" or tensor.startswith(f"{row.name}.")
            if row.children and may_hold:
                waiting.append([*way, row.key])
    return None
