"""The metric picker: every metric of a run, which of them are drawn, and a filter as one types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import set_cell_size
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from ..curves.numbers import compact
from ..curves.rows import cut_name
from ..engine.protocol import SeriesInfo
from ..escaping import printable

_NAME = 32
_ROLE = 12
_LONGEST_FILTER = 100


class MetricPicker(ModalScreen[frozenset[str] | None]):
    """Ends with the keys of all metrics that are to be drawn, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "flip", "Show or hide", key_display="space", id="metrics.toggle"),
        Binding("enter", "done", "Done", priority=True, id="metrics.done"),
        Binding("escape", "back", "Cancel", id="metrics.close"),
        Binding("backspace", "rub_out", "Rub out", show=False, id="metrics.rub_out"),
        Binding("ctrl+u", "clear", "Clear the filter", show=False, id="metrics.clear"),
    ]
    AUTO_FOCUS = "OptionList"
    options = query_one(OptionList)

    def __init__(self, series: Sequence[SeriesInfo], shown: frozenset[str]) -> None:
        super().__init__()
        self._series = tuple(series)
        self._before = shown
        self.shown = set(shown)
        """Keys of the metrics that are to be drawn."""
        self.wanted = ""
        """What was typed."""

    def compose(self) -> ComposeResult:
        """What is typed, and the metrics that match it."""
        with Vertical(id="metric-picker", classes="dialog") as dialog:
            dialog.border_title = Content("metrics")
            yield Static(id="metric-filter", markup=False)
            yield OptionList(id="metric-list", markup=False)
            yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """All metrics at first."""
        self._arrange()

    def _arrange(self) -> None:
        words = self.wanted.casefold().split()
        matching = [s for s in self._series if all(word in _haystack(s) for word in words)]
        self.options.set_options([Option(self._prompt(s), id=s.key) for s in matching])
        if matching:
            self.options.highlighted = 0
        self._tell(len(matching))

    def _tell(self, matching: int) -> None:
        dialog = self.query_one("#metric-picker", Vertical)
        filtered = f"{matching:,} of " if self.wanted else ""
        total = len(self._series)
        metrics = "1 metric" if total == 1 else f"{total:,} metrics"
        dialog.border_subtitle = Content(f"{filtered}{metrics}, {len(self.shown):,} drawn")
        typed = Content.assemble(
            ("filter ", "$quiet"), (printable(self.wanted), "bold"), ("▏", "$quiet")
        )
        hint = Content.assemble(("type to filter by name", "$quiet"))
        self.query_one("#metric-filter", Static).update(typed if self.wanted else hint)

    def _prompt(self, series: SeriesInfo) -> Content:
        is_shown = series.key in self.shown
        name = printable(series.name)
        if series.rank is not None:
            name += f" r{series.rank}"
        role = printable(series.role or series.group)
        return Content.assemble(
            ("✔ " if is_shown else "  ", "$severity-fine"),
            (set_cell_size(cut_name(name, _NAME), _NAME), "bold" if is_shown else ""),
            (f" {set_cell_size(cut_name(role, _ROLE), _ROLE)}", "$quiet"),
            (f" {series.points:>9,}", "$quiet"),
            (f" {compact(series.last):>8}", ""),
        )

    # -- typing

    def on_key(self, event: Key) -> None:
        """Whatever can be printed is part of the filter; space is for choosing."""
        if event.character is not None and event.is_printable and event.key != "space":
            event.stop()
            event.prevent_default()
            self._filter(self.wanted + event.character)

    def on_paste(self, event: Paste) -> None:
        """A pasted name is typed at once."""
        event.stop()
        self._filter(self.wanted + " ".join(event.text.split()))

    def _filter(self, wanted: str) -> None:
        if wanted[:_LONGEST_FILTER] != self.wanted:
            self.wanted = wanted[:_LONGEST_FILTER]
            self._arrange()

    def action_rub_out(self) -> None:
        """Take the last letter away."""
        self._filter(self.wanted[:-1])

    def action_clear(self) -> None:
        """Show all metrics."""
        self._filter("")

    # -- choosing

    def action_flip(self) -> None:
        """Draw the highlighted metric, or do not."""
        place = self.options.highlighted
        if place is None:
            return
        option = self.options.get_option_at_index(place)
        series = next(s for s in self._series if s.key == option.id)
        self.shown ^= {series.key}
        self.options.replace_option_prompt_at_index(place, self._prompt(series))
        self._tell(self.options.option_count)

    def action_done(self) -> None:
        """Draw what was chosen; without any choice, the highlighted metric too."""
        place = self.options.highlighted
        if self.shown == self._before and place is not None:
            self.shown.add(self.options.get_option_at_index(place).id or "")
        self.dismiss(frozenset(self.shown))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click chooses as the space bar does."""
        event.stop()
        self.action_flip()

    def action_back(self) -> None:
        """Clear the filter; without one, leave everything as it was."""
        if self.wanted:
            self.action_clear()
        else:
            self.dismiss(None)


def _haystack(series: SeriesInfo) -> str:
    return f"{series.name} {series.role or ''} {series.group}".casefold()
