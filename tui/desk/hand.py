"""What keys in the checklist mean: an action at once, or a form that becomes one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mltd.sessions.actions.base import changed
from mltd.sessions.actions.checks import MarkCheck, SetPhase
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.actions.experiments import (
    CancelExperiment,
    EndRun,
    MoveExperiment,
    RemoveExperiment,
    StartExperiment,
)
from mltd.sessions.actions.hypotheses import (
    AddEvidence,
    MoveHypothesis,
    RemoveEvidence,
    RemoveHypothesis,
    SetHypothesisStatus,
)
from mltd.sessions.actions.records import (
    PutDecision,
    PutNote,
    PutPrevention,
    RemovePrevention,
    SetFact,
)
from mltd.sessions.adopting import plan_for
from mltd.sessions.errors import Refused
from mltd.sessions.model.checklist import CHECKS, MarkState, Phase
from mltd.sessions.model.constraints import Topic
from mltd.sessions.model.evidence import RefKind
from mltd.sessions.model.experiment import ExperimentStatus, Purpose, Variable
from mltd.sessions.model.hypothesis import HypothesisStatus
from mltd.sessions.triage import now

from ..forms.causes import catalogue_causes
from ..forms.circumstances import fact_form, timeline_form, waive_form
from ..forms.confidence import confidence_form
from ..forms.evidence import evidence_form
from ..forms.experiment import edit_experiment_form, plan_experiment_form
from ..forms.form import Form, Unfit
from ..forms.hypothesis import (
    decide_form,
    edit_hypothesis_form,
    hypothesis_form,
    status_form,
)
from ..forms.records import decision_form, note_form, prevention_form
from ..forms.session import owner_form, rename_form

if TYPE_CHECKING:
    from mltd.sessions.model.evidence import EvidenceRef
    from mltd.sessions.model.hypothesis import Hypothesis
    from mltd.sessions.model.session import Session

    from .desk import Desk
    from .room import Room

STEP = 0.05
"""How much surer one key press makes."""
_TOPIC_OF = {
    "hardware": Topic.HARDWARE,
    "seeds": Topic.SEEDS,
    "revision": Topic.REVISION,
    "baseline": Topic.TARGETS,
}
"""Items of the checklist that an answer settles."""
_ISOLATES = {
    "isolate_data": Variable.DATA,
    "isolate_model": Variable.MODEL,
    "isolate_optimiser": Variable.OPTIMISER,
}


class Hand:
    """Carries out what was wished for a row of the checklist."""

    def __init__(self, room: Room, desk: Desk) -> None:
        self._room = room
        self._desk = desk

    @property
    def _session(self) -> Session:
        return self._desk.session

    def carry_out(
        self,
        verb: str,
        kind: str,
        row: str,
        amount: int = 0,
        evidence: EvidenceRef | None = None,
    ) -> None:
        """Do what a key asks for; a verb that means nothing for this row says so."""
        if evidence is not None and verb == "remove":
            self._do(RemoveEvidence(id=row, ref=evidence.ref, is_against=amount < 0))
            return
        for name in (f"_{verb}_{kind}", f"_{verb}"):
            method = getattr(self, name, None)
            if method is not None:
                method(row, amount)
                return
        self._room.complain(f"there is nothing to {verb.replace('_', ' ')} here")

    def _do(self, action: AnyAction) -> None:
        if self._room.change(lambda desk: desk.do(action)):
            self._room.point_at(action.makes)

    def _ask(self, form: Form[AnyAction]) -> None:
        """A form whose answers are an action; the rules are asked before it closes."""

        def attempt(action: AnyAction) -> None:
            if self._desk.why_read_only:
                # Said before the form closes, so that nothing that was typed is lost.
                raise Refused(f"the session is read-only: {self._desk.why_read_only}")
            self._check_place(action)
            action.apply(self._session, now())

        self._room.ask(form, self._do, attempt)

    def _check_place(self, action: AnyAction) -> None:
        """Evidence names a metric that there is."""
        if not isinstance(action, AddEvidence) or action.evidence.kind is not RefKind.SERIES:
            return
        name = action.evidence.ref.partition("@")[0]
        known = self._room.metrics_of(action.evidence.run)
        if known and name not in known:
            close = difflib.get_close_matches(name, known, 3, 0.4) or known[:3]
            raise Unfit({"ref": f"this run logs no {name}; it has {', '.join(close)}"})

    # -- hypotheses -----------------------------------------------------------------------

    def _belief(self, row: str) -> Hypothesis | None:
        """The hypothesis of a row: its own, or the one that its experiment tests."""
        experiment = self._session.experiment(row)
        return self._session.hypothesis(experiment.hypothesis if experiment else row)

    def _add_hypothesis(self, row: str, amount: int) -> None:
        run = self._session.run("")
        new = self._desk.triage.new_id("H")
        about = run.id if run is not None else ""
        self._ask(hypothesis_form(new, now(), catalogue_causes(), about))

    def _edit_hypothesis(self, row: str, amount: int) -> None:
        if (found := self._session.hypothesis(row)) is not None:
            self._ask(edit_hypothesis_form(found, catalogue_causes()))

    def _advance_hypothesis(self, row: str, amount: int) -> None:
        found = self._session.hypothesis(row)
        if found is None:
            return
        if found.status is HypothesisStatus.OPEN:
            self._do(SetHypothesisStatus(id=row, status=HypothesisStatus.TESTING))
        elif found.status is HypothesisStatus.PARKED:
            self._do(SetHypothesisStatus(id=row, status=HypothesisStatus.OPEN))
        else:
            self._ask(decide_form(found))

    def _waive_hypothesis(self, row: str, amount: int) -> None:
        found = self._session.hypothesis(row)
        if found is None:
            return
        if found.status is HypothesisStatus.PARKED:
            self._do(SetHypothesisStatus(id=row, status=HypothesisStatus.OPEN))
        else:
            self._ask(status_form(found, HypothesisStatus.PARKED))

    def _confidence(self, row: str, amount: int) -> None:
        found = self._belief(row)
        if found is None:
            self._room.complain("point at a hypothesis to be surer of it, or less sure")
        else:
            self._ask(confidence_form(found, amount * STEP))

    def _add_evidence(self, row: str, amount: int) -> None:
        found = self._belief(row)
        if found is None:
            self._room.complain("point at a hypothesis to add evidence to it")
        else:
            runs = [(run.id, run.label) for run in self._session.runs]
            self._ask(evidence_form(found.id, run=found.run, runs=runs))

    def _remove_hypothesis(self, row: str, amount: int) -> None:
        count = len(self._session.experiments_of(row))
        with_them = f" and its {count} experiments" if count else ""
        self._room.confirm(
            f"Remove {row}?",
            f"It is taken off the list{with_them}; u brings it back.",
            lambda: self._do(RemoveHypothesis(id=row)),
        )

    def _move_hypothesis(self, row: str, amount: int) -> None:
        self._do(MoveHypothesis(id=row, by=amount))

    # -- experiments ----------------------------------------------------------------------

    def _plan(self, row: str, amount: int) -> None:
        found = self._belief(row)
        if found is None:
            self._room.complain("point at a hypothesis to plan an experiment for it")
            return
        tried = {one.change for one in self._session.experiments_of(found.id)}
        fix = next((fix for fix in found.fixes if fix.change not in tried), None)
        metrics = self._room.metrics_of(found.run)
        draft = plan_for(found, fix, self._desk.triage.new_id("E"), now(), metrics)
        if fix is None:
            # What to change is for the user to say; a copy is not checked until then.
            draft = draft.model_copy(update={"change": ""})
        self._ask(plan_experiment_form(draft, found.statement))

    def _edit_experiment(self, row: str, amount: int) -> None:
        found, belief = self._session.experiment(row), self._belief(row)
        if found is not None:
            self._ask(edit_experiment_form(found, belief.statement if belief else ""))

    def _advance_experiment(self, row: str, amount: int) -> None:
        found = self._session.experiment(row)
        if found is None:
            return
        if found.status is ExperimentStatus.PLANNED:
            self._do(StartExperiment(id=row))
        elif not found.run:
            self._room.pick_run_for(row)
        else:
            self._room.show_verdict(row)

    def _waive_experiment(self, row: str, amount: int) -> None:
        if (found := self._session.experiment(row)) is not None:
            is_cancelled = found.status is ExperimentStatus.CANCELLED
            self._do(CancelExperiment(id=row, is_cancelled=not is_cancelled))

    def _link_run_experiment(self, row: str, amount: int) -> None:
        self._room.pick_run_for(row)

    def _end_run_experiment(self, row: str, amount: int) -> None:
        if (found := self._session.experiment(row)) is not None:
            self._do(EndRun(id=row, run=found.run))

    def _verdict_experiment(self, row: str, amount: int) -> None:
        self._room.show_verdict(row)

    def _remove_experiment(self, row: str, amount: int) -> None:
        self._room.confirm(
            f"Remove {row}?",
            "What it did to its hypothesis stays in the history; u brings it back.",
            lambda: self._do(RemoveExperiment(id=row)),
        )

    def _move_experiment(self, row: str, amount: int) -> None:
        self._do(MoveExperiment(id=row, by=amount))

    # -- items of the checklist, circumstances --------------------------------------------

    def _advance_check(self, row: str, amount: int) -> None:
        mark = self._session.marks.get(row)
        is_done = mark is not None and mark.state in (MarkState.DONE, MarkState.WAIVED)
        self._do(MarkCheck(item=row, state=MarkState.OPEN if is_done else MarkState.DONE))

    def _waive_check(self, row: str, amount: int) -> None:
        mark = self._session.marks.get(row)
        if mark is not None and mark.state is MarkState.WAIVED:
            self._do(MarkCheck(item=row, state=MarkState.OPEN))
            return
        item = next((check for check in CHECKS if check.id == row), None)
        if item is not None:
            self._ask(waive_form(item))

    def _edit_check(self, row: str, amount: int) -> None:
        """Do what settles the item, as far as that can be done here."""
        if row in _TOPIC_OF:
            self._answer(_TOPIC_OF[row].value, amount)
        elif row == "hypotheses":
            self._add_hypothesis(row, amount)
        elif row == "monitors":
            self._prevention("", amount)
        elif row == "reproduced" or row in _ISOLATES:
            self._plan_for_check(row)
        else:
            self._room.complain("space ticks it off, w waives it with a reason")

    def _plan_for_check(self, row: str) -> None:
        """Plan what an item asks for, as a test of the hypothesis that is believed most."""
        undecided = (HypothesisStatus.OPEN, HypothesisStatus.TESTING)
        beliefs = [one for one in self._session.hypotheses if one.status in undecided]
        if not beliefs:
            self._room.complain("there is no open hypothesis to test: a adds one")
            return
        best = max(beliefs, key=lambda one: one.confidence.value)
        draft = plan_for(best, None, self._desk.triage.new_id("E"), now(), ())
        if row in _ISOLATES:
            draft = draft.model_copy(update={"variable": _ISOLATES[row], "change": ""})
        else:
            smallest = "the smallest slice of the data that still fails, with fixed seeds"
            update = {
                "purpose": Purpose.REPRODUCTION,
                "change": smallest,
                "variable": Variable.DATA,
            }
            draft = draft.model_copy(update=update)
        self._ask(plan_experiment_form(draft, best.statement))

    def _edit_fact(self, row: str, amount: int) -> None:
        self._answer(row, amount)

    def _answer(self, row: str, amount: int) -> None:
        known = {topic.value for topic in Topic}
        topic = Topic(row) if row in known else _TOPIC_OF.get(row) or self._unanswered()
        self._ask(fact_form(topic, self._session.constraints.facts.get(topic)))

    def _unanswered(self) -> Topic:
        facts = self._session.constraints.facts
        return next((topic for topic in Topic if topic not in facts), Topic.HARDWARE)

    def _advance_fact(self, row: str, amount: int) -> None:
        """A person confirms what the app has read."""
        topic = Topic(row)
        fact = self._session.constraints.facts.get(topic)
        if fact is None or not fact.is_prefilled:
            self._answer(row, amount)
        else:
            self._do(SetFact(topic=topic, fact=changed(fact, source="person")))

    def _remove_fact(self, row: str, amount: int) -> None:
        self._do(SetFact(topic=Topic(row), fact=None))

    def _advance_phase(self, row: str, amount: int) -> None:
        self._do(SetPhase(phase=Phase(row)))

    # -- records --------------------------------------------------------------------------

    def _note(self, row: str, amount: int) -> None:
        self._ask(note_form(self._desk.triage.new_id("N")))

    def _edit_note(self, row: str, amount: int) -> None:
        found = next((note for note in self._session.notes if note.id == row), None)
        self._ask(note_form(row, found))

    def _remove_note(self, row: str, amount: int) -> None:
        self._do(PutNote(id=row, text=""))

    def _decision(self, row: str, amount: int) -> None:
        self._ask(decision_form(self._desk.triage.new_id("D")))

    def _edit_decision(self, row: str, amount: int) -> None:
        found = next((one for one in self._session.decisions if one.id == row), None)
        self._ask(decision_form(row, found))

    def _remove_decision(self, row: str, amount: int) -> None:
        self._do(PutDecision(id=row, text=""))

    def _prevention(self, row: str, amount: int) -> None:
        new = self._desk.triage.new_id("P")
        self._ask(prevention_form(new, owner=self._session.owner))

    def _edit_prevention(self, row: str, amount: int) -> None:
        found = next((item for item in self._session.prevention if item.id == row), None)
        self._ask(prevention_form(row, found))

    def _advance_prevention(self, row: str, amount: int) -> None:
        found = next((item for item in self._session.prevention if item.id == row), None)
        if found is not None:
            self._do(PutPrevention(prevention=changed(found, is_done=not found.is_done)))

    def _remove_prevention(self, row: str, amount: int) -> None:
        self._do(RemovePrevention(id=row))

    # -- the session ----------------------------------------------------------------------

    def _baseline(self, row: str, amount: int) -> None:
        self._room.pick_baseline()

    def _timeline(self, row: str, amount: int) -> None:
        self._ask(timeline_form(now()))

    def _rename(self, row: str, amount: int) -> None:
        self._ask(rename_form(self._session.title))

    def _owner(self, row: str, amount: int) -> None:
        self._ask(owner_form(self._session.owner))

    def _undo(self, row: str, amount: int) -> None:
        self._room.change(lambda desk: desk.undo())

    def _redo(self, row: str, amount: int) -> None:
        self._room.change(lambda desk: desk.redo())
