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
    """The verdict about a run and the finding looked at.

    The worst finding is looked at until the user chooses one. That one stays selected, wherever it
    stands in newer verdicts, until it is withdrawn or the user goes back to the top.
    """

    run: int = -1
    diagnosis: Diagnosis | None = None
    pairs: list[tuple[Key, Finding]] = field(default_factory=list)
    """Findings with their keys, the worst first."""
    index: int | None = None
    """Row of the finding looked at; None if there is none."""
    is_following: bool = True
    """The worst finding is looked at, whichever that is."""
    _withdrawn: tuple[str, ...] = ()
    """Ids of the findings that newer verdicts no longer have; forgotten when the user moves."""
    _chosen: dict[int, Key] = field(default_factory=dict)
    """What the user chose in the runs looked at before."""

    @property
    def key(self) -> Key | None:
        """The key of the finding looked at."""
        return None if self.index is None else self.pairs[self.index][0]

    @property
    def finding(self) -> Finding | None:
        """The finding looked at."""
        return None if self.index is None else self.pairs[self.index][1]

    @property
    def notice(self) -> str:
        """What went away, for a line on the screen; empty if nothing did."""
        return "withdrawn: " + ", ".join(map(spoken, self._withdrawn)) if self._withdrawn else ""

    def update(self, run: int, diagnosis: Diagnosis | None, *, is_held: bool = False) -> bool:
        """Take in a newer verdict, or that about another run; true if another finding is selected.

        `is_held`: the user reads the finding, so a worse one does not take its place.
        """
        pairs = keyed(diagnosis.findings) if diagnosis is not None else []
        if run != self.run or diagnosis is None or self.diagnosis is None:
            is_other = self._begin(run, pairs)
        else:
            is_other = self._continue(pairs, is_held=is_held)
        self.run, self.diagnosis, self.pairs = run, diagnosis, pairs
        return is_other

    def point_at(self, row: int) -> None:
        """Select a row for the user, and stay with its finding."""
        self._withdrawn, self.is_following = (), False
        self.index = max(0, min(row, len(self.pairs) - 1)) if self.pairs else None

    def follow(self) -> None:
        """Select the worst finding, also when that is another one later."""
        self._withdrawn, self.is_following = (), True
        self.index = 0 if self.pairs else None

    def _begin(self, run: int, pairs: list[tuple[Key, Finding]]) -> bool:
        if self.is_following:
            self._chosen.pop(self.run, None)
        elif self.key is not None:
            self._chosen[self.run] = self.key
        wanted = self._chosen.get(run)
        row = again(wanted, pairs, ()) if wanted is not None else None
        self._withdrawn, self.is_following = (), row is None
        self.index = row if row is not None else (0 if pairs else None)
        return True

    def _continue(self, pairs: list[tuple[Key, Finding]], *, is_held: bool) -> bool:
        before, key = self.pairs, self.key
        gone = tuple(finding.id for finding in vanished(before, pairs))
        present = {finding.id for _, finding in pairs}
        self._withdrawn = gone or tuple(name for name in self._withdrawn if name not in present)
        taken = [other for other, _ in before if other != key]
        row = again(key, pairs, taken) if key is not None else None
        if row is None:
            self.is_following = True
        worst = 0 if pairs else None
        self.index = row if row is not None and (is_held or not self.is_following) else worst
        return self.index != row
