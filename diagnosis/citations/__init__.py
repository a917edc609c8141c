"""What Claude says against what the artifacts show: every citation looked up, none believed."""

from __future__ import annotations

from .adopting import hypothesis_of
from .check import Check, check
from .checked import (
    CheckedCause,
    CheckedCitation,
    CheckedFix,
    CheckedOpinion,
    CheckedText,
    Danger,
    Verdict,
)
from .comparison import Relation, Row, side_by_side
from .destructive import dangers_of_fix, dangers_of_text
from .record import describe_opinion, opinion_in

__all__ = [
    "Check",
    "CheckedCause",
    "CheckedCitation",
    "CheckedFix",
    "CheckedOpinion",
    "CheckedText",
    "Danger",
    "Relation",
    "Row",
    "Verdict",
    "check",
    "dangers_of_fix",
    "dangers_of_text",
    "describe_opinion",
    "hypothesis_of",
    "opinion_in",
    "side_by_side",
]
