"""All formats: the built-in ones and those that other packages register.

A package adds a format under the entry point group `mltd.formats`; the entry point names a
class (or a function) that gives a `Format`. One that fails is noted and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # formats need numpy, a command that reads no file does not
    from .format import Format, Reader

GROUP = "mltd.formats"
BUILT_IN = (
    "tensorboard:TensorBoardFormat",
    "wandb_offline:WandbFormat",
    "mlflow_store:MlflowRunFormat",
    "mlflow_store:MlflowMetricFormat",
    "probe_lines:ProbeFormat",
    "json_document:JsonDocumentFormat",
    "json_lines:JsonLinesFormat",
    "tabular:TabularFormat",
    "bare_columns:BareColumnsFormat",
    "text:TextFormat",
)
"""Module and class, most particular first: of two equally sure formats the first wins."""


@dataclass
class Registry:
    """Formats in order of precedence, and what went wrong with any of them."""

    formats: list[Format]
    notes: list[str] = field(default_factory=list)
    """Sentences about formats that could not be used; each is said once."""

    def scores(self, head: bytes, path: str) -> list[tuple[float, Format]]:
        """Formats that may read a file starting with `head` and how sure they are, best first."""
        found: list[tuple[float, Format]] = []
        for form in self.formats:
            try:
                score = float(form.sniff(head, path))
            except Exception as problem:  # noqa: BLE001 - other people's code
                self._note(form, "cannot look at files", problem)
                continue
            if score > 0:
                found.append((min(score, 1.0), form))
        return sorted(found, key=lambda pair: -pair[0])

    def recognise(self, head: bytes, path: str) -> Format | None:
        """The format of a file, by its first bytes; nothing if no format claims it."""
        return next((form for _, form in self.scores(head, path)), None)

    def open(self, head: bytes, path: str) -> tuple[Format, Reader] | None:
        """The surest format that can open the file, and its reader."""
        for _, form in self.scores(head, path):
            try:
                return form, form.open(path)
            except Exception as problem:  # noqa: BLE001 - other people's code
                self._note(form, f"cannot open {path}", problem)
        return None

    def _note(self, form: Format, what: str, problem: Exception) -> None:
        name = str(getattr(form, "name", type(form).__name__))
        sentence = f"format '{name}' {what}: {type(problem).__name__}: {problem}"
        if sentence not in self.notes:
            self.notes.append(sentence)


def load(points: Iterable[EntryPoint]) -> Registry:
    """A registry of the built-in formats and of the given entry points."""
    registry = Registry([])
    for place in BUILT_IN:
        module, _, name = place.partition(":")
        try:
            registry.formats.append(getattr(import_module(f".{module}", __package__), name)())
        except ModuleNotFoundError as missing:
            if missing.name != f"{__package__}.{module}":
                raise
    for point in sorted(points, key=lambda p: (p.name, p.value)):
        try:
            make: Callable[[], Format] | Format = point.load()
            form = make() if callable(make) else make
            for needed in ("name", "is_snapshot", "sniff", "open"):
                getattr(form, needed)
        except Exception as problem:  # noqa: BLE001 - other people's code
            registry.notes.append(
                f"format '{point.name}' ({point.value}) cannot be loaded: "
                f"{type(problem).__name__}: {problem}"
            )
            continue
        # Before the catch-all readers of text: a tie goes to who knows better.
        registry.formats.insert(0, form)
    return registry


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """The formats of this installation, looked up once."""
    return load(entry_points(group=GROUP))


def recognise(head: bytes, path: str) -> Format | None:
    """The format of a file, by its first bytes; nothing if no format claims it."""
    return default_registry().recognise(head, path)
