"""The keys of the checklist, and which of them stand at the bottom of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from textual.binding import Binding, BindingsMap

_OPENING = {"edit": "open", "fold": "open", "go": "open"}
"""Commands that are all on the key that opens."""


def _key(key: str, action: str, description: str, name: str) -> Binding:
    return Binding(key, action, description, show=False, id=f"checklist.{name}")


def _wish(key: str, command: str, description: str) -> Binding:
    return _key(key, f"wish('{command}')", description, command)


BINDINGS = (
    _key("enter", "open", "Edit, fold, or go there", "open"),
    _wish("space", "advance", "Tick, start, next status"),
    _wish("a", "add_hypothesis", "Add a hypothesis"),
    _wish("e", "plan", "Plan an experiment"),
    _wish("plus,equals_sign", "surer", "Surer"),
    _wish("minus", "less_sure", "Less sure"),
    _wish("b", "add_evidence", "Add evidence (because)"),
    _wish("w", "waive", "Waive, park, cancel"),
    _wish("L", "link_run", "Link the run of an experiment"),
    _wish("v", "verdict", "Show before and after"),
    _wish("F", "end_run", "This run is over (finished)"),
    _key("y", "copy", "Copy the command or the text", "copy"),
    _wish("f", "answer", "Answer a question"),
    _wish("n", "note", "Write a note"),
    _wish("D", "decision", "Record a decision"),
    _wish("p", "prevention", "Add a prevention item"),
    _wish("i", "timeline", "Say what happened when (incident)"),
    _wish("B", "baseline", "Add a run that did well (baseline)"),
    _wish("O", "owner", "Say who answers for it (owner)"),
    _wish("R", "rename", "Rename the session"),
    _wish("d,delete", "remove", "Remove"),
    _wish("J,shift+down", "move_down", "Move down"),
    _wish("K,shift+up", "move_up", "Move up"),
    _wish("u", "undo", "Undo"),
    _wish("U,ctrl+r", "redo", "Redo"),
    _wish("s", "save_elsewhere", "Save elsewhere"),
    _wish("T", "take_over", "Take over"),
    _key("right,l", "enter_detail", "Unfold, or into the details", "enter"),
    _key("left", "fold", "Fold, or back to the list", "fold"),
    _key("escape", "leave_detail", "Back to the list", "leave"),
    _key("up,k", "step(-1)", "Up", "up"),
    _key("down,j", "step(1)", "Down", "down"),
    _key("pageup,ctrl+b", "page(-1)", "Page up", "page_up"),
    _key("pagedown,ctrl+f", "page(1)", "Page down", "page_down"),
    _key("home,g", "end(-1)", "First", "first"),
    _key("end,G", "end(1)", "Last", "last"),
)


def brought_forward(bindings: BindingsMap, footer: Iterable[tuple[str, str]]) -> BindingsMap:
    """The same keys with some of them first, shown, and called by names of their own."""
    names: dict[str, str] = {}
    for name, said in footer:
        names.setdefault(f"checklist.{_OPENING.get(name, name)}", said)
    ranks = {name: rank for rank, name in enumerate(names)}
    keys = sorted(
        bindings.key_to_bindings.items(),
        key=lambda item: ranks.get(item[1][0].id or "", len(ranks)),
    )
    return BindingsMap.from_keys(
        {key: [_named(binding, names) for binding in bound] for key, bound in keys}
    )


def _named(binding: Binding, names: Mapping[str, str]) -> Binding:
    said = names.get(binding.id or "")
    return binding if said is None else replace(binding, description=said, show=True)
