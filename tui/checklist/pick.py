"""What a user points at in the checklist or in the detail beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..findings.blocks import Target

if TYPE_CHECKING:
    from mltd.sessions.model.evidence import EvidenceRef


@dataclass(frozen=True, slots=True)
class Pick(Target):
    """A row of the checklist, or something in the detail of one."""

    kind: str = "session"
    """phase, check, fact, hypothesis, experiment, prevention, decision, note or session."""
    id: str = ""
    phase: str = ""
    """The phase that the row is folded away with; empty if it never is."""
    reference: EvidenceRef | None = None
    is_against: bool = False
    """The reference speaks against the hypothesis."""
    copied: str = ""
    """What is copied here, if it is not the row's own text."""

    @property
    def row(self) -> tuple[str, str]:
        """Key of the row in the list."""
        return self.kind, self.id
