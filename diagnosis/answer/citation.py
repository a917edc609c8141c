"""Citations: the place in an artifact that is said to show something, and what stands there."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from mltd.sessions.model.base import Part

SHOWS = "What this shows about the cause, in a few words (at most 200 characters)."
QUOTE = (
    "The decisive text exactly as it stands there, without the line numbers in front of it; a "
    "whole phrase, not a lone word or number; at most 300 characters, `...` where you leave "
    "something out."
)
RUN = "Name of the run as the tools give it; an empty string if there is only one."


class LogCitation(Part):
    """Lines of a log, of a metrics file or of any other text artifact."""

    kind: Literal["log"] = "log"
    artifact: str = Field(description="Name of the artifact as the tools give it: run1/train.log.")
    first_line: int = Field(description="First line of the quotation; lines count from 1.")
    last_line: int = Field(description="Last line; the same as first_line for a single line.")
    quote: str = Field(description=QUOTE)
    shows: str = Field(default="", description=SHOWS)


class SeriesCitation(Part):
    """One logged value of a metric."""

    kind: Literal["series"] = "series"
    run: str = Field(default="", description=RUN)
    name: str = Field(description="Name of the series as the tools give it: train/loss.")
    step: float = Field(description="The step (or epoch, if that is its axis) of the value.")
    value: str = Field(
        description='The value there as text, in the digits you were shown: "2.314", "1.2e-05", '
        '"nan", "inf". Do not round it further.'
    )
    shows: str = Field(default="", description=SHOWS)


class ConfigCitation(Part):
    """A setting of a run."""

    kind: Literal["config"] = "config"
    run: str = Field(default="", description=RUN)
    key: str = Field(description="The key with dots between its levels: optimizer.lr.")
    value: str = Field(description='Its value as text: "0.01", "true", "adamw".')
    shows: str = Field(default="", description=SHOWS)


class SourceCitation(Part):
    """Lines of source code."""

    kind: Literal["source"] = "source"
    path: str = Field(description="The file as the tools name it.")
    first_line: int = Field(description="First line of the quotation; lines count from 1.")
    last_line: int = Field(description="Last line; the same as first_line for a single line.")
    quote: str = Field(description=QUOTE)
    shows: str = Field(default="", description=SHOWS)


class FindingCitation(Part):
    """Something that the analyzers have found; cite the artifact itself where you can."""

    kind: Literal["finding"] = "finding"
    id: str = Field(description="Id of the finding: loss_divergence.")
    shows: str = Field(default="", description=SHOWS)


Citation: TypeAlias = Annotated[
    LogCitation | SeriesCitation | ConfigCitation | SourceCitation | FindingCitation,
    Field(discriminator="kind"),
]
Objection: TypeAlias = Citation | str
"""What speaks against something: a place, or a consideration in words."""


def place_of(citation: Citation) -> str:
    """Where it says that something stands, in the form in which evidence refers to places."""
    match citation:
        case LogCitation(artifact=name) | SourceCitation(path=name):
            last = f"-{citation.last_line}" if citation.last_line != citation.first_line else ""
            return f"{name}:{citation.first_line}{last}"
        case SeriesCitation():
            return f"{_in_run(citation.run)}{citation.name}@{citation.step:.15g}"
        case ConfigCitation():
            return f"{_in_run(citation.run)}config:{citation.key}"
        case FindingCitation():
            return f"finding:{citation.id}"


def quote_of(citation: Citation) -> str:
    """What it says that stands there; nothing for a finding."""
    match citation:
        case LogCitation() | SourceCitation():
            return citation.quote
        case SeriesCitation() | ConfigCitation():
            return citation.value
        case FindingCitation():
            return ""


def _in_run(run: str) -> str:
    return f"{run} " if run else ""
