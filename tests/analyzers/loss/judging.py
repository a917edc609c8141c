"""Short ways to say: this example gives that finding."""

from __future__ import annotations

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import Diagnosis, diagnose


def judge(example: str) -> Diagnosis:
    diagnosis = diagnose(example_run(example))
    assert diagnosis.problems == ()
    return diagnosis


def found(example: str, identity: str) -> Finding:
    """The finding with an id, which must be there."""
    diagnosis = judge(example)
    matching = [finding for finding in diagnosis.findings if finding.id == identity]
    assert matching, [finding.title for finding in diagnosis.findings]
    return matching[0]


def alarms(example: str) -> set[str]:
    """Ids of what is more than information."""
    return {f.id for f in judge(example).findings if f.severity is not Severity.INFO}


def ids(example: str) -> set[str]:
    return {finding.id for finding in judge(example).findings}


def causes(example: str) -> list[str]:
    return [cause.id for cause in judge(example).root_causes]
