"""All actions as one type: what a line of the journal can hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .checks import MarkCheck, ObserveChecks, SetPhase
from .experiments import (
    CancelExperiment,
    EditExperiment,
    EndRun,
    LinkRun,
    MoveExperiment,
    PlanExperiment,
    RecordResult,
    RemoveExperiment,
    StartExperiment,
)
from .hypotheses import (
    AddEvidence,
    AddHypothesis,
    EditHypothesis,
    MoveHypothesis,
    RemoveEvidence,
    RemoveHypothesis,
    SetConfidence,
    SetHypothesisStatus,
)
from .records import (
    AddRun,
    AddTimelineEntry,
    Archive,
    Prefill,
    PutDecision,
    PutNote,
    PutPrevention,
    RecordDiagnosis,
    RemovePrevention,
    Rename,
    SetFact,
    SetOwner,
    SetRunPart,
)

AnyAction = Annotated[
    AddEvidence
    | AddHypothesis
    | AddRun
    | AddTimelineEntry
    | Archive
    | CancelExperiment
    | EditExperiment
    | EditHypothesis
    | EndRun
    | LinkRun
    | MarkCheck
    | MoveExperiment
    | MoveHypothesis
    | ObserveChecks
    | PlanExperiment
    | Prefill
    | PutDecision
    | PutNote
    | PutPrevention
    | RecordDiagnosis
    | RecordResult
    | RemoveEvidence
    | RemoveExperiment
    | RemoveHypothesis
    | RemovePrevention
    | Rename
    | SetConfidence
    | SetFact
    | SetHypothesisStatus
    | SetOwner
    | SetPhase
    | SetRunPart
    | StartExperiment,
    Field(discriminator="op"),
]
AUTOMATIC = frozenset({"observe_checks", "prefill", "record_diagnosis", "add_run"})
"""What the app does by itself; undo passes over it."""


def is_automatic(action: AnyAction) -> bool:
    """True if the app does it by itself; Claude is asked by a person."""
    if isinstance(action, RecordDiagnosis) and action.diagnosis.is_claudes:
        return False
    return action.op in AUTOMATIC
