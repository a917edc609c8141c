"""An opinion: what Claude holds for the cause, on what grounds, and what it would do."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from mltd.analyzers.core.finding import Basis, Severity
from mltd.sessions.model.base import Part

from .citation import Citation, Objection


class OpinionStatus(StrEnum):
    """How the opinion ends; the first three as the analyzers say it."""

    HEALTHY = "healthy"
    DIAGNOSIS_COMPLETE = "diagnosis_complete"
    NEEDS_MORE_DATA = "needs_more_data"
    NOT_ENOUGH_ACCESS = "not_enough_access"


class Stance(StrEnum):
    """What the opinion makes of something that the analyzers say."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    ADDS = "adds"


class RootCauseOpinion(Part):
    """One root cause: a hypothesis that explains what is seen, not a symptom."""

    issue: str = Field(
        description="What is wrong, in one sentence with the run's own numbers (at most 300 "
        "characters)."
    )
    failure_mode: str = Field(
        description="Id of the failure mode in lower_snake_case; one of the known ids wherever "
        "one fits: {failure_modes}."
    )
    severity: Severity = Field(description="How much it matters.")
    explains: tuple[str, ...] = Field(
        default=(), description="Ids of the analyzers' findings that it explains; may be empty."
    )
    explanation: str = Field(
        default="",
        description="The chain from the cause to what is seen, step by step, and when it began "
        "(at most 1,500 characters).",
    )
    evidence: tuple[Citation, ...] = Field(
        default=(),
        description="Two to six places that show it, the most telling first. Each is checked; "
        "without one that holds the confidence is cut to 0.50.",
    )
    against: tuple[Objection, ...] = Field(
        default=(),
        description="What speaks against it, or for a rival: places (as in evidence) or "
        "considerations in words. Empty only if nothing does.",
    )
    confidence: float = Field(
        description="How likely it is the cause, 0 to 1: of all that you call 0.8, 80% are right. "
        "At most 0.95 by observation, 0.85 by research, 0.70 by inference."
    )
    basis: Basis = Field(
        description="observation: an artifact says or shows this very cause. research: it matches "
        "a documented failure pattern. inference: reasoned from other facts."
    )


class Fix(Part):
    """One fix, complete enough to be tried and judged."""

    priority: int = Field(description="1 is to be tried first.")
    title: str = Field(description="The fix in a few words (at most 120 characters).")
    addresses: str = Field(description="failure_mode of the root cause that it addresses.")
    change: str = Field(
        description="What to change, with the run's own names and values: `lr 1e-2 -> 3e-3`. "
        "Never delete or overwrite checkpoints, logs or code (at most 600 characters)."
    )
    example: str = Field(
        default="",
        description="The lines of code or config that do it, as plain text; may be empty.",
    )
    metric: str = Field(default="", description="The logged metric on which the effect will show.")
    expected_impact: str = Field(
        default="",
        description="Which way that metric goes, how much and by when (at most 300 characters).",
    )
    verify: str = Field(
        default="", description="How one sees that it worked (at most 400 characters)."
    )
    if_it_fails: str = Field(default="", description="What to try or conclude then.")
    is_reversible: bool = Field(default=True, description="False if it cannot be taken back.")


class NeededData(Part):
    """Something that would tell rival causes apart."""

    what: str = Field(description="The artifact or measurement: grad_norm per layer, 200 steps.")
    why: str = Field(default="", description="Which causes it would tell apart, and how.")
    how: str = Field(
        default="", description="How to get it: the setting, the line of code, the file."
    )


class Agreement(Part):
    """A word on one thing that the analyzers say."""

    id: str = Field(description="Id of the analyzers' finding or root cause.")
    stance: Stance = Field(
        description="agrees; disagrees; or adds, if it is true but not the whole story."
    )
    why: str = Field(default="", description="The reason, in a sentence.")


class Opinion(Part):
    """A diagnosis of the session's runs, in plain text throughout: no Markdown, no HTML."""

    status: OpinionStatus = Field(
        description="diagnosis_complete: a root cause with a confidence of 0.80 or more. "
        "needs_more_data: the best one is below that. healthy: nothing is wrong. "
        "not_enough_access: what matters could not be read."
    )
    summary: str = Field(
        description="What happened, since when, why and what to do now, in two to five plain "
        "sentences (at most 1,200 characters)."
    )
    root_causes: tuple[RootCauseOpinion, ...] = Field(
        default=(),
        description="Rival hypotheses, the likeliest first; at most 5. Empty if healthy.",
    )
    quick_fixes: tuple[str, ...] = Field(
        default=(),
        description="What helps without training from scratch, one line each (at most 200 "
        "characters); may be empty.",
    )
    recommended_fixes: tuple[Fix, ...] = Field(
        default=(), description="At least three in order of priority wherever there are so many."
    )
    needed_data: tuple[NeededData, ...] = Field(
        default=(),
        description="What is missing; not empty if the status is needs_more_data or "
        "not_enough_access.",
    )
    agreement: tuple[Agreement, ...] = Field(
        default=(),
        description="One entry for each root cause and each important finding of the analyzers.",
    )
    notes: tuple[str, ...] = ()
    """What was changed while the answer was read; not part of what is asked for."""
