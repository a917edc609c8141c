"""The case: a view of the run with its findings, as causes look at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cause import Clue
from .finding import BROKE_AT, Evidence, Finding, Severity
from .settings_lookup import Setting
from .view import RunView


@dataclass(frozen=True, slots=True)
class Case:
    """What a cause may use to judge itself."""

    view: RunView
    findings: Sequence[Finding]

    def all(self, *ids: str) -> list[Finding]:
        """Findings with one of these ids, the earliest first."""
        found = [finding for finding in self.findings if finding.id in ids]
        return sorted(found, key=lambda f: (f.first_step is None, f.first_step or 0.0))

    def get(self, *ids: str) -> Finding | None:
        """The most severe finding with one of these ids, the earliest among equals."""
        found = self.all(*ids)
        return max(found, key=lambda f: f.severity.rank, default=None)

    def has(self, *ids: str) -> bool:
        """True if there is a finding with one of these ids that is more than information."""
        return any(f.id in ids and f.severity is not Severity.INFO for f in self.findings)

    def onset(self, *ids: str) -> float | None:
        """Where the earliest of these findings broke out: the end of a rise, if one led to it."""
        known = [(f, f.first_step) for f in self.all(*ids) if f.first_step is not None]
        return min((f.number(BROKE_AT, step) for f, step in known), default=None)

    def setting(self, meaning: str) -> Setting | None:
        """A setting of the run, by meaning."""
        return self.view.settings.get(meaning)

    @staticmethod
    def because(finding: Finding, weight: float) -> Clue:
        """A finding as a clue, by its first piece of evidence."""
        return Clue(weight, finding.evidence[0])

    @staticmethod
    def clue(weight: float, evidence: Evidence, source: str = "", *, states: bool = False) -> Clue:
        """A clue; `states` if the artifact says literally that this is the cause."""
        return Clue(weight, evidence, source, states)
