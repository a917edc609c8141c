"""What the checklist shows: a session, and what the app knows about it besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .pick import Pick

if TYPE_CHECKING:
    from mltd.sessions.model.result import BeforeAfter
    from mltd.sessions.model.session import Session


@dataclass(frozen=True, slots=True)
class Shown:
    """A session with what to do next, what items lack, and results of runs that still go on."""

    session: Session
    suggested: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[str, BeforeAfter] = field(default_factory=dict)

    def find(self, id: str, kind: str = "") -> Pick | None:  # noqa: A002 - what it is
        """The row of something; an item of the checklist if the id alone does not decide."""
        fitting = (pick for pick in self._picks() if pick.id == id and kind in ("", pick.kind))
        return next(fitting, None)

    def next_row(self, folded: set[str]) -> tuple[str, str] | None:
        """The one row that is suggested; a phase that hides it stands for it."""
        pick = self.find(self.suggested) if self.suggested else None
        if pick is None:
            return None
        return ("phase", pick.phase) if pick.phase in folded else pick.row

    def result_of(self, experiment: str) -> BeforeAfter | None:
        """What came out of an experiment, or what is seen of it so far."""
        found = self.session.experiment(experiment)
        recorded = found.result if found is not None else None
        if recorded is not None and not recorded.is_preliminary:
            return recorded
        return self.live.get(experiment) or recorded

    def _picks(self) -> Iterator[Pick]:
        from mltd.sessions.model.checklist import CHECKS, Phase
        from mltd.sessions.model.constraints import Topic

        session = self.session
        for check in CHECKS:
            yield Pick(kind="check", id=check.id, phase=check.phase.value)
        for hypothesis in session.hypotheses:
            yield Pick(kind="hypothesis", id=hypothesis.id, phase=Phase.HYPOTHESES.value)
        for experiment in session.experiments:
            yield Pick(kind="experiment", id=experiment.id, phase=Phase.HYPOTHESES.value)
        for topic in Topic:
            yield Pick(kind="fact", id=topic.value, phase=Phase.INTAKE.value)
        for item in session.prevention:
            yield Pick(kind="prevention", id=item.id, phase=Phase.HANDOFF.value)
        for decision in session.decisions:
            yield Pick(kind="decision", id=decision.id)
        for note in session.notes:
            yield Pick(kind="note", id=note.id)
        for phase in Phase:
            yield Pick(kind="phase", id=phase.value)
