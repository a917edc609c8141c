"""What is not known, could not be read, or did not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...artifacts import ArtifactKind
from ...tools.tool import Page, Row
from ..material import PackMaterial, Subject

MOST_PROBLEMS = 20


def missing(
    material: PackMaterial, problems: Sequence[str], left_out: Sequence[str]
) -> Iterator[Page]:
    """Sections that are not there at all, then what the runs do not have."""
    if left_out:
        rows = [Row("; ".join(left_out))]
        yield Page("sections", "These sections did not fit at all:", rows, {"what": "sections"})
    rows = [Row(line) for line in dict.fromkeys(_lines(material))]
    if rows:
        yield Page("what is missing", "Not known, or asked for:", rows, {"what": "missing"})
    told = list(dict.fromkeys([*material.problems, *problems]))
    if told:
        rows = [Row(line) for line in told[:MOST_PROBLEMS]]
        yield Page("what could not be read", "Could not be read:", rows, {"what": "problems"})


def _lines(material: PackMaterial) -> Iterator[str]:
    for subject in material.subjects():
        if subject.diagnosis is None:
            yield f"{subject.called}: the analyzers have not looked at it"
        else:
            yield from (f"{subject.called}: {wish}" for wish in subject.diagnosis.requests)
            yield from (f"{subject.called}: {problem}" for problem in subject.diagnosis.problems)
        yield from _absent(subject)
    if material.session is not None:
        for ref in material.session.runs:
            if ref.id not in material.runs:
                yield f"the session's run {ref.id} ({ref.label}) was not read"


def _absent(subject: Subject) -> Iterator[str]:
    run, called = subject.run, subject.called
    roles = {series.role or "" for series in run.series}
    if not run.series:
        yield f"{called}: no metric is logged"
    elif not any(role.startswith("val/") for role in roles):
        yield f"{called}: nothing was measured on validation data, as far as the names tell"
    if run.series and "grad_norm" not in roles:
        yield f"{called}: no gradient norm is logged"
    if not run.config:
        yield f"{called}: no settings are known"
    kinds = {artifact.kind for artifact in subject.book.of_run(called)}
    if ArtifactKind.CHECKPOINT not in kinds:
        yield f"{called}: no checkpoint was found beside it"
    if run.job is None:
        yield f"{called}: nothing is known from a scheduler"
