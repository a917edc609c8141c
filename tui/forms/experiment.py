"""Experiments: one change, and what must be seen, written down before it starts."""

from __future__ import annotations

from mltd.runs.errors import MltdError
from mltd.sessions.actions.base import changed
from mltd.sessions.actions.experiments import EditExperiment, PlanExperiment
from mltd.sessions.model.criterion import Criterion, parse_criteria
from mltd.sessions.model.experiment import Experiment, ExperimentStatus, Purpose, Variable

from .field import Field, Kind, Values, fitting_kind
from .form import Form, Reading

_PURPOSES = ((Purpose.FIX, "cure or explain it"), (Purpose.REPRODUCTION, "make it fail again"))
_CRITERIA = frozenset({"success", "failure", "guards"})
_DECIDING = _CRITERIA | {"change", "purpose"}
"""What stays as it was fixed once the experiment has started."""


def plan_experiment_form(draft: Experiment, belief: str = "") -> Form[PlanExperiment]:
    """A new experiment; the draft holds its id, its hypothesis and whatever is suggested."""

    def read(values: Values) -> PlanExperiment:
        return PlanExperiment(experiment=_read(draft, values))

    return Form(
        f"Plan {draft.id}, a test of {draft.hypothesis}",
        _fields(draft),
        read,
        note=belief,
        accept_label="Plan",
    )


def edit_experiment_form(experiment: Experiment, belief: str = "") -> Form[EditExperiment]:
    """A planned experiment; of one that has started, what decides it is shown but locked."""
    has_begun = experiment.status is not ExperimentStatus.PLANNED

    def read(values: Values) -> EditExperiment:
        return EditExperiment(experiment=_read(experiment, values, has_begun=has_begun))

    fixed = f"{experiment.id} is {experiment.status.value}: what decides it is fixed." * has_begun
    return Form(
        f"Change {experiment.id}, a test of {experiment.hypothesis}",
        _fields(experiment, has_begun=has_begun),
        read,
        note="\n".join(filter(None, (belief, fixed))),
    )


def _fields(given: Experiment, *, has_begun: bool = False) -> tuple[Field, ...]:
    fields = (
        Field("change", "Change", given.change, fitting_kind(given.change),
              hint="the one thing that is different, and to what",
              is_required=True),
        Field("variable", "Isolates", given.variable.value, Kind.CHOICE,
              choices=tuple((one.value, one.value) for one in Variable),
              hint="which part is put to the test; data before model"),
        Field("purpose", "Purpose", given.purpose.value, Kind.CHOICE,
              choices=tuple((one.value, words) for one, words in _PURPOSES),
              hint="should the change help, or should it fail again on less data?"),
        Field("command", "Line to use", given.command, Kind.TEXT,
              hint="what to run; it is copied for you, never run"),
        Field("success", "Success if", _listed(given.success), Kind.TEXT,
              hint="one a line, e.g. val/loss improves by 10%; empty: 10% on the target"),
        Field("failure", "Failure if", _listed(given.failure), Kind.TEXT,
              hint="one a line, one is enough, e.g. grad_norm is above 100"),
        Field("guards", "Guards", _listed(given.guards), Kind.TEXT,
              hint="what may not suffer, e.g. throughput regresses by less than 5%"),
        Field("rollback", "Rollback", given.rollback, fitting_kind(given.rollback),
              hint="how to take the change back"),
        Field("expected_impact", "Expected", given.expected_impact,
              fitting_kind(given.expected_impact),
              hint="which metric, which way, how much, by when"),
    )  # fmt: skip
    if not has_begun:
        return fields
    return tuple(_locked(field) if field.key in _DECIDING else field for field in fields)


def _locked(field: Field) -> Field:
    return Field(field.key, field.label, field.value, field.kind, field.choices, is_locked=True)


def _read(given: Experiment, values: Values, *, has_begun: bool = False) -> Experiment:
    reading = Reading(values)
    nothing: tuple[Criterion, ...] = ()
    typed: dict[str, object] = {}
    for field in _fields(given, has_begun=has_begun):
        # What is fixed is not even read: its words might mean something else by a rounding.
        if field.is_locked:
            continue
        if field.key in _CRITERIA:
            typed[field.key] = reading.parsed(field.key, _criteria, nothing)
        else:
            typed[field.key] = reading.text(field.key)
    reading.finish()
    return changed(given, **typed)


def _criteria(text: str) -> tuple[Criterion, ...]:
    """Every line that is none is named, not only the first."""
    found: list[Criterion] = []
    faults: list[MltdError] = []
    for line in text.split("\n"):
        try:
            found += parse_criteria(line)
        except MltdError as problem:
            faults.append(problem)
    if faults:
        said = "; ".join(fault.message for fault in faults)
        raise MltdError(said, hint=faults[0].hint)
    return tuple(found)


def _listed(criteria: tuple[Criterion, ...]) -> str:
    return "\n".join(map(str, criteria))
