"""What Claude answers: its form, how it is asked for, and how it is read."""

from __future__ import annotations

from .citation import (
    Citation,
    ConfigCitation,
    FindingCitation,
    LogCitation,
    Objection,
    SeriesCitation,
    SourceCitation,
    place_of,
    quote_of,
)
from .errors import AnswerError
from .opinion import (
    Agreement,
    Fix,
    NeededData,
    Opinion,
    OpinionStatus,
    RootCauseOpinion,
    Stance,
)
from .parsing import parse_opinion
from .schema import answer_schema

__all__ = [
    "Agreement",
    "AnswerError",
    "Citation",
    "ConfigCitation",
    "FindingCitation",
    "Fix",
    "LogCitation",
    "NeededData",
    "Objection",
    "Opinion",
    "OpinionStatus",
    "RootCauseOpinion",
    "SeriesCitation",
    "SourceCitation",
    "Stance",
    "answer_schema",
    "parse_opinion",
    "place_of",
    "quote_of",
]
