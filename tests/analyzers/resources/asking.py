"""What the tests of the resource rules ask of a run."""

from __future__ import annotations

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Run


def found(run: Run, identity: str) -> list[Finding]:
    """The findings with an id that a run gets."""
    told = diagnose(run)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == identity]


def causes(run: Run) -> list[str]:
    """Ids of the causes, the best first."""
    return [cause.id for cause in diagnose(run).root_causes]
