"""Runs that a session is about, known again by their content wherever they were moved."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .base import Part


class RunPart(StrEnum):
    """What a run is to the incident."""

    INCIDENT = "incident"
    BASELINE = "baseline"
    EXPERIMENT = "experiment"


class FilePrint(Part):
    """A file as it began: logs grow, but their first bytes stay."""

    path: str
    digest: str = ""
    """Hex digest of the first `length` bytes; empty if there was nothing to read."""
    length: int = 0


class RunRef(Part):
    """One run: where it is, and how to know it again."""

    id: str
    """R1, R2, ..."""
    location: str = Field(min_length=1)
    """Absolute path or URL, as `mltd-tui open` takes it."""
    name: str = ""
    part: RunPart = RunPart.INCIDENT
    files: tuple[FilePrint, ...] = ()
    added: datetime

    @property
    def label(self) -> str:
        """Something to call it by."""
        return self.name or self.location.rstrip("/").rpartition("/")[2] or self.location
