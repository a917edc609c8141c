"""A session for a run that has none: what the app would begin with, in memory alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime

from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.run import Run

from ..actions.checks import ObserveChecks
from ..actions.hypotheses import AddHypothesis
from ..actions.records import AddRun, Prefill, RecordDiagnosis
from ..adopting import from_cause, from_finding, record_of
from ..checks import observed
from ..errors import Refused
from ..facts.gather import gather
from ..model.run_ref import RunRef
from ..model.session import Session
from ..triage import Triage

MOST_CAUSES = 3
BY_PEOPLE = ("hypotheses", "experiments", "criteria")
"""Items that nobody has done where the hypotheses are proposals of the analyzers."""


def draft(run: Run, location: str, diagnosis: Diagnosis, clock: Callable[[], datetime]) -> Session:
    """Facts, timeline, the best causes as hypotheses, and every check that can be seen."""
    at = clock()
    triage = Triage(Session(id="", title=run.name, created=at), clock=clock)
    triage.do(AddRun(run=RunRef(id="R1", location=location, name=run.name, added=at)))
    gathered = gather(run, diagnosis)
    triage.do(Prefill(facts=gathered.facts, timeline=gathered.timeline))
    triage.do(RecordDiagnosis(diagnosis=record_of(diagnosis, at, "R1")))
    alarms = [finding for finding in diagnosis.findings if finding.is_alarm]
    adopted = [from_cause(f"H{n}", cause, at, "R1")
               for n, cause in enumerate(diagnosis.root_causes[:MOST_CAUSES], start=1)]  # fmt: skip
    if not adopted and alarms:
        adopted = [from_finding("H1", alarms[0], at, "R1")]
    for hypothesis in adopted:
        # Two causes may be stated in the same words.
        with contextlib.suppress(Refused):
            triage.do(AddHypothesis(hypothesis=hypothesis))
    marks = observed(triage.session, gathered.seen, at)
    triage.do(ObserveChecks(marks=tuple(mark for mark in marks if mark.item not in BY_PEOPLE)))
    return triage.session
