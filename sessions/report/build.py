"""From a session to a report: the order of the sections, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from ..masking import Masker
from ..model.run_ref import RunPart
from ..model.session import Session
from . import numbers
from .brief import brief
from .diagnosis_json import REPORT, diagnosis_json
from .drawing import Gallery
from .markdown import document
from .material import Material
from .options import Options, Report
from .pen import Cleaner, Pen
from .sections import (
    actions,
    causes,
    evidence,
    hypotheses,
    records,
    second_opinion,
    summary,
    validation,
)
from .subject import Subject


def build(
    session: Session, material: Material, options: Options, cleaner: Cleaner | None = None
) -> Report:
    """The whole report; `cleaner` masks secrets, and is made for the session if none is given."""
    session = _without_strays(session)
    known = cleaner or Masker(options.redact, _paths(session, material), _people(session, material))
    if options.redact:
        # Whom a text speaks of may only show further down: the second time all are known.
        _built(session, material, options, known)
    return _built(session, material, options, known)


def _built(session: Session, material: Material, options: Options, cleaner: Cleaner) -> Report:
    pen = Pen(cleaner)
    subject = Subject(session, material, pen, options)
    if options.brief and not options.as_json:
        return Report(brief(subject))
    gallery = Gallery(pen, options.folder, is_inside=options.as_json)
    markdown = document(_blocks(subject, gallery))
    if not options.as_json:
        return Report(markdown, gallery.pictures)
    beside = f"{options.folder}/{REPORT}" if options.folder else ""
    return Report(markdown, gallery.pictures, diagnosis_json(subject, gallery), beside)


def _without_strays(session: Session) -> Session:
    """Leave out runs that were linked to an experiment once, and are no longer."""
    linked = {experiment.run for experiment in session.experiments}
    kept = tuple(
        run for run in session.runs if run.part is not RunPart.EXPERIMENT or run.id in linked
    )
    return session.model_copy(update={"runs": kept})


def _paths(session: Session, material: Material) -> tuple[str, ...]:
    """All paths that the report may name."""
    own = (path for ref in session.runs for path in (ref.location, *(f.path for f in ref.files)))
    read = (path for one in material.runs.values() for path in one.paths)
    return tuple(dict.fromkeys([*own, *read]))


def _people(session: Session, material: Material) -> tuple[str, ...]:
    """Those who are named as owners, and whose jobs the runs are."""
    names = [session.owner, *(item.owner for item in session.prevention)]
    for one in material.runs.values():
        job = one.document.get("job") if one.document is not None else None
        if isinstance(job, dict):
            users = (str(job.get(key) or "") for key in ("user", "cancelled_by"))
            names += [user for user in users if user != "root" and not user.isdigit()]
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _blocks(subject: Subject, gallery: Gallery) -> Iterator[str]:
    yield f"# Incident report: {subject.pen.text(subject.session.title, 120) or 'untitled'}"
    yield " · ".join(_head(subject))
    for heading, blocks in (
        ("Error summary", summary.error(subject)),
        ("Incident summary and constraints", summary.constraints(subject)),
        ("Timeline", summary.timeline(subject)),
        ("Root causes", causes.root_causes(subject)),
        ("Evidence", evidence.evidence(subject, gallery)),
        ("Hypotheses and experiments", hypotheses.hypotheses(subject, gallery)),
        ("Fixes", actions.fixes(subject)),
        ("Reproduction", actions.reproduction(subject)),
        ("Validation checklist", validation.checklist(subject)),
        ("Prevention plan and owners", actions.prevention(subject)),
        ("Confidence statement", validation.confidence(subject)),
        ("Decisions and notes", records.decisions(subject)),
        ("Diagnoses received", records.diagnoses(subject)),
    ):
        yield f"## {heading}"
        yield from blocks
    if opinion := list(second_opinion.second_opinion(subject)):
        yield f"## {second_opinion.HEADING}"
        yield from opinion


def _head(subject: Subject) -> Iterator[str]:
    session, pen = subject.session, subject.pen
    yield f"Session {pen.code(session.id, 80)}" if session.id else "Not kept as a session"
    yield f"begun {numbers.moment(session.created)}"
    yield f"phase {session.phase.number} of 5: {session.phase.heading}"
    if session.owner.strip():
        yield f"owner {pen.text(session.owner, 80)}"
    if subject.options.at is not None:
        yield f"written {numbers.moment(subject.options.at)}"
