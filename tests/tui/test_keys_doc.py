"""`docs/keys.md` lists the commands that there are, with the keys that they have."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

import mltd.tui
from mltd.tui.app import MltdApp
from mltd.tui.commands import PANES
from mltd.tui.keymap import Scope, bindings_of, check_keymap, keys_of
from mltd.tui.keys_text import BEGIN, DIALOGS, END, keys_text, main, typed, updated
from mltd.tui.screens.main import MainScreen
from tests.conftest import ROOT

COMMANDS = bindings_of(MainScreen, MltdApp, *(pane for _, pane in PANES))


def test_the_document_is_up_to_date() -> None:
    document = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
    assert updated(document) == document, "run `make keys`"


def test_what_is_written_around_the_list_stays(tmp_path: Path) -> None:
    document = tmp_path / "keys.md"
    document.write_text(f"Keys\n{BEGIN}\n| old |\n{END}\nafter\n", encoding="utf-8")
    main([str(document)])
    made = document.read_text(encoding="utf-8")
    assert made.startswith(f"Keys\n{BEGIN}\n")
    assert made.endswith(f"{END}\nafter\n")
    assert "| old |" not in made
    assert updated(made) == made


def test_a_document_without_a_place_for_the_list_is_left_alone() -> None:
    with pytest.raises(ValueError, match="no place for the list"):
        updated("nothing here\n")


@pytest.mark.parametrize("binding", COMMANDS, ids=lambda binding: str(binding.id))
def test_a_keymap_accepts_every_key_as_the_list_spells_it(binding: Binding) -> None:
    written = ",".join(typed(key) for key in keys_of(binding))
    scopes = [Scope("all", (binding,))]
    assert binding.id is not None
    assert check_keymap({binding.id: written}, scopes).keymap == {binding.id: written}
    assert keys_of(binding, {binding.id: written}) == keys_of(binding)


def test_every_command_is_listed_once() -> None:
    listed = re.findall(r"^\| `([a-z_.]+)` \|", keys_text(), re.MULTILINE)
    assert sorted(listed) == sorted({str(binding.id) for binding in COMMANDS})


def test_no_class_with_commands_is_forgotten() -> None:
    for module in pkgutil.walk_packages(mltd.tui.__path__, "mltd.tui."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    shown: set[type[DOMNode]] = {MainScreen, MltdApp, *(pane for _, pane in PANES)}
    shown |= {kind for dialog in DIALOGS for kind in dialog.kinds}
    bases = {base for kind in shown for base in kind.__mro__}
    owners = {
        kind
        for kind in _descendants(DOMNode)
        if kind.__module__.startswith("mltd.tui.") and bindings_of(kind)
    }
    assert {kind.__name__ for kind in owners - bases} == set()


def test_letters_are_no_commands_where_a_filter_is_typed() -> None:
    (row,) = (line for line in keys_text().splitlines() if line.startswith("| runs |"))
    assert "`up` `ctrl+p` Up" in row
    assert "`k`" not in row


def _descendants(kind: type[DOMNode]) -> set[type[DOMNode]]:
    children = set(kind.__subclasses__())
    return children.union(*(_descendants(child) for child in children))
