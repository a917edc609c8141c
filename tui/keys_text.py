"""The list of commands and keys in `docs/keys.md`, made from the bindings: `make keys`."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import punctuation
from typing import NamedTuple

from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS

from .app import MltdApp
from .commands import PANES
from .keymap import bindings_of, keys_of
from .screens.compare import CompareScreen
from .screens.confirm import Answers, ConfirmScreen
from .screens.consent import ConsentAnswers, ConsentScreen
from .screens.form import FormScreen
from .screens.help import HelpScreen
from .screens.log_filter import LevelChoice, LogFilterScreen
from .screens.main import MainScreen
from .screens.metric_picker import MetricPicker
from .screens.notices import NoticesScreen
from .screens.run_picker import RunPicker
from .screens.session_list import SessionListScreen
from .widgets.compare_table import CompareTable
from .widgets.form_fields import ChoiceField, LineField, TextField
from .widgets.log_search_bar import LogSearchBar
from .widgets.question_bar import QuestionInput
from .widgets.run_table import RunTable
from .widgets.session_table import SessionTable

BEGIN = "<!-- made by `make keys`: begin -->"
END = "<!-- made by `make keys`: end -->"


class Dialog(NamedTuple):
    """Something that lies over the main screen; a user's keymap does not reach there."""

    title: str
    kinds: tuple[type[DOMNode], ...]
    takes_letters: bool = False
    """What is typed is a filter, so no letter is a command."""


DIALOGS = (
    Dialog("runs", (RunPicker, RunTable), takes_letters=True),
    Dialog("metrics of the curves", (MetricPicker,), takes_letters=True),
    Dialog("search bar of the log", (LogSearchBar,), takes_letters=True),
    Dialog("question to Claude", (QuestionInput,), takes_letters=True),
    Dialog("filter of the log", (LogFilterScreen, LevelChoice)),
    Dialog("comparison", (CompareScreen, CompareTable)),
    Dialog("forms", (FormScreen, LineField, TextField, ChoiceField), takes_letters=True),
    Dialog("questions", (ConfirmScreen, Answers)),
    Dialog("what would be sent to Claude", (ConsentScreen, ConsentAnswers)),
    Dialog("sessions", (SessionListScreen, SessionTable)),
    Dialog("help", (HelpScreen,)),
    Dialog("notices", (NoticesScreen,)),
)


def _name_of(character: str) -> str:
    """What Textual calls the key of a character."""
    name = unicodedata.name(character).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


_CHARACTERS = {_name_of(character): character for character in punctuation}


def keys_text() -> str:
    """All commands as Markdown, those that work everywhere first."""
    return "\n".join([*_commands(), *_dialogs()])


def updated(document: str) -> str:
    """The document with the list as it is now; all else stays."""
    before, begin, rest = document.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no place for the list: {BEGIN} and {END} are missing")
    return f"{before}{begin}{keys_text()}\n{end}{after}"


def typed(key: str) -> str:
    """A key as one would write it into the configuration file: `?` for question_mark."""
    *modifiers, name = key.split("+")
    character = _CHARACTERS.get(name, name)
    return "+".join([*modifiers, name if character == "," else character])


def _commands() -> Iterator[str]:
    seen: set[str | None] = set()
    everywhere: tuple[type[DOMNode], ...] = (MainScreen, MltdApp)
    groups = [("Everywhere", everywhere), *((title, (pane,)) for title, pane in PANES)]
    for title, kinds in groups:
        rows = [
            f"| `{binding.id}` | {_written(keys_of(binding))} | {binding.description} |"
            for binding in bindings_of(*kinds)
            if binding.id not in seen
        ]
        seen |= {binding.id for binding in bindings_of(*kinds)}
        yield from ("", f"### {title}", "", "| command | keys | does |", "|---|---|---|", *rows)


def _dialogs() -> Iterator[str]:
    yield from ("", "### Dialogs", "", "Their keys are fixed.", "")
    yield from ("| dialog | keys |", "|---|---|")
    for dialog in DIALOGS:
        commands: dict[str, list[str]] = {}
        for binding in bindings_of(*dialog.kinds):
            keys = commands.setdefault(binding.description, [])
            keys += (key for key in keys_of(binding) if len(key) > 1 or not dialog.takes_letters)
        said = (f"{_written(keys)} {name}" for name, keys in commands.items())
        yield f"| {dialog.title} | {' · '.join(said)} |"
    yield ""


def _written(keys: Iterable[str]) -> str:
    return " ".join(f"`{typed(key)}`" for key in dict.fromkeys(keys))


def main(arguments: Sequence[str]) -> None:
    """Bring the list in a document up to date."""
    path = Path(arguments[0])
    path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
