"""What somebody wants of a report, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Options:
    """How a report is to be written."""

    brief: bool = False
    """Five lines instead of a document."""
    as_json: bool = False
    """The contract's diagnosis object instead of Markdown."""
    redact: bool = False
    """Without user names, hosts and absolute paths; secrets are masked in any case."""
    folder: str = ""
    """Where pictures are put, seen from the report; empty: there is no place for pictures."""
    at: datetime | None = None
    """When it is written; None: it does not say."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finished report; no part of it is on the disk yet."""

    markdown: str
    pictures: Mapping[str, str] = field(default_factory=dict)
    """SVG files by their names, as the report links to them."""
    json: str = ""
    """The JSON document, if that was asked for."""
    companion: str = ""
    """Name of the file beside a JSON document that the Markdown goes into."""

    @property
    def text(self) -> str:
        """What the file itself holds."""
        return self.json or self.markdown

    @property
    def beside(self) -> dict[str, str]:
        """The files that belong beside it, by their names as seen from it."""
        own = {self.companion: self.markdown} if self.companion else {}
        return {**self.pictures, **own}
