"""The line at the bottom: the keys that work here and now, as many as fit."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import ActiveBinding
from textual.events import Click
from textual.strip import Strip

from .. import palette
from ..pane import Pane

_GAP = 2
PINNED = 2
"""Keys at the end, help and quit, that are never left out."""


class KeyLine(Pane):
    """One widget for all keys: Textual's footer makes one of each, at every change of focus."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._keys: tuple[tuple[str, str, str], ...] = ()
        """Key, how it is written, what it does."""

    def on_mount(self) -> None:
        """Follow what is focused."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._look())
        self._look()

    def _look(self) -> None:
        if not self.screen.is_current:
            return
        shown = _by_action(self.screen.active_bindings)
        keys = tuple(
            (key, self.app.get_key_display(active.binding), active.binding.description)
            for key, active in shown
        )
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def placed(self, width: int) -> list[tuple[int, str, str, str]]:
        """Column, key, its writing and its meaning, of those that fit into so many cells."""
        found = []
        column = 1
        # The way out and the way to all other keys are shown whatever else there is.
        kept = sum(_width(key) + _GAP for key in self._keys[-PINNED:])
        for place, key in enumerate(self._keys):
            reserved = kept if place < len(self._keys) - PINNED else 0
            if column + _width(key) + reserved > width:
                continue
            found.append((column, *key))
            column += _width(key) + _GAP
        return found

    def render_line(self, y: int) -> Strip:
        """The keys, what they do quietly beside them."""
        width = self.size.width
        key_style, quiet = palette.style(self.app, "key"), palette.style(self.app, "quiet")
        base = self.rich_style
        segments: list[Segment] = []
        at = 0
        for column, _, written, meaning in self.placed(width) if y == 0 else ():
            segments += [
                Segment(" " * (column - at), base),
                Segment(written, base + key_style + Style(bold=True)),
                Segment(f" {meaning}", base + quiet),
            ]
            at = column + cell_len(written) + 1 + cell_len(meaning)
        return Strip(segments).adjust_cell_length(width, base)

    def on_click(self, event: Click) -> None:
        """A click on a key presses it."""
        for column, key, written, meaning in self.placed(self.size.width):
            if column <= event.x < column + cell_len(written) + 1 + cell_len(meaning):
                self.app.simulate_key(key)
                return


def _width(key: tuple[str, str, str]) -> int:
    return cell_len(key[1]) + 1 + cell_len(key[2])


def _by_action(bindings: dict[str, ActiveBinding]) -> list[tuple[str, ActiveBinding]]:
    """Shown bindings, each action once, those of the focused pane first."""
    kept: dict[str, tuple[str, ActiveBinding]] = {}
    for key, active in bindings.items():
        if active.binding.show and active.enabled and active.binding.description:
            kept.setdefault(active.binding.action, (key, active))
    return list(kept.values())
