"""What all sections of a report look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..model.hypothesis import Hypothesis, HypothesisStatus
from ..model.run_ref import RunRef
from ..model.session import Session
from .causes import LIKELY, Cause, best, causes_of
from .fixes import FixPlan, fixes_of
from .material import Material, RunMaterial
from .options import Options
from .pen import Pen
from .pieces import Described, number, parts, text


@dataclass(frozen=True)
class Subject:
    """A session, what can be read of its runs, and how it is to be written down."""

    session: Session
    material: Material
    pen: Pen
    options: Options

    @property
    def is_draft(self) -> bool:
        """True if nobody keeps it as a session: its hypotheses are the analyzers' proposals."""
        return not self.session.id

    @cached_property
    def written(self) -> Session:
        """The session as far as people wrote it."""
        if not self.is_draft:
            return self.session
        return self.session.model_copy(update={"hypotheses": ()})

    @cached_property
    def incident(self) -> RunRef | None:
        """The run that the incident is about."""
        return self.session.run("")

    @cached_property
    def main(self) -> RunMaterial:
        """What can be read of it."""
        if self.incident is None:
            return RunMaterial(False, "the session has no run")
        return self.material.of(self.incident.id)

    def diagnosis_of(self, run: str) -> Described | None:
        """The newest diagnosis by the analyzers: fresh, or as the session keeps it."""
        fresh = self.material.of(run).diagnosis
        stored = self.session.diagnosis_of(run) or self.session.diagnosis_of("")
        return fresh or (stored.body if stored is not None else None)

    @cached_property
    def diagnosis(self) -> Described | None:
        """That of the incident."""
        return self.diagnosis_of(self.incident.id if self.incident else "")

    @cached_property
    def findings(self) -> list[Described]:
        """What was found in the incident's run, the worst first."""
        found = parts(self.diagnosis or {}, "findings")
        return [one for one in found if text(one, "title")]

    @cached_property
    def alarms(self) -> list[Described]:
        """Those that somebody should look at."""
        return [one for one in self.findings if text(one, "severity") != "info"]

    @cached_property
    def onset(self) -> float | None:
        """The first step at which something was wrong."""
        steps = [number(one, "first_step") for one in self.alarms]
        return min((step for step in steps if step is not None), default=None)

    @cached_property
    def causes(self) -> list[Cause]:
        """All explanations, best first."""
        return causes_of(self.session, self.diagnosis)

    @cached_property
    def best(self) -> Cause | None:
        """The explanation to name if only one can be named."""
        return best(self.causes)

    @cached_property
    def is_known(self) -> bool:
        """True if the best explanation may be called the root cause."""
        best = self.best
        if best is None or best.is_confirmed:
            return best is not None
        return best.confidence >= LIKELY and not self.refuted

    @cached_property
    def refuted(self) -> list[Hypothesis]:
        """What was thought to be the cause, and is not."""
        hypotheses = self.session.hypotheses
        return [one for one in hypotheses if one.status is HypothesisStatus.REFUTED]

    @cached_property
    def fixes(self) -> list[FixPlan]:
        """What to do about it, in priority order."""
        return fixes_of(self.session, self.causes)

    def run_label(self, run: str) -> str:
        """What to call a run of the session: `R1 train.log`."""
        ref = self.session.run(run) if run else self.incident
        return f"{ref.id} {ref.label}" if ref is not None else run
