"""From a run to its diagnosis: findings, ranked causes, fixes, and what else is needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from mltd.runs.run import Run
from mltd.runs.state import RunState

from .core.calibration import with_repute
from .core.case import Case
from .core.cause import RootCause
from .core.finding import Finding, Severity
from .core.ranking import ENOUGH, TIE, rank
from .core.registry import Analyzer, load_analyzers, load_causes
from .core.verdict import Diagnosis
from .core.view import MOST_JUDGED, RunView
from .missing import missing_artifacts

__all__ = ["Diagnosis", "Diagnostician", "diagnose", "examine"]

MAX_CAUSES = 6
MAX_REQUESTS = 8
_PARTIAL = (
    f"the run has unusually many metrics: only {MOST_JUDGED:,} of them are judged, those with a "
    "known meaning first, then those with the most points"
)


@dataclass(slots=True)
class Diagnostician:
    """Diagnoses one run again and again while it grows; new points cost themselves alone."""

    run: Run
    siblings: tuple[Finding, ...] = ()
    """Findings from a comparison with other runs."""
    view: RunView = field(init=False)

    def __post_init__(self) -> None:
        """Look at the run for the first time."""
        self.view = RunView(self.run)

    def diagnose(self, moment: float | None = None) -> Diagnosis:
        """The diagnosis of the run as it is now."""
        # A log may hold 1e308: arithmetic on such values ends in infinities, not in warnings.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._diagnose(moment)

    def _diagnose(self, moment: float | None) -> Diagnosis:
        self.view.moment = moment
        self.view.update()
        failed = [_PARTIAL] if self.view.is_partial else []
        parts = load_analyzers()
        found = [*examine(self.view, parts.analyzers.values(), failed), *self.siblings]
        enders = _enders(parts.analyzers.values()) if self.view.state is RunState.FAILED else set()
        findings = _in_order(found, enders)
        causes: list[RootCause] = []
        if any(finding.is_alarm for finding in findings):
            case = Case(self.view, findings)
            causes = rank(case, load_causes().causes.values(), failed)[:MAX_CAUSES]
        return Diagnosis(
            status=_status(self.view, findings, causes),
            findings=tuple(map(with_repute, findings)),
            root_causes=tuple(causes),
            requests=_requests(self.view, findings, causes),
            ties=_ties(causes),
            problems=(*parts.problems, *failed),
        )


def diagnose(run: Run, siblings: tuple[Finding, ...] = ()) -> Diagnosis:
    """Diagnose a run once."""
    return Diagnostician(run, siblings).diagnose()


def examine(view: RunView, analyzers: Iterable[Analyzer], failed: list[str]) -> list[Finding]:
    """Ask every analyzer; one that fails is reported and skipped."""
    found: list[Finding] = []
    for analyzer in analyzers:
        try:
            for finding in analyzer.examine(view):
                if not isinstance(finding, Finding):
                    raise TypeError(f"{type(finding).__name__} is no Finding")
                found.append(finding)
        except Exception as problem:  # noqa: BLE001 - one broken analyzer must not hide the others
            failed.append(f"analyzer {analyzer.id!r} failed: {type(problem).__name__}: {problem}")
    return found


def _enders(analyzers: Iterable[Analyzer]) -> set[str]:
    """Ids of findings that say what ended a run."""
    families = (".errors.", ".distributed.")
    return {a.id for a in analyzers if any(name in type(a).__module__ for name in families)}


def _in_order(findings: list[Finding], enders: set[str]) -> list[Finding]:
    """The worst first; of those, what ended a run that failed, then what began first."""
    return sorted(
        findings,
        key=lambda f: (
            -f.severity.rank,
            # An exception about memory, disks or numbers is told better by what measures them.
            f.id not in enders or (f.id == "exception" and f.number("resource") > 0),
            # The specific finding about an exception says more than that there was one.
            f.id == "exception",
            f.first_step if f.first_step is not None else float("inf"),
            f.id,
        ),
    )


def _status(view: RunView, findings: list[Finding], causes: list[RootCause]) -> str:
    alarms = [finding for finding in findings if finding.severity is not Severity.INFO]
    if alarms:
        best = max((cause.confidence for cause in causes), default=0.0)
        return "diagnosis_complete" if best >= ENOUGH else "needs_more_data"
    return "healthy" if any(True for _ in view.all_curves()) else "no_metrics"


def _ties(causes: list[RootCause]) -> tuple[tuple[str, str], ...]:
    if len(causes) < 2:
        return ()
    first = causes[0]
    return tuple(
        (first.id, rival.id)
        for rival in causes[1:4]
        if first.confidence - rival.confidence < TIE and set(first.explains) & set(rival.explains)
    )


def _requests(view: RunView, findings: list[Finding], causes: list[RootCause]) -> tuple[str, ...]:
    """What to provide next: asked only while the best cause is not sure enough."""
    alarms = [finding for finding in findings if finding.severity is not Severity.INFO]
    best = max((cause.confidence for cause in causes), default=0.0)
    asked: dict[str, None] = {}
    if alarms and best < ENOUGH:
        for cause in causes[:3]:
            asked.update(dict.fromkeys(cause.requests))
    asked.update(dict.fromkeys(missing_artifacts(view, is_sure=not alarms or best >= ENOUGH)))
    return tuple(asked)[:MAX_REQUESTS]
