"""Where a piece of evidence stands: a stretch of a metric, or a line of a log."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mltd.analyzers.core.finding import Evidence, EvidenceKind

_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_STRETCH = re.compile(rf"^(?P<name>.*)@(?P<first>{_NUMBER})(?:\.\.(?P<last>{_NUMBER}))?$", re.S)
_LINE = re.compile(r"^(?P<name>.*):(?P<line>\d+)(?:[-.]+\d+)?$", re.S)


@dataclass(frozen=True, slots=True)
class SeriesPlace:
    """A metric, and the place on its axis if the evidence names one."""

    name: str
    x: float | None = None


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A line of a file."""

    name: str
    line: int


def place_of(evidence: Evidence) -> SeriesPlace | LinePlace | None:
    """Where to jump; None if the evidence is about neither a metric nor a log."""
    if evidence.kind is EvidenceKind.SERIES:
        found = _STRETCH.match(evidence.ref)
        if found is None:
            return SeriesPlace(evidence.ref)
        return SeriesPlace(found["name"], float(found["first"].replace(",", "")))
    if evidence.kind in (EvidenceKind.LOG, EvidenceKind.JOB):
        # What a scheduler says about a job stands in no file.
        is_record = evidence.kind is EvidenceKind.JOB and evidence.ref.startswith("job:")
        found = None if is_record else _LINE.match(evidence.ref)
        return LinePlace(found["name"], int(found["line"])) if found else None
    return None
