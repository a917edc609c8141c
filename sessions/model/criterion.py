"""Criteria: what must be seen for an experiment to pass, fixed before it starts.

val/loss improves by 10%      relative to the run before, over the same window
train/loss is below 2.5       also: above, at most, at least
grad_norm stays finite        no NaN, no infinity in the window
throughput regresses by less than 5%
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import Self

from pydantic import Field, ValidationError, model_validator

from mltd.runs.errors import InputError

from .base import Part

DEFAULT_IMPROVEMENT = 0.10
DEFAULT_GUARD = 0.05


class Demand(StrEnum):
    """What is asked of a metric."""

    IMPROVES = "improves"
    """By at least a share of what it was."""
    HOLDS = "holds"
    """It regresses by less than a share of what it was: a guarded metric."""
    BELOW = "below"
    ABOVE = "above"
    FINITE = "finite"


class Criterion(Part):
    """One demand on one metric."""

    metric: str = Field(min_length=1)
    """Role (`val/loss`) or the name as logged."""
    demand: Demand
    amount: float = 0.0
    """A share (0.10 is 10%) for improves and holds, a value for below and above."""

    @model_validator(mode="after")
    def _is_sensible(self) -> Self:
        if not math.isfinite(self.amount):
            raise ValueError(f"{self.amount} is no amount")
        if self.demand in (Demand.IMPROVES, Demand.HOLDS) and not 0 <= self.amount < 100:
            raise ValueError(f"{self.amount:.0%} is no change that one could see")
        return self

    def __str__(self) -> str:
        """In words that `parse_criterion` reads back."""
        match self.demand:
            case Demand.IMPROVES:
                return f"{self.metric} improves by {_percent(self.amount)}"
            case Demand.HOLDS:
                return f"{self.metric} regresses by less than {_percent(self.amount)}"
            case Demand.FINITE:
                return f"{self.metric} stays finite"
            case _:
                return f"{self.metric} is {self.demand.value} {self.amount:.10g}"


def _percent(share: float) -> str:
    return f"{share * 100:.10g}%"


_NUMBER = r"(?P<amount>[-+]?(?:(?:\d{1,3}(?:[,_]\d{3})+|\d+)\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_FORMS = (
    (rf"(?P<metric>.+?)\s+improves?(?:\s+by)?(?:\s+(?:at least|>=?|more than))?\s+{_NUMBER}\s*%",
     Demand.IMPROVES),
    (r"(?P<metric>.+?)\s+improves?", Demand.IMPROVES),
    (rf"(?P<metric>.+?)\s+(?:regress\w*|worsen\w*)(?:\s+by)?(?:\s+(?:less than|at most|<=?))?\s+"
     rf"{_NUMBER}\s*%", Demand.HOLDS),
    (r"(?P<metric>.+?)\s+(?:holds|does not regress|no regression)", Demand.HOLDS),
    (r"(?P<metric>.+?)\s+(?:stays?|is|remains?)\s+finite", Demand.FINITE),
    (rf"(?P<metric>.+?)\s*(?:\s(?:is|stays|gets)?\s*(?:below|under|at most)|<=?)\s*{_NUMBER}",
     Demand.BELOW),
    (rf"(?P<metric>.+?)\s*(?:\s(?:is|stays|gets)?\s*(?:above|over|at least)|>=?)\s*{_NUMBER}",
     Demand.ABOVE),
)  # fmt: skip
_PATTERNS = tuple((re.compile(form, re.IGNORECASE), demand) for form, demand in _FORMS)
_DEFAULTS = {Demand.IMPROVES: DEFAULT_IMPROVEMENT, Demand.HOLDS: DEFAULT_GUARD}


def parse_criterion(text: str) -> Criterion:
    """What somebody typed; a sentence about how to say it if it cannot be understood."""
    said = " ".join(text.split())
    for pattern, demand in _PATTERNS:
        found = pattern.fullmatch(said)
        if found is None:
            continue
        given = found.groupdict().get("amount")
        amount = _DEFAULTS.get(demand, 0.0)
        if given is not None:
            amount = float(given.replace(",", "").replace("_", ""))
            if demand in (Demand.IMPROVES, Demand.HOLDS):
                amount /= 100
        try:
            return Criterion(metric=found["metric"], demand=demand, amount=amount)
        except ValidationError as problem:
            why = (error["msg"].removeprefix("Value error, ") for error in problem.errors())
            raise InputError(f"{text!r} is no criterion: {'; '.join(why)}") from problem
    raise InputError(
        f"{text!r} is no criterion",
        hint="say e.g. 'val/loss improves by 10%', 'train/loss is below 2.5', "
        "'throughput regresses by less than 5%' or 'grad_norm stays finite'",
    )


def parse_criteria(text: str) -> tuple[Criterion, ...]:
    """Several, one a line or divided by semicolons."""
    parts = (part.strip() for part in re.split(r"[\n;]", text))
    return tuple(parse_criterion(part) for part in parts if part)
