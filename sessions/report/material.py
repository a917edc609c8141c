"""What can still be read of the runs of a session: curves, excerpts, values, settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..facts.gathered import Seen
from .chart import Chart


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """One line of a log."""

    number: int
    text: str
    is_evidence: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a log around something that speaks for or against a cause."""

    file: str
    """The name, as references to it have it."""
    lines: tuple[ExcerptLine, ...]
    """In their order; where numbers are missing, lines are left out."""
    why: str = ""
    """What it is about."""


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Values of the main metrics at the places that the evidence names."""

    axis: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float, tuple[float | None, ...], str], ...]
    """Place, a value per column (None: nothing logged yet), and what happens there."""


@dataclass(frozen=True, slots=True)
class RunMaterial:
    """What is still readable of one run."""

    available: bool
    why_not: str = ""
    state: str = ""
    """In which state the run is, and why that is thought."""
    charts: tuple[Chart, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    values: ValueTable | None = None
    settings: tuple[tuple[str, str], ...] = ()
    """The settings that matter most for repeating the run."""
    more_settings: int = 0
    configs: tuple[str, ...] = ()
    """Files that hold settings."""
    paths: tuple[str, ...] = ()
    """All paths, so that they can be redacted."""
    problems: tuple[str, ...] = ()
    """Files that could not be read, in a sentence each."""
    diagnosis: Mapping[str, object] | None = None
    """The contract's diagnosis object, fresh from the analyzers."""
    document: Mapping[str, object] | None = None
    """The contract's `run` object."""
    seen: Seen | None = None
    """Which artifacts there are, for what the checklist lacks."""


@dataclass(frozen=True, slots=True)
class Material:
    """What is still readable of all runs, by the id that the session gives them."""

    runs: Mapping[str, RunMaterial] = field(default_factory=dict)
    overlays: Mapping[str, Chart] = field(default_factory=dict)
    """Before and after, by the id of the experiment."""
    seconds: float | None = None
    """How long reading and analysing took."""

    def of(self, run: str) -> RunMaterial:
        """The material of a run; of one that nobody looked at, that fact."""
        return self.runs.get(run) or RunMaterial(False, "it was not read for this report")
