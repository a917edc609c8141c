"""The five phases of a triage, and the items that each of them asks for."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .base import Part
from .evidence import EvidenceRef


class Phase(StrEnum):
    """In the order in which they are gone through."""

    INTAKE = "intake"
    REPRODUCTION = "reproduction"
    HYPOTHESES = "hypotheses"
    FIX = "fix"
    HANDOFF = "handoff"

    @property
    def heading(self) -> str:
        """In words."""
        return _TITLES[self]

    @property
    def number(self) -> int:
        """Counted from 1."""
        return list(Phase).index(self) + 1


_TITLES = {
    Phase.INTAKE: "Intake and evidence",
    Phase.REPRODUCTION: "Reproduction and isolation",
    Phase.HYPOTHESES: "Hypotheses and experiment plan",
    Phase.FIX: "Fix and validation",
    Phase.HANDOFF: "Hand-off and prevention",
}


class CheckItem(NamedTuple):
    """One item that every triage has to deal with."""

    id: str
    phase: Phase
    title: str
    why: str
    """What goes wrong without it, and what counts as done."""


CHECKS: tuple[CheckItem, ...] = (
    CheckItem("logs", Phase.INTAKE, "Logs collected",
              "Without the log of the failing run there is nothing to go by."),
    CheckItem("metrics", Phase.INTAKE, "Metrics collected",
              "Loss and friends as numbers, not as an impression."),
    CheckItem("configs", Phase.INTAKE, "Configuration collected",
              "The settings that really were in force, from the log or a file."),
    CheckItem("seeds", Phase.INTAKE, "Seeds known",
              "A run with unknown seeds cannot be repeated."),
    CheckItem("hardware", Phase.INTAKE, "Hardware known",
              "Accelerators, their number and memory: batch sizes and precision depend on them."),
    CheckItem("revision", Phase.INTAKE, "Recent code changes known",
              "Most incidents begin with a change: which commit, and what was new in it."),
    CheckItem("baseline", Phase.INTAKE, "Baseline against expectation",
              "What should it have done? A target, or a run that did it."),
    CheckItem("reproduced", Phase.REPRODUCTION, "Reproduced on the smallest slice, fixed seeds",
              "A failure that comes back on a small slice is understood ten times sooner."),
    CheckItem("isolate_data", Phase.REPRODUCTION, "Isolated: data",
              "Batches, labels, preprocessing: ruled out, or found guilty. Data before model."),
    CheckItem("isolate_model", Phase.REPRODUCTION, "Isolated: model",
              "Architecture, initialisation, precision: ruled out, or found guilty."),
    CheckItem("isolate_optimiser", Phase.REPRODUCTION, "Isolated: optimiser",
              "Learning rate, schedule, clipping, state: ruled out, or found guilty."),
    CheckItem("hypotheses", Phase.HYPOTHESES, "Hypotheses written down",
              "With evidence for and against, and how sure we are."),
    CheckItem("experiments", Phase.HYPOTHESES, "An experiment for each open hypothesis",
              "One change at a time, with a command that somebody else could run."),
    CheckItem("criteria", Phase.HYPOTHESES, "Success and fail criteria fixed beforehand",
              "Afterwards one sees what one hopes to see."),
    CheckItem("minimal_fix", Phase.FIX, "Minimal fix",
              "One change that an experiment has shown to work."),
    CheckItem("per_split", Phase.FIX, "Metrics reported per split",
              "A training loss alone says nothing about the model."),
    CheckItem("gradients", Phase.FIX, "Gradients and loss inspected",
              "The curves of both, before and after."),
    CheckItem("no_regression", Phase.FIX, "No regression on the baseline",
              "Guarded metrics, speed and memory are as good as before."),
    CheckItem("rollback", Phase.FIX, "Rollback path documented",
              "How to take the change back, in a sentence or a command."),
    CheckItem("monitors", Phase.HANDOFF, "Monitors or tests added",
              "What will ring before it happens again, and who hears it."),
    CheckItem("root_cause", Phase.HANDOFF, "Root cause documented",
              "A confirmed hypothesis, or the statement that none was."),
    CheckItem("ceiling", Phase.HANDOFF, "Confidence ceiling stated",
              "How sure, on what basis, and how sure one could be at most."),
)  # fmt: skip


class MarkState(StrEnum):
    """What became of an item."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    WAIVED = "waived"


class CheckMark(Part):
    """An item's state, who says so, and on what evidence or for what reason."""

    item: str
    state: MarkState
    by: str = "person"
    """person, or app: what the app ticked it can also take back."""
    reason: str = ""
    evidence: tuple[EvidenceRef, ...] = ()
    at: datetime | None = None
