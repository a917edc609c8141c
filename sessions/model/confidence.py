"""How sure one is, on what, and how sure one may be at most."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field, model_validator

from mltd.analyzers.core.finding import Basis

from .base import Part

_WAY_UP = {
    Basis.INFERENCE: "cite a documented failure pattern (research, 0.85) or show it in an "
    "experiment (observation, 0.95)",
    Basis.RESEARCH: "show it in an artifact or an experiment (observation, 0.95)",
    Basis.OBSERVATION: "nothing is surer than what was seen",
}


def why_too_sure(value: float, basis: Basis) -> str:
    """What is wrong with a confidence, or nothing."""
    if not 0.0 <= value <= 1.0:
        return f"{value:g} is no confidence: give a number from 0 to {basis.ceiling:.2f}"
    if value > basis.ceiling + 1e-9:
        return (
            f"{value:g} is more than {basis.value} can bear, which is {basis.ceiling:.2f} at "
            f"most: {_WAY_UP[basis]}"
        )
    return ""


class Confidence(Part):
    """A number and its basis; one above the ceiling of its basis cannot be built."""

    value: float
    basis: Basis

    @model_validator(mode="after")
    def _is_within_ceiling(self) -> Self:
        if problem := why_too_sure(self.value, self.basis):
            raise ValueError(problem)
        return self

    @property
    def ceiling(self) -> float:
        """What this basis allows at most."""
        return self.basis.ceiling

    def __str__(self) -> str:
        """Number, basis and ceiling: never the number alone."""
        return f"{self.value:.2f} ({self.basis.value}, ceiling {self.ceiling:.2f})"


class ConfidenceChange(Part):
    """One step in the history of a belief."""

    at: datetime
    confidence: Confidence
    reason: str = Field(min_length=1)
    source: str = "person"
    """person, analyzers, claude, or the id of an experiment."""
