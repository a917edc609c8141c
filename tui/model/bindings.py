"""The keys of the model view."""

from __future__ import annotations

from textual.binding import Binding, BindingType

BINDINGS: list[BindingType] = [
    Binding("enter", "open", "Open", id="model.open"),
    Binding("escape", "stop", "Stop, back", id="model.stop"),
    Binding("v", "values", "Values", id="model.values"),
    Binding("d", "compare", "Compare", id="model.compare"),
    Binding("m", "memory", "Memory", id="model.memory"),
    Binding("n", "other(1)", "Older", id="model.older"),
    Binding("N", "other(-1)", "Newer", id="model.newer", show=False),
    Binding("h", "adopt", "Hypothesis", id="model.adopt"),
    Binding("y", "copy_name", "Copy name", id="model.copy"),
    Binding("right,l", "into", "Unfold, into the details", show=False, id="model.unfold"),
    Binding("left", "out", "Fold, back to the list", show=False, id="model.fold"),
    Binding("up,k", "move(-1)", "Up", show=False, id="model.up"),
    Binding("down,j", "move(1)", "Down", show=False, id="model.down"),
    Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="model.page_up"),
    Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="model.page_down"),
    Binding("home,g", "end(-1)", "First", show=False, id="model.first"),
    Binding("end,G", "end(1)", "Last", show=False, id="model.last"),
]
