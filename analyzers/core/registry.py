"""The registry: which analyzers and causes there are, ours and those of third parties."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from .case import Case
    from .cause import Clue, Fix
    from .finding import Basis, Finding
    from .view import RunView

GROUP = "mltd.analyzers"
"""Entry points of this group name a module, or an analyzer or cause class, to register."""
FAMILIES = (
    "loss",
    "gradients",
    "outputs",
    "resources",
    "errors",
    "distributed",
    "reproducibility",
)


class Analyzer(Protocol):
    """Sees one kind of symptom. Pure: the same view gives the same findings."""

    id: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]
    """Roles of the series it looks at; empty if it looks at none."""
    events: ClassVar[tuple[str, ...]]
    """Kinds of events it looks at."""

    def examine(self, view: RunView) -> Iterable[Finding]:
        """The symptoms of this kind that the run shows."""


class Cause(Protocol):
    """Explains findings, and weighs the evidence for and against itself."""

    id: ClassVar[str]
    explains: ClassVar[tuple[str, ...]]
    """Ids of the findings that it can explain; without one of them it is not asked."""
    basis: ClassVar[Basis]
    """The best basis that it can have without a message that states it."""

    def clues(self, case: Case) -> Iterable[Clue]:
        """Evidence for this cause, and (with negative weight) against it."""

    def issue(self, case: Case) -> str:
        """What is wrong, in one sentence, with the run's own numbers."""

    def fixes(self, case: Case) -> Iterable[Fix]:
        """What to do, the best first."""

    def requests(self, case: Case) -> Iterable[str]:
        """What to log or provide to tell this cause from its rivals."""


@dataclass(slots=True)
class Registry:
    """Analyzers and causes by id, in the order in which they came."""

    analyzers: dict[str, Analyzer] = field(default_factory=dict)
    causes: dict[str, Cause] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Third-party parts that could not be loaded, in a sentence each."""


_ours = Registry()
_AnalyzerClass = TypeVar("_AnalyzerClass", bound=Callable[[], Analyzer])
_CauseClass = TypeVar("_CauseClass", bound=Callable[[], Cause])


def analyzer(made: _AnalyzerClass) -> _AnalyzerClass:
    """Register an analyzer class."""
    instance = made()
    _ours.analyzers[instance.id] = instance
    return made


def cause(made: _CauseClass) -> _CauseClass:
    """Register a cause class."""
    instance = made()
    _ours.causes[instance.id] = instance
    return made


def registry() -> Registry:
    """All there are."""
    load_analyzers()
    return load_causes()


@lru_cache(maxsize=1)
def load_analyzers() -> Registry:
    """The registry with the analyzers, ours and those of third parties."""
    for family in FAMILIES:
        _import_all(family)
    for entry in entry_points(group=GROUP):
        try:
            _adopt(entry.load())
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - a stranger's code may do anything
            _ours.problems.append(
                f"analyzer {entry.name!r} ({entry.value}) can't be used: "
                f"{type(problem).__name__}: {problem}"
            )
    return _ours


@lru_cache(maxsize=1)
def load_causes() -> Registry:
    """The registry with the causes: a healthy run needs none, so they come later."""
    _import_all("causes")
    return _ours


def _adopt(part: object) -> None:
    """Register a class that an entry point names; importing a module has done so already."""
    if isinstance(part, ModuleType):
        return
    if not isinstance(part, type):
        raise TypeError(f"{part!r} is neither a module nor a class")
    if callable(getattr(part, "examine", None)) and isinstance(getattr(part, "id", None), str):
        analyzer(part)
    elif callable(getattr(part, "clues", None)) and isinstance(getattr(part, "id", None), str):
        cause(part)
    else:
        raise TypeError(f"{part.__name__} is neither an analyzer nor a cause")


def _import_all(family: str) -> None:
    package = importlib.import_module(f"{__package__.rpartition('.')[0]}.{family}")
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
