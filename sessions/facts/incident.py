"""Incident start: where the trouble began, by the earliest of the findings that tell of it."""

from __future__ import annotations

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.core.verdict import Diagnosis

from ..model.constraints import Fact
from ..model.evidence import EvidenceRef, RefKind, referred
from .lines import name_of
from .material import LONGEST_VALUE, tidy
from .places import Place, Places
from .wording import gist

_AXES = {"index": "record"}


def incident_start(
    places: Places, diagnosis: Diagnosis | None, *, is_growing: bool = False
) -> Fact | None:
    """The onset of the earliest finding that the best cause explains, else of any alarm."""
    chosen = _earliest(places, diagnosis) if diagnosis is not None else None
    if chosen is not None:
        finding, place = chosen
        evidence = referred(finding.evidence[0])
        said = gist(finding, is_growing=is_growing)
        if said != finding.title:
            said = f"{finding.id.replace('_', ' ')} ({said})"
        value = f"{_shown(place)}: {said}" if _shown(place) else said
        return Fact(value=tidy(value, LONGEST_VALUE), source=evidence.kind.value,
                    evidence=(evidence,))  # fmt: skip
    failures = places.failures()
    if diagnosis is not None or not failures:
        return None
    file, source, event = failures[0]
    shown = _shown(places.of_event(file, event))
    evidence = EvidenceRef(
        kind=RefKind.LOG, ref=f"{name_of(source)}:{event.line}", quote=tidy(event.title)
    )
    value = f"{shown}: {event.title}" if shown else event.title
    return Fact(value=tidy(value, LONGEST_VALUE), source="log", evidence=(evidence,))


def _earliest(places: Places, diagnosis: Diagnosis) -> tuple[Finding, Place] | None:
    alarms = [finding for finding in diagnosis.findings if finding.is_alarm]
    worst = max((finding.severity.rank for finding in alarms), default=0)
    ids = {finding.id for finding in alarms if finding.severity.rank == worst}
    # A data loader that was slow from the first step is not when the loss went to NaN: what
    # counts is what belongs to the worst of it.
    for cause in diagnosis.root_causes:
        if ids & set(cause.explains):
            ids |= set(cause.explains)
            break
    alarms = [finding for finding in alarms if finding.id in ids]
    # The specific finding about an exception says more than that there was one.
    alarms = [finding for finding in alarms if finding.id != "exception"] or alarms
    placed = [(finding, places.of_finding(finding)) for finding in alarms]
    known = [one for one in placed if one[1].step is not None]
    if known:
        return min(known, key=lambda one: one[1].step or 0.0)
    timed = [one for one in placed if one[1].at is not None]
    if timed:
        return min(timed, key=lambda one: one[1].at.timestamp() if one[1].at else 0.0)
    return placed[0] if placed else None


def _shown(place: Place) -> str:
    parts = []
    if place.step is not None:
        after = "after " if place.is_after_step else ""
        parts.append(f"{after}{_AXES.get(place.axis, place.axis)} {place.step:,.10g}")
    if place.at is not None:
        after = "after " if place.is_after else ""
        parts.append(f"{after}{place.at:%Y-%m-%d %H:%M:%S} by the log's clock")
    return ", ".join(parts)
