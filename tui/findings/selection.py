"""Which finding is looked at, while verdicts come and go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .identity import Key, again, keyed, vanished
from .names import spoken

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.core.verdict import Diagnosis


@dataclass(slots=True)
class Selection:
    """The verdict about a run and the finding looked at; it moves only if the user moves it.

    A finding that a newer verdict no longer has stays in view as withdrawn.
    """

    run: int = -1
    diagnosis: Diagnosis | None = None
    pairs: list[tuple[Key, Finding]] = field(default_factory=list)
    index: int | None = None
    """Row of the finding looked at; None if there is none or it was withdrawn."""
    withdrawn: tuple[Key, Finding] | None = None
    notice: str = ""
    """What went away, for a line on the screen."""
    _remembered: dict[int, Key] = field(default_factory=dict)
    _last_row: int = 0

    @property
    def key(self) -> Key | None:
        """The key of the finding looked at."""
        if self.withdrawn is not None:
            return self.withdrawn[0]
        return None if self.index is None else self.pairs[self.index][0]

    @property
    def finding(self) -> Finding | None:
        """The finding looked at, withdrawn or not."""
        if self.withdrawn is not None:
            return self.withdrawn[1]
        return None if self.index is None else self.pairs[self.index][1]

    def update(self, run: int, diagnosis: Diagnosis | None) -> None:
        """Take in a newer verdict, or that about another run."""
        pairs = keyed(diagnosis.findings) if diagnosis is not None else []
        if run != self.run or diagnosis is None or self.diagnosis is None:
            self._begin(run, pairs)
        else:
            self._continue(pairs)
        self.run, self.diagnosis, self.pairs = run, diagnosis, pairs

    def point_at(self, row: int) -> None:
        """Look at another row; what was withdrawn is gone now."""
        self.withdrawn, self.notice = None, ""
        self.index = self._last_row = max(0, min(row, len(self.pairs) - 1))
        if not self.pairs:
            self.index = None

    def step_from_withdrawn(self) -> None:
        """Go to the row that took the place of the one withdrawn."""
        self.point_at(self._last_row)

    def _begin(self, run: int, pairs: list[tuple[Key, Finding]]) -> None:
        if self.key is not None:
            self._remembered[self.run] = self.key
        wanted = self._remembered.get(run)
        row = again(wanted, pairs, ()) if wanted is not None else None
        self.withdrawn, self.notice = None, ""
        self.index = row if row is not None else (0 if pairs else None)
        self._last_row = self.index or 0

    def _continue(self, pairs: list[tuple[Key, Finding]]) -> None:
        before, looked_at = self.pairs, self.finding
        gone = vanished(before, pairs)
        if gone:
            self.notice = "withdrawn: " + ", ".join(spoken(finding.id) for finding in gone)
        key = self.key
        if key is None or looked_at is None:
            self.index = 0 if pairs else None
            return
        taken = [other for other, _ in before if other != key]
        self.index = again(key, pairs, taken)
        self.withdrawn = (key, looked_at) if self.index is None else None
        if self.index is not None:
            self._last_row = self.index
