"""What the example sessions are built with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mltd.analyzers.core.finding import Evidence, EvidenceKind
from mltd.runs.discovery import explore
from mltd.runs.ingest import load
from mltd.runs.run import Run
from mltd.sessions.actions.every import AnyAction
from mltd.sessions.model.session import Session
from mltd.sessions.report import Material
from mltd.sessions.triage import Triage

NOW = datetime(2026, 3, 14, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    """A session and what can be read of its runs."""

    session: Session
    material: Material


def series(ref: str, quote: str) -> Evidence:
    return Evidence(EvidenceKind.SERIES, ref, quote)


def log(ref: str, quote: str) -> Evidence:
    return Evidence(EvidenceKind.LOG, ref, quote)


def read(place: str) -> Run:
    """A run from the current folder, as it is when nobody writes to it any more."""
    run = load(explore(place).runs[0]).run
    run.is_over = True
    return run


def triaged(id: str, title: str, actions: list[AnyAction]) -> Session:  # noqa: A002
    """The session after some actions, a quarter of an hour each."""
    moments = iter(NOW + timedelta(minutes=15 * n) for n in range(1, 1000))
    triage = Triage(Session(id=id, title=title, created=NOW), clock=lambda: next(moments))
    for action in actions:
        triage.do(action)
    return triage.session
