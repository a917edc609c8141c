"""Which phases are folded away."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Folding:
    """What the user folded stays so; by itself a phase is only ever opened, never folded."""

    folded: set[str] = field(default_factory=set)
    is_begun: bool = False
    _touched: set[str] = field(default_factory=set)

    def begin(self, folded: set[str]) -> None:
        """Fold these, now that there is something to fold."""
        self.is_begun = True
        self.folded = set(folded)

    def open(self, phases: set[str]) -> None:
        """Unfold what matters now, unless the user folded it."""
        self.folded -= phases - self._touched

    def turn(self, phase: str, *, is_folded: bool | None = None) -> None:
        """Fold or unfold as the user wishes."""
        wanted = phase not in self.folded if is_folded is None else is_folded
        self._touched.add(phase)
        if wanted:
            self.folded.add(phase)
        else:
            self.folded.discard(phase)
