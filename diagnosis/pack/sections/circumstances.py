"""Hardware, framework, data, revision and seeds as far as they are stated; the scheduler's job."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.errors import MltdError
from mltd.sessions.facts.gather import gather
from mltd.sessions.model.constraints import Fact, Topic

from ...tools.tool import Page, Row
from ..material import PackMaterial, Subject


def environment(material: PackMaterial, problems: list[str]) -> Iterator[Page]:
    """What people said about the incident, then what each run states itself."""
    session = material.session
    told = session.constraints.facts if session is not None else {}
    said = [_row(topic, told[topic], None) for topic in Topic if topic in told]
    if said:
        yield Page("the session's facts", "Known about the incident:", said, {"what": "facts"})
    for subject in material.subjects():
        rows = _stated(subject, problems)
        if rows:
            yield Page(
                brief=f"environment of {subject.called}",
                head=f"What {subject.called} says about its environment:",
                rows=rows,
                about={"run": subject.called, "what": "environment"},
                rest="grep the head of its log",
            )


def _stated(subject: Subject, problems: list[str]) -> list[Row]:
    try:
        facts = gather(subject.run, subject.diagnosis).facts
    except (MltdError, OSError) as problem:
        problems.append(f"the environment of {subject.called} could not be read: {problem}")
        return []
    # When it began is what the findings say, and depends on the clock where a run still grows.
    kept = [topic for topic in Topic if topic in facts and topic is not Topic.INCIDENT_START]
    return [_row(topic, facts[topic], subject) for topic in kept]


def _row(topic: Topic, fact: Fact, subject: Subject | None) -> Row:
    refs = (ref.ref for ref in fact.evidence[:3])
    places = ", ".join(subject.named(ref) if subject is not None else ref for ref in refs)
    whence = f"{fact.source}: {places}" if places else fact.source
    part = "" if fact.is_complete else "; incomplete"
    return Row(f"{topic.heading}: {fact.value} ({whence}{part})")


def job(material: PackMaterial) -> Iterator[Page]:
    """What the scheduler says."""
    for subject in material.subjects():
        if subject.run.job is not None:
            yield Page(
                brief=f"the job of {subject.called}",
                head=f"The scheduler about {subject.called}:",
                rows=[Row(subject.run.job.quote)],
                about={"run": subject.called, "what": "job"},
            )
